"""Shockwave: plans by hand, and every kind of scenario of one kind of GPUs."""

from functools import partial
from inspect import signature
from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.numbers.tolerances import WINDOW_GAP
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.shockwave import policy as policy_module
from heuristics.policies.shockwave.outlook import Terms, WindowPlanner
from heuristics.policies.shockwave.policy import shockwave
from heuristics.policies.shockwave.program import Effort
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios


def jobs(*sizes: tuple[float, float, int]) -> Workload:
    """Make jobs of (release date, duration, GPUs)."""
    return bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))


def test_by_hand() -> None:
    """Each has rounds in the first window, and those with the fewest come first."""
    run = simulate(jobs((0, 480, 1), (0, 240, 1), (0, 120, 1)), shockwave, cluster=1)
    assert run.completion_times == (840, 360, 120)


def test_the_makespan_is_worth_a_price() -> None:
    """The long job has both rounds of each window if its remaining time costs much, else each has one."""
    work = jobs((0, 600, 1), (0, 240, 1))
    options: dict[str, Any] = {"rounds": 2, "renewal": 2, "ratio": 100.0}
    times = [
        simulate(work, shockwave, cluster=1, makespan=price, **options).completion_times for price in (0, 1e5)
    ]
    assert times == [(840, 480), (840, 720)]


def test_idle_gpus_go_to_the_longest() -> None:
    """The GPU beside a job of three goes to the longer one of two, though the shorter one is in time by it."""
    run = simulate(jobs((0, 120, 3), (0, 120, 1), (0, 360, 1)), shockwave, cluster=4)
    assert run.completion_times == (120, 240, 360)


@pytest.mark.parametrize(
    ("gpus", "sizes", "changes", "options", "times"),
    [
        (
            3,
            [(30, 240, 2), (30, 150, 3), (60, 300, 2), (90, 150, 2)],
            [],
            {"rounds": 3, "renewal": 3, "ratio": 0.5},
            (780, 450, 960, 630),
        ),
        (
            2,
            [(0, 150, 2), (30, 150, 1), (60, 300, 2), (120, 90, 1)],
            [(60, 1), (240, 2)],
            {"rounds": 2, "renewal": 3, "ratio": 1.5},
            (330, 510, 720, 510),
        ),
        (
            3,
            [(0, 300, 2), (120, 90, 3), (150, 150, 1), (300, 60, 2)],
            [],
            {"rounds": 3, "renewal": 2, "power": 2, "since": "release"},
            (480, 270, 390, 360),
        ),
    ],
)
def test_the_only_best_plans(
    gpus: int,
    sizes: list[tuple[float, float, int]],
    changes: list[tuple[float, int]],
    options: dict[str, Any],
    times: tuple[float, ...],
) -> None:
    """Where every window has just one best plan, jobs complete as an enumeration of all plans says."""
    changed = [CapacityChange(time=time, gpus=left) for time, left in changes]
    terms: dict[str, Any] = {"interval": 60, "makespan": 0.01, "power": 5, "exact": True} | options
    policy = partial(shockwave, **terms)
    run = simulate(jobs(*sizes), policy, cluster=gpus, capacity_changes=changed, clock_start=0)
    assert run.completion_times == times


@pytest.mark.parametrize(
    ("options", "effort"),
    [
        ({}, Effort(gap=WINDOW_GAP, limit=15)),
        ({"limit": 2}, Effort(WINDOW_GAP, 2)),
        ({"exact": True}, Effort()),
    ],
)
def test_presets(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], effort: Effort) -> None:
    """Plans are made as in the published program for 32 GPUs; what is exact has neither gap nor limit."""
    made: list[Terms] = []

    def watched(terms: Terms) -> WindowPlanner:
        made.append(terms)
        return WindowPlanner(terms)

    monkeypatch.setattr(policy_module, "WindowPlanner", watched)
    simulate(jobs((0, 1, 1)), partial(shockwave, **options), cluster=1)
    assert made == [Terms(20, 120, 1e-3, 1.0, 12.0, 1e6, "start", effort)]
    assert signature(shockwave).parameters["renewal"].default == 8


SCENARIOS = [
    Scenario(
        workload=jobs((0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1)),
        cluster=Cluster.plain(4),
        overheads={"": Overhead(start=2.0)},
        capacity_changes=[CapacityChange(time=20, gpus=3), CapacityChange(time=60, gpus=4)],
    ),
    Scenario(workload=jobs((0, 50, 1), (3, 20, 2), (10, 35, 2)), cluster=Cluster.uniform(machines=2, gpus=2)),
    Scenario(workload=jobs(), cluster=Cluster.plain(1)),
]


def test_any_finish_time_may_be_fair() -> None:
    """A ratio beyond which there is no number leaves the plans as they are without the condition."""
    work = jobs((0, 480, 1), (0, 240, 1), (0, 120, 1))
    times = [simulate(work, shockwave, cluster=1, ratio=r).completion_times for r in (100.0, 1e308)]
    assert times[0] == times[1]


def test_it_passes_the_check() -> None:
    """Whatever counts, it replays scenarios legally, and every job completes."""
    options: dict[str, Any] = {"interval": 30, "rounds": 2, "renewal": 2}
    assert check_policy(shockwave, SCENARIOS, **options) == 2 * len(SCENARIOS)
    options |= {"exact": True, "since": "release", "ratio": 0.7, "makespan": 10}
    assert check_policy(shockwave, SCENARIOS[:1], **options) == 2


@settings(max_examples=cases(8), deadline=None)
@given(scenario=plain_scenarios())
def test_any_jobs(scenario: Scenario) -> None:
    """Whatever the jobs, all that is booked is what the judge finds."""
    assert check_policy(partial(shockwave, rounds=4), [scenario], interval=8.0) == 2


def test_jobs_that_demand_too_much_are_refused() -> None:
    """A job that would fit only with fewer GPUs than it demands is named."""
    work = bundle([Job(name="a", release_date=0, duration=5, gpus=4, menu=[(1, 0.5), (4, 1.0)])])
    with pytest.raises(Unsupported, match="job 'a' demands 4 GPUs"):
        simulate(work, shockwave, cluster=2)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"interval": 0}, "interval: 0: must be a finite number of seconds"),
        ({"rounds": 0}, "rounds: 0: must be a whole number from 1 to 1000"),
        ({"rounds": 2.5}, "rounds: 2.5: must be a whole number from 1 to 1000"),
        ({"rounds": True}, "rounds: True: must be a whole number from 1 to 1000"),
        ({"renewal": -1}, "renewal: -1: must be a whole number from 1 to 1000"),
        ({"makespan": -1}, "makespan: -1: must be from 0 to 1,000,000"),
        ({"makespan": "1"}, "makespan: '1': must be from 0 to 1,000,000"),
        ({"power": float("inf")}, "power: inf: must be a finite number, at least 0"),
        ({"ratio": 0}, "ratio: 0: must be a finite number above 0"),
        ({"ratio": 10**400}, "ratio: 1000"),
        ({"most_weight": 0.5}, "most_weight: 0.5: must be from 1 to 1,000,000,000"),
        ({"most_weight": 1e300}, "most_weight: 1e+300: must be from 1 to 1,000,000,000"),
        ({"limit": 0}, "limit: 0: must be a positive, finite number of seconds, or None"),
        ({"since": "end"}, "since: 'end': must be one of start, release"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], line: str) -> None:
    """An option out of its range is refused in one line."""
    with pytest.raises(InvalidInput) as caught:
        simulate(jobs((0, 1, 1)), shockwave, cluster=1, **options)
    assert str(caught.value).startswith(line)
