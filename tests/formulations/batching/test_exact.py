"""The default method."""

from importlib import import_module
from typing import Any

import pytest

from formulations.batching import exact
from gsopt.core.result import Result, Status, StoppedBy, plain
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.strategies.batching import committed, small, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    problems = committed()
    for problem in problems:
        result = exact(problem)
        assert problem.about is not None
        assert (result.status, plain(result.objective)) == (Status.OPTIMAL, problem.about.objective)
    assert len(problems) > 20


def test_the_printed_goal_runs_a_single_job() -> None:
    """By Equations 3 and 4 one job has all GPUs, and where all are forced each has some."""
    for name, running in (("printed-goal-runs-one-job", 1), ("printed-goal-all-forced", 3)):
        solution = exact(small(name)).solution
        assert solution is not None
        assert len(solution.running) == running


def test_proves_the_optimum_of_hard_numbers() -> None:
    """On 300 instances the optimum of the oracle is proven, by either technique."""
    messages = set()
    for seed in range(cases(300)):
        problem = tiny(2000 + seed)
        result = exact(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed
        messages.add(result.message)
    assert messages >= {"greedy", "dp"}


def test_out_of_time_there_is_a_division() -> None:
    """Without any time the first division is returned with a bound."""
    result = exact(elastic_jobs(gpus=64, jobs=60, seed=1), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.bound is not None


def test_the_asked_gap_is_enough() -> None:
    """With a gap that the greedy steps meet no table is filled."""
    result = exact(elastic_jobs(gpus=64, jobs=60, criterion="rate", seed=1), gap=0.05)
    assert (result.stopped_by, result.message) == (StoppedBy.GAP, "greedy, not proven")


def test_callers_hear_of_the_first_division_and_may_stop() -> None:
    """The first division is told at once; True ends the search."""
    heard: list[Result[Any]] = []

    def hear(result: Result[Any]) -> bool:
        heard.append(result)
        return True

    result = exact(elastic_jobs(gpus=64, jobs=60, seed=1), on_incumbent=hear)
    assert (len(heard), result.stopped_by) == (1, StoppedBy.INTERRUPT)


def test_tables_that_are_too_large_leave_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tables do not fit the greedy steps and their bound are returned, and why."""
    monkeypatch.setattr(import_module("formulations.batching.dp"), "LARGEST_TABLE", 10)
    result = exact(elastic_jobs(gpus=64, jobs=60, seed=1))
    assert result.status is Status.FEASIBLE
    assert result.message.endswith("a table of 60 jobs by 64 GPUs is too large")
