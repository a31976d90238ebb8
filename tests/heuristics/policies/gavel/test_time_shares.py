"""Time shares: what a problem of shares is told of a run."""

from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from formulations.shares import exact
from gsopt.core.method import NoSolution
from gsopt.problems.shares import Shares
from gsopt.problems.shares import TimeShares as Solution
from gsopt.scenario.job import Job
from gsopt.simulation import State, simulate
from heuristics.policies.gavel.rounds import Rounds
from heuristics.policies.gavel.time_shares import TimeShares
from tests.gsopt.simulation.scenarios import bundle

JOBS = bundle(
    Job(name=f"j{i}", release_date=r, duration=d, gpus=g)
    for i, (r, d, g) in enumerate([(0, 900, 1), (0, 2500, 2), (100, 400, 1)])
)


def problems(criterion: Any, **options: Any) -> list[Shares]:
    """Return the problems that a run of two GPUs in rounds of the port is divided by."""
    seen: list[Shares] = []

    def watched(problem: Shares) -> Solution:
        seen.append(problem)
        solution = exact(problem).solution
        assert solution is not None
        return solution

    def policy(state: State) -> Rounds:
        return Rounds(state, TimeShares(criterion, watched, **options), form="port")

    simulate(JOBS, policy, cluster=2, exact=True, bound=False)
    return seen


def test_work_left_and_age_are_told() -> None:
    """In the second round a job that ran in the first has 360 s less to do, and all are older."""
    first, second = problems("makespan")[:2]
    assert [(job.steps, job.age) for job in first.jobs] == [(900, 0), (2500, 0)]
    assert [(job.gpus, job.age) for job in second.jobs] == [(1, 360), (2, 360), (1, 260)]
    assert sum(job.steps for job in second.jobs) == 900 + 2500 + 400 - 360


def test_isolated_time_is_accumulated_at_the_speed_of_then() -> None:
    """Of two jobs each has half of two GPUs: 360 s of work on both are 720 s, on one 360 s."""
    second = problems("finish_time")[1]
    spent = {job.name: (left, job.isolated) for job, left in zip(second.jobs, (900, 2500, 400), strict=True)}
    for job in second.jobs:
        left, isolated = spent[job.name]
        done = left - job.steps
        assert isolated == pytest.approx(done * (2 if job.gpus > 1 else 1))


def test_isolated_time_at_present_is_that_of_all_the_work() -> None:
    """It is the wait for the next round, the restart, and all the work at the isolated speed of now."""
    second = problems("finish_time", isolated="present", restart=30)[1]
    for job, work, wait in zip(second.jobs, (900, 2500, 400), (360, 360, 260), strict=True):
        share = Fraction(2, 3 * job.gpus)
        assert float(second.isolated_times[job.name]) == pytest.approx(wait + 30 + work / share)


def test_isolated_shares_where_a_method_finds_none() -> None:
    """A method without a solution does not stop the run: jobs have an equal part of the GPUs each."""
    none = partial(TimeShares, "makespan", lambda problem: NoSolution(problem.word))
    run = simulate(JOBS, lambda state: Rounds(state, none()), cluster=2, bound=False)
    assert run.metrics.completed == 3
