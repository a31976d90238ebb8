"""Runs that lead nowhere end in one line, and those that are only long do not; intervals."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import repeat
from math import inf, nan, nextafter
from typing import Any

import pytest

from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, TimeUp
from gsopt.evaluation.policies import compare_policies
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import Action, Assign, IllegalDecision, Start, State, Stop, Vacate, Wake, guard, simulate
from gsopt.simulation.interval import require_interval
from gsopt.simulation.run import replay
from heuristics.policies import fifo, las
from tests.gsopt.simulation.scripts import doing, scripted, workload

_ONE = workload((0, 4, 1))


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower every limit, so that runs are short."""
    for name, limit in [
        ("_ACTIONS", 20),
        ("_ACTIONS_EACH", 5),
        ("_SHORT_WAKES", 20),
        ("_SHORT_WAKES_EACH", 5),
        ("_IDLE_WAKES", 30),
    ]:
        monkeypatch.setattr(guard, name, limit)


def _next_float(now: Any) -> Any:
    return nextafter(now, inf)


@pytest.mark.parametrize("release", [0.0, 1.7e9])
@pytest.mark.parametrize("later", [_next_float, lambda now: now + 9e-7 if now < 1 else _next_float(now)])
def test_wakes_that_hardly_advance_the_clock(release: float, later: Callable[[Any], Any]) -> None:
    """A policy that wakes again within a microsecond, for ever, is given up, whether a job runs or not."""
    for first in ([], [Start(0)]):
        decisions = 0

        def decide(state: State, first: Iterable[Action] = first) -> Iterable[Action]:
            nonlocal decisions
            decisions += 1
            yield from (first if decisions == 1 else ())
            yield Wake(later(state.now))

        with pytest.raises(
            IllegalDecision, match=r"^<lambda>, at .* s: Wake\(time=.*\): wakes must be at least 1e-06 s apart"
        ):
            simulate(workload((release, 4, 1)), doing(decide), cluster=1, bound=False)
        assert decisions == 26


def test_wakes_that_come_ever_nearer_in_fractions() -> None:
    """In fractions too nobody wakes for ever before a time."""

    def decide(state: State) -> Iterable[Action]:
        yield from map(Start, state.arrived)
        yield Wake(state.now + Fraction(1 - state.now, 2))

    with pytest.raises(IllegalDecision, match="wakes must be at least"):
        simulate(_ONE, doing(decide), cluster=1, exact=True)


def test_few_short_wakes_between_events_are_no_fault() -> None:
    """Wakes within a microsecond are counted from the last event on, and one that is longer ends a row."""
    steps = 0

    def decide(state: State) -> Iterable[Action]:
        nonlocal steps
        steps += 1
        yield from map(Start, state.arrived)
        yield Wake(state.now + (1e-3 if steps % 20 == 0 else 1e-9))

    run = simulate(workload((0, 0.01, 1), (0.002, 0.02, 1)), doing(decide), cluster=2)
    assert run.metrics.completed == 2
    assert steps > 100


def test_many_events_within_a_microsecond_are_no_fault() -> None:
    """Arrivals and completions may be as near as they like."""
    jobs = workload(*((i * 1e-9, 1e-9, 1) for i in range(200)))
    assert simulate(jobs, fifo, cluster=1).metrics.completed == 200


def test_many_jobs_at_one_instant_are_no_fault() -> None:
    """A decision may have as many actions as there are jobs, each a few times."""
    jobs = workload(*((0, 1, 1) for _ in range(300)))

    def to_and_fro(state: State) -> Iterable[Action]:
        for job in state.arrived:
            yield from (Start(job), Stop(job), Start(job))
        yield from repeat(Wake(inf), 20)

    run = simulate(jobs, doing(to_and_fro), cluster=300)
    assert set(run.completion_times) == {1.0}


@pytest.mark.parametrize(
    "actions",
    [
        lambda: repeat(Wake(1.0)),
        lambda: iter([Start(0), *repeat(Assign({0: 1}), 100)]),
        lambda: (each for _ in repeat(None) for each in (Start(0), Stop(0))),
        lambda: repeat(Assign({0: 1, 1: 1, 2: 1})),
    ],
)
def test_actions_without_end(actions: Callable[[], Iterator[Action]]) -> None:
    """A decision that never ends is given up, however it goes on; an assignment counts for each of its jobs."""
    taken = 0

    def decide(state: State) -> Iterable[Action]:
        nonlocal taken
        del state
        for action in actions():
            taken += len(action.jobs) if isinstance(action, Assign) else 1
            yield action

    with pytest.raises(
        IllegalDecision, match="a decision about 3 jobs and machines must have at most 35 actions"
    ):
        simulate(workload(*((0, 4, 1) for _ in range(3))), doing(decide), cluster=3)
    assert 35 < taken <= 38


def test_machines_count_as_jobs_do() -> None:
    """A decision about many machines may be as long as one about many jobs."""
    decision = [Vacate(()) for _ in range(100)]
    run = simulate(_ONE, scripted([Start(0), *decision]), cluster=Cluster.uniform(machines=20, gpus=1))
    assert run.completion_times == (4.0,)


@pytest.mark.parametrize("round_length", [None, 1.0])
def test_a_policy_that_waits_for_nothing(round_length: float | None) -> None:
    """A policy that wakes for ever and starts nothing, where nothing will happen, is given up."""
    decisions = 0

    def decide(state: State) -> Iterable[Action]:
        nonlocal decisions
        decisions += 1
        return [Wake(state.now + 60)]

    rule = "no job runs and nothing else will happen .2 jobs have waited for 30 wakes"
    with pytest.raises(IllegalDecision, match=rule):
        simulate(workload((0, 4, 1), (7200, 4, 1)), doing(decide), cluster=1, round_length=round_length)
    assert decisions > 120 + 30


@pytest.mark.parametrize("round_length", [None, 60.0])
def test_long_idle_spans_are_no_fault(round_length: float | None) -> None:
    """A policy may wake as often as it likes while a job runs, or a job or a machine is still to come."""

    def decide(state: State) -> Iterable[Action]:
        yield from (Start(job) for job in state.arrived if job not in state.running)
        yield Wake(state.now + 60)

    jobs = workload((0, 60, 1), (60_000, 60_000, 1))
    changes = [CapacityChange(time=200_000, gpus=1)]
    run = simulate(jobs, doing(decide), cluster=1, capacity_changes=changes, round_length=round_length)
    assert run.completion_times == (60.0, 120_000.0)


@pytest.mark.parametrize("round_length", [None, 60.0])
def test_waiting_for_machines_is_no_fault(round_length: float | None) -> None:
    """A policy may wake as often as it likes while no GPU is there and some will come."""

    def decide(state: State) -> Iterable[Action]:
        yield from (Start(0) for _ in range(state.free) if not state.completed)
        yield Wake(state.now + 60)

    changes = [CapacityChange(time=0, gpus=0), CapacityChange(time=7200, gpus=1)]
    run = simulate(_ONE, doing(decide), cluster=1, capacity_changes=changes, round_length=round_length)
    assert run.completion_times == (7204.0,)


def test_waiting_for_an_hour_is_no_fault() -> None:
    """A policy may start its last job late, after fewer wakes than are too many."""

    def decide(state: State) -> Iterable[Action]:
        if state.now < 29:
            return [Wake(state.now + 1)]
        return [] if state.completed else [Start(0)]

    assert simulate(_ONE, doing(decide), cluster=1).completion_times == (33.0,)


def test_waiting_twice_is_no_fault() -> None:
    """Wakes for nothing are counted from when something last ran."""

    def decide(state: State) -> Iterable[Action]:
        if state.now % 30 == 25:
            yield Start(int(state.now // 30))
        yield Wake(state.now + 1)

    jobs = workload((0, 10, 1), (0, 10, 1), (0, 10, 1))
    assert simulate(jobs, doing(decide), cluster=1).completion_times == (35.0, 65.0, 95.0)


@pytest.mark.parametrize("time", [0, -1.0, float("nan"), "soon", None, 1j])
def test_wakes_are_times_to_come(time: Any) -> None:
    """Whatever is no later time is refused as a wake in one line."""
    with pytest.raises(IllegalDecision, match="a wake must be in the future"):
        simulate(_ONE, scripted([Wake(time)]), cluster=1)


def test_never_is_no_wake() -> None:
    """A wake that never comes does nothing, whether jobs run or wait."""
    assert simulate(_ONE, scripted([Start(0), Wake(inf)]), cluster=1).completion_times == (4.0,)
    assert simulate(_ONE, scripted([Wake(inf)]), cluster=1).completion_times == (None,)


# Deadlines


class _Clock(Budget):
    """A budget that is over when it has been looked at so often."""

    def __init__(self, most: int) -> None:
        super().__init__(time_limit=1.0)
        object.__setattr__(self, "looks", iter(range(most)))

    @property
    def passed(self) -> bool:
        """Whether it has been looked at so often."""
        return next(vars(self)["looks"], None) is None


def _scenario(jobs: Workload) -> Scenario:
    return Scenario(workload=jobs, cluster=Cluster.plain(1))


def test_a_run_ends_with_its_time() -> None:
    """A run that takes longer than its time limit raises, at the next event, and says how far it came."""
    jobs = workload(*((i, 1, 1) for i in range(50)))
    assert replay(_scenario(jobs), fifo, budget=_Clock(1000)).metrics.completed == 50
    with pytest.raises(TimeUp, match=r"^the time limit of 1 s expired when 9 of 50 jobs were complete$"):
        replay(_scenario(jobs), fifo, budget=_Clock(20))
    with pytest.raises(TimeUp):
        simulate(jobs, fifo, cluster=1, time_limit=0)
    assert simulate(jobs, fifo, cluster=1, time_limit="1h") == simulate(jobs, fifo, cluster=1)


def test_a_decision_ends_with_the_time_too() -> None:
    """Actions that come slowly are cut off between two of them."""
    taken = 0

    def decide(state: State) -> Iterable[Action]:
        nonlocal taken
        for job in state.arrived:
            taken += 1
            yield Start(job)

    jobs = workload(*((0, 1, 1) for _ in range(50)))
    with pytest.raises(TimeUp, match="0 of 50"):
        replay(Scenario(workload=jobs, cluster=Cluster.plain(50)), doing(decide), budget=_Clock(11))
    assert taken == 11


def test_a_policy_out_of_time_leaves_the_others() -> None:
    """In a comparison each policy has the time limit for itself, and one that needs more has a line."""
    found = compare_policies(_ONE, [fifo], cluster=1, time_limit=0)
    assert found.failed == {"fifo": "TimeUp: the time limit of 0 s expired when 0 of 1 jobs were complete"}
    assert len(compare_policies(_ONE, [fifo, las], cluster=1, time_limit=3600)) == 2
    with pytest.raises(InvalidInput, match="time_limit: -1"):
        compare_policies(_ONE, [fifo], cluster=1, time_limit=-1)
    with pytest.raises(InvalidInput, match="time_limit: 'soon'"):
        simulate(_ONE, fifo, cluster=1, time_limit="soon")


@pytest.mark.parametrize("seconds", [1e-6, 1, 60.0, Fraction(1, 3), 1e12])
def test_intervals(seconds: object) -> None:
    """Seconds are an interval as long as the clock can tell them from none, and no longer than it goes."""
    require_interval("interval", seconds)


@pytest.mark.parametrize("seconds", [0, 9e-7, -1, 1.1e12, inf, -inf, nan, 10**400, True, None, "60", [60], 1j])
def test_other_values(seconds: object) -> None:
    """Nothing else is one, and the line says what is."""
    line = r"^lease: .*: must be a finite number of seconds, at least 1e-06 and at most 1e\+12$"
    with pytest.raises(InvalidInput, match=line):
        require_interval("lease", seconds)


def test_none_may_be_allowed() -> None:
    """None is an interval where it may be, and the line says so."""
    require_interval("lease", None, or_none=True)
    with pytest.raises(InvalidInput, match=r"or None$"):
        require_interval("lease", 0, or_none=True)
