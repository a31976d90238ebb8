"""Recorded runs: their schedules, held against the judge."""

from typing import Any

from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.judge import ScheduleVerdict, judge
from gsopt.simulation import Policy, Replay, replay


def schedule_of(run: Replay) -> Schedule:
    """Return what was recorded."""
    assert run.schedule is not None
    return run.schedule


def verdict_of(run: Replay, **options: Any) -> ScheduleVerdict:
    """Judge a recorded run, which has to be legal and to complete as the simulator says."""
    verdict = judge(schedule_of(run), run.scenario, **options)
    assert (verdict.violations, verdict.completion_times) == ((), run.completion_times)
    return verdict


def judged(
    scenario: Scenario, policy: Policy, *, exact: bool = False, complete: bool = False, **options: Any
) -> Replay:
    """Run a policy, and hold the recorded run against the judge."""
    run = replay(scenario, policy, record=True, exact=exact, **options)
    verdict_of(run, exact=exact, complete=complete)
    return run
