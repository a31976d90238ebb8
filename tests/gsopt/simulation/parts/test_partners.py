"""Partners: pairs of jobs, the sub-batches in which they share GPUs, and how a job starts."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from gsopt.performance.colocation import Pair, SubBatch
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Phase
from gsopt.scenario.scenario import CapacityChange
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Action, Decider, Start, State, Stop, Wake, simulate
from gsopt.simulation.parts import Match, Pairs, Partners
from gsopt.simulation.parts.accumulation import fits, memory_left, sub_batches
from heuristics.policies.castor.colocating import Colocating
from heuristics.policies.castor.pairing import Pairing
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing
from tests.heuristics.policies.shared import halves, held, job, machine, run

MACHINE = Cluster.uniform(machines=1, gpus=4)

#: Jobs on three GPUs and on one, and a third that waits.
JOBS = [Job(name=name, release_date=0, duration=9, gpus=gpus) for name, gpus in [("a", 3), ("b", 1), ("c", 2)]]


class Refusing:
    """A judge that counts how often it is asked, and refuses."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int, tuple[int, ...]]] = []

    def __call__(self, _state: State, job: int, partner: int, gpus: tuple[int, ...]) -> Match | None:
        """Note the pair, and refuse it."""
        self.asked.append((job, partner, gpus))
        return None


def asked_over_time(jobs: list[Job], *actions: list[Action], **options: object) -> list[list[tuple[int, int]]]:
    """Ask for partners of the third job at one second after the other, and give the pairs that are judged."""
    judge, steps = Refusing(), iter(actions)
    partners, seen = Partners(judge), list[list[tuple[int, int]]]()

    def decide(state: State) -> Iterable[Action]:
        yield from next(steps, [])
        if state.now < len(actions):
            judge.asked.clear()
            partners.update(state)
            partners.of(state, 2)
            seen.append([(job, partner) for job, partner, _ in judge.asked])
            yield Wake(state.now + 1)

    simulate(bundle(jobs), doing(decide), cluster=MACHINE, share_limit=2, **options)  # type: ignore[arg-type]
    return seen


def test_a_refusal_is_remembered() -> None:
    """A pair is judged once, and again only if the running job has other GPUs to itself."""
    start: list[Action] = [Start(0, (0, 1, 2)), Start(1, (3,))]
    moved: list[Action] = [Stop(1), Start(1, (2,))]
    assert asked_over_time(JOBS, start, [], moved, []) == [[(2, 0), (2, 1)], [], [(2, 0)], []]


def test_a_refusal_ends_where_more_may_be_left() -> None:
    """A running job with phases may have more seconds left later, and one that lost its GPUs more work."""
    start: list[Action] = [Start(0, (0, 1, 2)), Start(1, (3,))]
    slower = JOBS[0].model_copy(update={"phases": (Phase(until=0.5), Phase(until=1, slowdown=2))})
    assert asked_over_time([slower, *JOBS[1:]], start, []) == [[(2, 0), (2, 1)], [(2, 0)]]
    drop = [CapacityChange(time=1, gpus=3), CapacityChange(time=1.5, gpus=4)]
    again: list[Action] = [Start(1, (3,))]
    assert asked_over_time(JOBS, start, [], again, [], capacity_changes=drop)[1:3] == [[], [(2, 1)]]


@pytest.mark.parametrize(("share_limit", "room"), [(1, [0, 0, 0]), (2, [4, 2, 4]), (3, [4, 2, 4])])
def test_room(share_limit: int, room: list[int]) -> None:
    """GPUs of one job count, where two may be on one; a third never comes."""
    partners, seen = Partners(lambda _state, _job, _partner, gpus: Match(gpus)), list[int]()

    def decide(state: State) -> Iterable[Action]:
        partners.update(state)
        if state.now == 0:
            yield Start(0, (0, 1, 2))
            yield Start(1, (3,))
            partners.refresh(state, 0)
            partners.refresh(state, 1)
            seen.append(partners.room)
            yield Wake(1)
        elif state.now == 1:
            if share_limit > 1:
                assert [each.gpus for each in partners.of(state, 2)] == [(0, 1, 2), (3,)]
                yield Start(2, (0, 3))
                partners.refresh(state, 2)
            seen.append(partners.room)
            yield Wake(2)
        elif state.now == 2:
            if share_limit > 1:
                yield Stop(2)
            partners.update(state)
            seen.append(partners.room)
        elif state.completed:
            yield from [Start(2)] if state.free == 4 and 2 not in state.completed else []

    simulate(bundle(JOBS), doing(decide), cluster=MACHINE, share_limit=share_limit)
    assert seen == room


def test_only_gpus_of_the_type_count() -> None:
    """Of a running job on GPUs of two types a job that needs one of them gets only those."""
    machines = [Machine(name=name, gpus=2, gpu_type=name) for name in ("old", "new")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    waiting = Job(name="c", release_date=0, duration=9, gpus=1, gpu_type="new")
    found: list[tuple[int, ...]] = []

    def decide(state: State) -> Iterable[Action]:
        partners = Partners(lambda _state, _job, _partner, gpus: Match(gpus))
        if state.now == 0:
            yield Start(0, (0, 1, 2))
            yield Wake(1)
        elif state.now == 1:
            partners.update(state)
            found.extend(each.gpus for each in partners.of(state, 2))
            yield Start(2, (2,))
            yield Start(1, (3,))

    simulate(bundle([*JOBS[:2], waiting]), doing(decide), cluster=cluster, share_limit=2)
    assert found == [(2,)]


@pytest.mark.parametrize(
    "mode",
    [
        Mode(name="one step", menu=[(2, 0.5)]),
        Mode(name="another batch", menu=[(2, 0.5)], steps=2, batch_size=32),
        Mode(name="another type", menu=[(2, 0.5)], steps=2, gpu_type="T4"),
        Mode(name="other GPUs", menu=[(1, 0.5), (4, 1.5)], steps=2),
    ],
    ids=lambda mode: mode.name,
)
def test_what_is_no_sub_batch(mode: Mode) -> None:
    """A mode that is not divided, trains otherwise, or is for other GPUs is none."""
    own = Mode(name="own", menu=[(2, 0.5)], steps=2, batch_size=64)
    job = Job(name="a", release_date=0, duration=1, gpus=2, batch_size=64, modes=[mode, own])
    assert sub_batches(job) == ("", "own")


def test_memory() -> None:
    """What is left is that of the fullest GPU; a need or a size that is not known fits."""
    lean = Mode(name="lean", menu=[(1, 0.5)], memory=3, steps=2)
    job = Job(name="a", release_date=0, duration=1, gpus=1, memory=6, modes=[lean])
    assert [fits(job, "", left) for left in (5, 6, None)] == [False, True, True]
    assert [fits(job, "lean", left) for left in (2, 3)] == [False, True]
    assert fits(job.model_copy(update={"memory": None}), "", 0)
    seen: list[int | None] = []

    def decide(state: State) -> Iterable[Action]:
        if state.arrived:
            yield Start(0, (1,), "lean")
            seen.extend(memory_left(state, gpus) for gpus in [(0,), (0, 1), ()])

    for memory in (8, None):
        simulate(bundle([job]), doing(decide), cluster=machine(2, memory))
    assert seen == [8, 5, None, None, None, None]


def test_pairs() -> None:
    """Work is counted in seconds at the speeds that both have alone, over the tier of the shared GPUs."""
    half = Mode(name="half", menu=[(2, 0.5)], memory=1, steps=2)
    jobs = [
        Job(name="a", release_date=0, duration=9, gpus=2, model="cnn"),
        Job(name="b", release_date=3, duration=4, gpus=2, model="gan", memory=2, modes=[half]),
    ]
    speed = Speed(
        tiers={name: TierPenalty(machine=0, rack=0.5, network=1) for name in ("cnn", "gan")},
        interference={"cnn": {"gan": 1.25}, "gan": {"cnn": 3.0}},
    )
    found: list[SubBatch] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0, (1, 2))
        elif state.arrived:
            found.extend(Pairs().of(state, 1, 0, (1, 2)))
            yield Start(1, (0, 3))

    cluster = Cluster.uniform(racks=1, machines=2, gpus=2)
    simulate(bundle(jobs), doing(decide), cluster=cluster, speed=speed, share_limit=2, exact=True)
    slowdowns = Fraction(5, 4), Fraction(3)
    left = (9 - 3 / Fraction(3, 2)) * Fraction(3, 2)
    assert found == [
        SubBatch("", Pair(left, Fraction(6), *slowdowns, seconds_whole=Fraction(6)), memory=2),
        SubBatch("half", Pair(left, Fraction(12), *slowdowns, seconds_whole=Fraction(6)), memory=1),
    ]


def largest_that_fits(state: State, job: int, partner: int, gpus: tuple[int, ...]) -> Match | None:
    """Let all share that have the memory."""
    names, left = sub_batches(state.jobs[job]), memory_left(state, gpus)
    return next((Match(-1 / (1 + partner), name) for name in names if fits(state.jobs[job], name, left)), None)


def anybody(state: State, **options: Any) -> Decider:
    """Let jobs share in the order of their numbers."""
    return Colocating(state, key=lambda job: job, judge=largest_that_fits, **options)


def paired(state: State) -> Decider:
    """Pair jobs by their numbers."""
    return Pairing(state, key=lambda job: job, judge=largest_that_fits)


def beside_the_first(state: State) -> Decider:
    """Let jobs share with the first job only."""
    return Colocating(state, lambda job: job, lambda _s, _j, partner, _g: None if partner else Match(0))


def machines(*sizes: tuple[int, int]) -> Cluster:
    """Return machines of (GPUs, bytes of each)."""
    made = [Machine(name=f"m{i}", gpus=gpus, memory=memory) for i, (gpus, memory) in enumerate(sizes)]
    return Cluster(racks=[Rack(name="r", machines=made)])


def test_free_gpus_are_near_the_shared_ones() -> None:
    """What is missing comes from the machines of the shared GPUs, and then from where most is free."""
    jobs = job("a", 0, 9, 3), job("c", 0, 9, 5), job("d", 1, 9, 7)
    replayed = run(beside_the_first, *jobs, cluster=machines((4, 8), (4, 8), (6, 8)))
    assert held(replayed, "d")[0] == (1, (0, 1, 2, 3, 4, 5, 6), "")


@pytest.mark.parametrize(("memory", "mode"), [(8, ""), (4, "2 steps"), (2, "4 steps")])
def test_a_free_gpu_may_need_smaller_sub_batches(memory: int, mode: str) -> None:
    """The whole batch fits beside the partner, and on the free GPU what its memory allows."""
    new = job("b", 1, 9, 2, memory=6, modes=[halves(2, 0.8, 3), halves(2, 0.7, 2, steps=4)])
    cluster = machines((1, 16), (1, memory))
    assert held(run(anybody, job("a", 0, 9, 1, memory=9), new, cluster=cluster), "b")[0] == (1, (0, 1), mode)


def test_too_little_memory_anywhere_leaves_a_job_waiting() -> None:
    """GPUs on which no sub-batch fits do not count."""
    new = job("b", 1, 9, 2, memory=6, modes=[halves(2, 0.8, 3)])
    cluster = machines((1, 16), (1, 2), (1, 8))
    replayed = run(anybody, job("a", 0, 4, 1, memory=14), new, cluster=cluster)
    assert held(replayed, "b")[0] == (4, (0, 2), "")


@pytest.mark.parametrize("policy", [anybody, paired])
def test_a_batch_that_fits_nowhere_is_divided(policy: Any) -> None:
    """Where no GPU of the cluster has the memory for the whole batch a job starts in sub-batches on its own."""
    new = job("b", 0, 3, 2, memory=9, modes=[halves(2, 0.5, 4)])
    assert held(run(policy, new, cluster=machine(2, memory=8)), "b") == [(0, (0, 1), "2 steps")]


def test_a_batch_that_would_fit_is_not_divided() -> None:
    """Where larger GPUs are only occupied a job waits for them rather than run slowly on small ones."""
    new = job("b", 1, 3, 1, memory=9, modes=[halves(1, 0.5, 4)])
    replayed = run(anybody, job("a", 0, 4, 1, memory=16), new, cluster=machines((1, 16), (1, 8)))
    assert held(replayed, "b") == [(4, (0,), "")]
