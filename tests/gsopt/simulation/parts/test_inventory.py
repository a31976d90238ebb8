"""Inventory and ways: how fast jobs are on each kind and number of GPUs, and where they go."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import Unsupported
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Assign, State, simulate
from gsopt.simulation.parts.inventory import GpuKind, Inventory, kinds_of, modes_on
from gsopt.simulation.parts.ways import largest_batch, local_limit, ways_of
from tests.effort import cases
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle


def racked(*machines: Machine) -> Cluster:
    """Put machines into one rack."""
    return Cluster(racks=[Rack(name="r", machines=machines)])


class Asking:
    """Asks an inventory when jobs come, lets them run as it says, and keeps the answers."""

    preemptive = True

    def __init__(self, state: State, ask: Callable[[State, Inventory], Any], kinds: dict[int, str]) -> None:
        self.inventory, self.ask, self.kinds = Inventory(state), ask, kinds
        self.answers: list[Any] = []

    def decide(self, state: State) -> list[Assign]:
        """Take in the jobs that have come, and let them run."""
        for job in state.arrived:
            self.inventory.enter(state, job)
        self.inventory.look(state)
        self.answers.append(self.ask(state, self.inventory))
        there = {job: kind for job, kind in self.kinds.items() if job < len(state.arrived)}
        return [self.inventory.assign(state, there)] if state.arrived else []


def asked(jobs: list[Job], cluster: Cluster, ask: Callable[[State, Inventory], Any], **options: Any) -> Any:
    """Return the first answer, and where the jobs were placed."""
    made: list[Asking] = []
    kinds = options.pop("kinds", {})

    def policy(state: State) -> Asking:
        made.append(Asking(state, ask, kinds))
        return made[-1]

    replay = simulate(bundle(jobs), policy, cluster=cluster, record=True, bound=False, **options)
    return made[0].answers[0], {each.job: each.placement for each in schedule_of(replay).segments}


def test_kinds_are_types_with_their_memory() -> None:
    """A type with two sizes of memory is two kinds; the smaller one comes first."""
    cluster = racked(
        Machine(name="a", gpus=1, gpu_type="v100", memory=32),
        Machine(name="b", gpus=1, gpu_type="k80", memory=12),
        Machine(name="c", gpus=1, gpu_type="v100", memory=16),
    )
    assert list(kinds_of(cluster)) == ["v100 16", "v100 32", "k80"]
    assert list(kinds_of(Cluster.plain(4))) == list(kinds_of(racked(Machine(name="a", gpus=1)))) == ["gpu"]


def test_a_job_runs_where_type_and_memory_suffice() -> None:
    """It has its default mode on kinds of enough memory, and other modes only if they are for the type."""
    halves = Mode(name="halves", menu=[(1, 0.5)], memory=4)
    slow = Mode(name="slow", menu=[(1, 0.25)], gpu_type="k80", memory=4)
    wide = Mode(name="wide", menu=[(2, 0.25)], gpu_type="k80")
    job = Job(name="a", release_date=0, duration=1, gpus=1, memory=16, modes=[halves, slow, wide])
    assert modes_on(job, GpuKind("v100", 16)) == modes_on(job, GpuKind("v100", None)) == [""]
    assert modes_on(job, GpuKind("k80", 12)) == ["slow"]
    assert modes_on(job, GpuKind("v100", 12)) == []


def test_speeds_are_those_of_gpus_close_together() -> None:
    """Two GPUs count as on one machine of two, whatever stands first; slower types are slower."""
    cluster = racked(
        *(Machine(name=f"m{place}", gpus=size, gpu_type="x") for place, size in enumerate([1, 1, 2])),
        Machine(name="y", gpus=2, gpu_type="y"),
    )
    penalty = TierPenalty(machine=0.25, rack=1.0, network=1.0)
    speed = Speed(tiers={"cnn": penalty}, gpu_types={"y": 2.0})
    jobs = [Job(name="a", release_date=0, duration=1, gpus=2, model="cnn")]
    rates, _ = asked(
        jobs,
        cluster,
        lambda state, inventory: [float(inventory.rate(state, 0, kind)) for kind in "xy"],
        kinds={0: "x"},
        speed=speed,
    )
    assert rates == [0.8, 0.4]


def test_a_shape_is_that_of_the_closest_gpus() -> None:
    """Three GPUs are two on the largest machine and one on the next; without numbers they are all together."""
    sizes = [1, 1, 2]
    cluster = racked(*(Machine(name=f"m{place}", gpus=size) for place, size in enumerate(sizes)))
    job = Job(name="a", release_date=0, duration=1, gpus=3)
    for place, shape in ((cluster, (2, 1)), (Cluster.plain(4), (3,))):
        found, _ = asked(
            [job], place, lambda state, inventory: inventory.shape(state, 0, "gpu"), kinds={0: "gpu"}
        )
        assert found == shape


def test_a_job_runs_in_its_fastest_mode() -> None:
    """A mode for a type is taken where it is faster than the default mode."""
    cluster = racked(Machine(name="x", gpus=1, gpu_type="x"), Machine(name="y", gpus=1, gpu_type="y"))
    tuned = Mode(name="tuned", menu=[(1, 2.0)], gpu_type="y")
    rate, _ = asked(
        [Job(name="a", release_date=0, duration=1, gpus=1, modes=[tuned])],
        cluster,
        lambda state, inventory: float(inventory.rate(state, 0, "y")),
        kinds={0: "x"},
        speed=Speed(gpu_types={"y": 4.0}),
    )
    assert rate == 0.5


def test_the_largest_are_placed_first() -> None:
    """Jobs take the first GPUs of their kind by number, the largest before the others."""
    cluster = racked(
        Machine(name="a", gpus=2, gpu_type="x"), *(Machine(name=n, gpus=2, gpu_type="y") for n in "bc")
    )
    jobs = [Job(name=str(gpus), release_date=0, duration=1, gpus=gpus) for gpus in (1, 2)]
    counts, placed = asked(jobs, cluster, lambda _, inventory: dict(inventory.counts), kinds={0: "y", 1: "y"})
    assert counts == {"x": 2, "y": 4}
    assert placed == {"2": (2, 3), "1": (4,)}


def test_a_job_for_which_no_kind_has_gpus_is_refused() -> None:
    """A job that fits only on GPUs of two types is refused in one line."""
    cluster = racked(Machine(name="a", gpus=2, gpu_type="x"), Machine(name="b", gpus=2, gpu_type="y"))
    jobs = [Job(name="a", release_date=0, duration=1, gpus=3)]
    with pytest.raises(Unsupported, match="job 'a' demands 3 GPUs, more than there are of any suitable kind"):
        asked(jobs, cluster, lambda *_: None)


_SMALL = Mode(name="small", menu=[(1, 0.5), (2, 0.6)], batch_size=8)
_LARGE = Mode(name="large", menu=[(2, 1.8), (3, 2.5)], batch_size=64, memory=12)
_JOB = Job(
    name="a", release_date=0, duration=9, gpus=1, batch_size=32, memory=4, menu=[(1, 1), (2, 1.5)],
    modes=[_SMALL, _LARGE],
)  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "memory", "speeds", "batches", "cap"),
    [
        (None, None, [0, 1, 1.8, 2.5], (0, 32, 64, 64), 2),  # all batch sizes
        (64, 12, [0, 1, 1.8, 2.5], (0, 32, 64, 64), 2),
        (63, None, [0, 1, 1.5], (0, 32, 32), 1),  # not the largest
        (None, 11, [0, 1, 1.5], (0, 32, 32), 1),  # which needs more memory
        (8, None, [0, 0.5, 0.6], (0, 8, 8), 1),
        (1, None, [0, 0.5, 0.6], (0, 8, 8), 1),  # the smallest is always allowed
    ],
)
def test_by_hand(
    limit: int | None, memory: int | None, speeds: list[float], batches: tuple[int, ...], cap: int
) -> None:
    """The fastest mode within limit and memory is taken, and the cap is the least that its batch needs."""
    found = ways_of(_JOB, limit, memory)
    assert (found.speeds.tolist(), found.batches, found.cap) == (speeds, batches, cap)


def test_jobs_without_batch_sizes() -> None:
    """Any limit allows them, and they are capped where they are fastest."""
    job = Job(name="a", release_date=0, duration=9, gpus=2, menu=[(2, 1), (4, 1.5), (6, 1.5), (8, 1.2)])
    found = ways_of(job, 1)
    assert found.speeds.tolist() == [0, 0, 1, 0, 1.5, 0, 1.5, 0, 1.2]
    assert (found.cap, set(found.batches), local_limit(job), largest_batch(job)) == (4, {0}, None, None)


def test_modes_for_other_types_are_no_way() -> None:
    """Of GPUs of one type only the modes that run on it are taken; of any when the type does not matter."""
    fast = Mode(name="fast", menu=[(1, 4.0)], gpu_type="new")
    job = Job(name="a", release_date=0, duration=9, gpus=1, gpu_type="old", modes=[fast])
    assert [ways_of(job, gpu_type=kind).speeds[1] for kind in (None, "old", "new")] == [4, 1, 4]


@pytest.mark.parametrize(
    ("limits", "kind"), [({"memory": 3}, "with 3 bytes"), ({"gpu_type": "new"}, "of type new")]
)
def test_a_job_that_no_gpu_suits_is_named(limits: dict[str, Any], kind: str) -> None:
    """A job all of whose modes need more memory or another type has no way to run, which one line says."""
    job = Job(name="a", release_date=0, duration=9, gpus=1, memory=4, gpu_type="old")
    with pytest.raises(Unsupported, match=f"job 'a' has no mode for GPUs {kind}"):
        ways_of(job, **limits)


def test_the_cap_is_the_least_of_all_modes_with_the_largest_batch() -> None:
    """Where two modes have the largest batch, the one on fewer GPUs says how many it needs."""
    modes = [
        Mode(name=name, menu=[(count, 2.0)], batch_size=64, steps=steps)
        for name, count, steps in [("many", 4, 1), ("few", 2, 2)]
    ]
    job = Job(name="a", release_date=0, duration=9, gpus=1, batch_size=8, modes=modes)
    assert ways_of(job).cap == 2


def test_local_and_largest_batches() -> None:
    """One GPU takes a batch that some mode runs on a single one; the largest is that of all modes."""
    assert (local_limit(_JOB), largest_batch(_JOB)) == (32, 64)


@settings(max_examples=cases(100))
@given(
    menus=st.lists(
        st.dictionaries(st.integers(1, 6), st.sampled_from([0.5, 1.0, 2.0]), min_size=1), min_size=1, max_size=4
    ),
    limit=st.integers(1, 50),
)
def test_nothing_allowed_is_faster(menus: list[dict[int, float]], limit: int) -> None:
    """On every number of GPUs the speed is the largest of the modes within the limit, and that of the mode."""
    modes = [
        Mode(name=str(size), menu=sorted(menu.items()), batch_size=size)
        for size, menu in enumerate(menus, start=10)
    ]
    job = Job(name="a", release_date=0, duration=1, gpus=1, batch_size=9, modes=modes)
    found = ways_of(job, limit)
    within = [mode for mode in modes if (mode.batch_size or 0) <= limit]
    for count, speed in enumerate(found.speeds):
        able = [job.speeds[mode.name].get(count, 0.0) for mode in within] + [float(count == 1)]
        assert speed == max(able)
        if speed:
            assert job.speeds[found.modes[count]][count] == speed
