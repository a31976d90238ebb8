"""The default method."""

from fractions import Fraction
from typing import Any

import pytest

from formulations.goodput import counting, exact
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.goodput import Goodput
from gsopt.testing import check_formulation
from heuristics.goodput import genetic, greedy
from instances.goodput import running_jobs
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.strategies.goodput import committed, job, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    assert check_formulation(exact, committed()) == len(committed())


def test_proves_the_optimum_of_hard_numbers() -> None:
    """On 500 instances the optimum of the oracle is proven, by each technique."""
    messages = set()
    for seed in range(cases(500)):
        problem = tiny(seed)
        result, best = exact(problem), oracle.optimum(problem)
        assert result.status is Status.OPTIMAL, seed
        assert result.objective is not None
        assert abs(Fraction(result.objective) - best) <= problem.resolution(best), seed
        messages.add(result.message)
    assert messages >= {"current GPUs", "packed counts", "integer program"}


@pytest.mark.parametrize("gpus", [8, 64])
def test_large_nodes_are_proven_too(gpus: int) -> None:
    """Three jobs of more than half a node on two of them are proven, whichever program takes them."""
    jobs = [job(name, [0.1] * (gpus // 2) + [1.0]) for name in "abc"]
    result = exact(Goodput(nodes=[gpus, gpus], jobs=jobs))
    assert (result.status, result.message) == (Status.OPTIMAL, "integer program")


@pytest.mark.parametrize("method", [genetic, greedy], ids=["genetic", "greedy"])
def test_no_heuristic_is_better(method: Any) -> None:
    """On decisions like those of the paper no heuristic finds more than what is proven."""
    for seed in range(2):
        problem = running_jobs(nodes=4, jobs=6, seed=seed)
        result, found = exact(problem), method(problem)
        assert result.status is Status.OPTIMAL
        assert result.objective is not None
        assert found.objective >= result.objective - problem.resolution(result.objective)


def test_many_jobs_are_decided_by_counts() -> None:
    """Where jobs outnumber the GPUs the knapsack, packed, is the optimum."""
    result = exact(running_jobs(jobs=160, seed=1))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "packed counts", "")


def test_out_of_time_jobs_keep_what_they_have() -> None:
    """Without any time what jobs have is returned, with a bound."""
    problem = running_jobs(jobs=45, seed=1)
    result = exact(problem, time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.solution is not None
    assert result.solution.gpus == {job.name: job.current for job in problem.jobs if job.current}
    assert result.bound is not None


def test_the_asked_gap_is_enough() -> None:
    """With a gap that the packed counts meet no solver is asked."""
    problem = running_jobs(jobs=15, seed=1)
    assert exact(problem).solver == "highs"
    result = exact(problem, gap=0.2)
    assert (result.stopped_by, result.solver) == (StoppedBy.GAP, "")


def test_callers_hear_of_better_solutions_and_may_stop() -> None:
    """What jobs have is told first, then what is better; True ends it."""
    problem = running_jobs(jobs=15, seed=1)
    heard: list[Result[Any]] = []
    exact(problem, on_incumbent=heard.append)
    values = [result.objective for result in heard if result.objective is not None]
    assert len(values) > 1
    assert values == sorted(values, reverse=True)
    stopped = exact(problem, on_incumbent=lambda _result: True)
    assert (stopped.stopped_by, stopped.objective) == (StoppedBy.INTERRUPT, values[0])


def test_a_start_is_never_lost() -> None:
    """An optimum that is given comes back, also without time, and does not keep the program from its proof."""
    problem = running_jobs(jobs=15, seed=1)
    best = exact(problem)
    assert exact(problem, start=best.solution, time_limit=0.0).objective == best.objective
    again = exact(problem, start=best.solution)
    assert (again.status, again.objective) == (Status.OPTIMAL, best.objective)


def test_tables_that_are_too_large_leave_the_current_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tables do not fit jobs keep what they have, and why is said."""
    monkeypatch.setattr(counting, "LARGEST_TABLE", 10)
    result = exact(running_jobs(nodes=4, jobs=9, seed=3))
    assert result.status is Status.FEASIBLE
    assert result.message == "current GPUs; a table of 9 jobs by 16 GPUs is too large"
