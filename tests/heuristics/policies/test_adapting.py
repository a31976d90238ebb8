"""Marginal efficiency of jobs that tune themselves: what is left of them, their nodes, and whole runs."""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.simulation import Assign, Policy, Wake, simulate
from gsopt.testing import check_policy
from heuristics.policies import marginal, marginal_attained
from heuristics.policies.marginal.nodes import Nodes
from heuristics.policies.marginal.outlook import KnownCourse
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive, adaptive_scenarios, learning
from tests.gsopt.simulation.scenarios import bundle

POLICIES: Mapping[str, Policy] = {
    "course": marginal,
    "epochs": partial(marginal, knows="epochs"),
    "ageless": partial(marginal, ageing=None, charge=0),
    "unknown": marginal_attained,
}


def is_alike(scenario: Scenario) -> bool:
    """Check whether all GPUs of a scenario are of one kind."""
    return len({(machine.gpu_type, machine.memory) for machine in scenario.cluster.machines}) == 1


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_run_is_legal(policy: Policy) -> None:
    """Whatever the jobs and the cluster, all complete, and the judge finds what the simulator booked."""

    @settings(max_examples=cases(40), deadline=None)
    @given(scenario=adaptive_scenarios())
    def check(scenario: Scenario) -> None:
        assert check_policy(policy, [scenario], exact=False) == 1

    check()


def _job(name: str, date: float = 0) -> Job:
    return Job(name=name, release_date=date, duration=9, gpus=1, menu=[(1, 1), (2, 1), (4, 1)])


def test_what_is_left_by_hand() -> None:
    """Area and seconds of a known course are sums over the epochs that are left, each at its highest speed."""
    scenario, found = learning(_job("a")), []

    class Looking:
        preemptive = True

        def __init__(self, _: Any) -> None:
            self._outlook = KnownCourse(2)

        def decide(self, state: Any) -> Any:
            for job in state.arrived:
                self._outlook.add(state, job)
            if not state.completed:
                found.append((state.trainee(0).epoch, state.trainee(0).share, self._outlook.left(state, 0)))
                yield Assign({0: ((0, 1), "adaptive")})
                yield Wake(state.now + 1)

    simulate(scenario, Looking)
    course = Course(APPLICATION, Agents(interval=1), None)
    work = [end - begin for begin, end in pairwise(course.work_at(epoch) for epoch in range(4))]
    speeds = {shape: course.highest_speeds_on(shape, None) for shape in [(1,), (2,), (2, 2)]}
    assert len(found) > 1
    for epoch, share, left in found:
        parts = list(work)
        parts[:epoch] = [0.0] * epoch
        parts[epoch] -= share * course.work - course.work_at(epoch)
        seconds = {
            sum(shape): sum(part / speed for part, speed in zip(parts, own, strict=True))
            for shape, own in speeds.items()
        }
        assert left.seconds == pytest.approx(seconds)
        least = (min(sum(shape) / own[place] for shape, own in speeds.items()) for place in range(3))
        assert left.area == pytest.approx(sum(part * each for part, each in zip(parts, least, strict=True)))


class _State:
    """Three nodes of four GPUs, on which jobs hold some."""

    cluster = Cluster.uniform(machines=3, gpus=4)

    def __init__(self, held: Mapping[int, tuple[int, ...]]) -> None:
        self.running = {job: len(gpus) for job, gpus in held.items()}
        self._held = held

    def placement(self, job: int) -> tuple[int, ...]:
        """Return the GPUs of a job."""
        return self._held[job]

    def free_gpus(self) -> tuple[int, ...]:
        """Return the GPUs that no job holds."""
        return tuple(set(range(12)).difference(*self._held.values()))


@pytest.mark.parametrize(
    ("held", "wanted", "spreads"),
    [
        ({0: (0,), 1: (4, 5)}, {0: 1, 1: 2, 2: 2}, {0: {0: 1}, 1: {1: 2}, 2: {1: 2}}),  # the fullest that fits
        ({0: (0,), 1: (4,)}, {0: 1, 1: 1, 2: 8}, {0: {1: 1}, 1: {1: 1}, 2: {0: 4, 2: 4}}),  # one makes room
        ({0: (0, 1, 2), 1: (4, 5, 6), 2: (8,)}, {0: 3, 1: 3, 2: 4}, {0: {0: 3}, 1: {1: 3}, 2: {2: 4}}),
        ({0: (0, 1, 2), 1: (4, 5, 6)}, {0: 3, 1: 3, 2: 8}, {0: {0: 3}, 1: {1: 3}, 2: {2: 4}}),  # too scattered
        ({0: (0, 1, 2, 3)}, {0: 4, 1: 6}, {0: {0: 4}, 1: {1: 4, 2: 2}}),  # a part of one more
        ({0: (0, 1)}, {1: 4, 2: 4, 3: 4}, {1: {0: 4}, 2: {1: 4}, 3: {2: 4}}),  # who gets none makes room
    ],
)
def test_nodes_by_hand(
    held: Mapping[int, tuple[int, ...]], wanted: Mapping[int, int], spreads: Mapping[int, Mapping[int, int]]
) -> None:
    """Jobs stay where they are unless others need their nodes, and fill nodes that are nearly full."""
    state: Any = _State(held)
    assert Nodes(state).spread(wanted, dict.fromkeys(wanted, (1, 2, 3, 4, 6, 8))) == spreads


@settings(max_examples=cases(300), deadline=None)
@given(data=st.data())
def test_nodes_have_their_gpus(data: st.DataObject) -> None:
    """No GPU is given twice, no job has more than it wants, and jobs that fit on a node are on one."""
    gpus = data.draw(st.permutations(range(12)))
    cuts = sorted(data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=5)))
    held = {job: tuple(sorted(gpus[a:b])) for job, (a, b) in enumerate(pairwise(cuts)) if b > a}
    wanted, left = {}, 12
    for job in range(7):
        wanted[job] = data.draw(st.integers(0, left))
        left -= wanted[job]
    wanted = {job: count for job, count in wanted.items() if count}
    state: Any = _State(held)
    nodes = Nodes(state)
    spreads = nodes.spread(wanted, {job: range(1, 13) for job in wanted})
    chosen = nodes.gpus_of(spreads)
    assert len({gpu for own in chosen.values() for gpu in own}) == sum(map(len, chosen.values()))
    for job, own in chosen.items():
        stays = job in held and own == held[job]
        assert len(own) <= wanted[job] or stays
        assert stays or len(own) > 4 or len({gpu // 4 for gpu in own}) == 1


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_uneven_nodes_are_shared_too(policy: Policy) -> None:
    """A job that needs more whole nodes of the largest size than there are gets all that is free."""
    machines = [Machine(name=f"m{n}", gpus=gpus) for n, gpus in enumerate((2, 3, 2))]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    job = adaptive(Job(name="a", release_date=0, duration=9, gpus=7, menu=[(7, 1.0)]), 16)
    given = learning(_job("b"))
    run = simulate(bundle([job]), policy, cluster=cluster, applications=given.applications)
    assert run.metrics.completed == 1


def test_a_long_epoch_has_its_own_number_of_gpus() -> None:
    """A job alone runs on the fastest number of GPUs at once, not step by step."""
    run = simulate(learning(_job("a")), marginal, record=True)
    assert run.schedule is not None
    assert {segment.gpus for segment in run.schedule.segments} == {4}


def test_age_wins() -> None:
    """Of two jobs for one GPU the shorter one goes first, unless the other one has waited long enough."""
    scenario = learning(_job("old"), _job("new", 100))
    one: dict[str, Any] = {
        "cluster": Cluster.uniform(machines=1, gpus=1),
        "applications": scenario.applications,
    }
    rigid = Job(name="first", release_date=0, duration=90, gpus=1)
    jobs = bundle(
        [rigid, adaptive(_job("old", 1), 16), *(adaptive(_job(f"new {n}", 95), 16) for n in range(3))]
    )
    plain = simulate(jobs, marginal, ageing=None, **one)
    aged = simulate(jobs, marginal, ageing=1.0, **one)
    assert aged.completion_times[1] <= plain.completion_times[1]
    assert aged.completion_times[1] < min(aged.completion_times[2:])


def test_measurements_serve_later_jobs_of_the_application() -> None:
    """The first job begins on one GPU, as nobody knows its speed; the next one begins on more."""
    run = simulate(learning(_job("first"), _job("next", 5)), marginal, knows="epochs", record=True)
    assert run.schedule is not None
    first, later = (
        [segment.gpus for segment in run.schedule.segments if segment.job == name] for name in ("first", "next")
    )
    assert first[0] == 1
    assert later[0] > 1


def test_a_small_multiplier_goes_first() -> None:
    """Of equal jobs for one GPU the one with the smallest multiplier is complete first, whatever its number."""
    scenario = learning(*(_job(name) for name in "abc")).model_copy(
        update={"cluster": Cluster.uniform(machines=1, gpus=1)}
    )
    for first in "abc":
        ends = simulate(scenario, marginal, multipliers={first: 0.01}).completion_times
        assert min(range(3), key=ends.__getitem__) == "abc".index(first)


def test_restarts_have_to_pay() -> None:
    """A job does not grow for a few seconds where a change takes longer; without a charge it does."""
    scenario = learning(_job("a"), _job("b"), overheads={"": Overhead(resize=5.0)})
    calm = simulate(scenario, marginal)
    lively = simulate(scenario, marginal, charge=0)
    assert calm.metrics.resizes <= lively.metrics.resizes


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"knows": "all"}, "knows"),
        ({"ageing": 0}, "ageing"),
        ({"charge": -1}, "charge"),
        ({"exponent": 17}, "exponent"),
        ({"multipliers": {"a": 0}}, "multipliers"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], field: str) -> None:
    """An option that makes no sense is named with its rule."""
    with pytest.raises(InvalidInput, match=field):
        simulate(learning(_job("a")), marginal, **options)
