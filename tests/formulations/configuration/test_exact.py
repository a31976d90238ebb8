"""The default method."""

from typing import Any

import pytest

from formulations.configuration import exact, table
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.configuration import Configuration, ConfigurationSolution
from gsopt.testing import check_formulation
from instances.configuration import growing_jobs
from tests.effort import cases
from tests.exactness import configuration as oracle
from tests.strategies.configuration import committed, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    assert check_formulation(exact, committed()) == len(committed())


def _rank(problem: Configuration, solution: ConfigurationSolution) -> Any:
    """Rank equal values: few changes, then the first job's own or first configuration."""
    pairs = list(zip(problem.jobs, problem.places(solution), strict=True))
    changes = sum(place != each.current for each, place in pairs)
    preferred = [
        -1 if place is not None and place == each.current else len(each.goodputs) if place is None else place
        for each, place in pairs
    ]
    return changes, preferred


def test_proves_the_optimum_of_hard_numbers_and_breaks_ties_as_said() -> None:
    """On 500 instances the optimum of the oracle is proven, with the fewest changes, lowest jobs first."""
    messages = set()
    for seed in range(cases(500)):
        problem = tiny(seed)
        result, best = exact(problem), oracle.optimum(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, best), seed
        equal = [
            each
            for each in problem.candidates()
            if not problem.violations(each) and problem.objective(each) == best
        ]
        assert result.solution == min(equal, key=lambda each: _rank(problem, each)), seed
        messages.add(result.message)
    assert messages == {"dynamic programming"}


def test_many_jobs_on_three_types_are_decided_by_the_table() -> None:
    """The cluster of the paper with 160 jobs is decided without a solver."""
    result = exact(growing_jobs(nodes=5, types=3, jobs=160, seed=1))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "dynamic programming", "")


def test_a_table_that_is_too_large_is_left_to_the_integer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver proves the same optimum, and why it was asked is said."""
    problem = growing_jobs(nodes=1, jobs=3, seed=3)
    best = exact(problem)
    monkeypatch.setattr(table, "LARGEST_TABLE", 10)
    result = exact(problem)
    assert (result.status, result.objective, result.solver) == (Status.OPTIMAL, best.objective, "highs")
    assert result.message == "integer program; a table of 3 jobs by 5 sets of GPUs is too large"


def test_out_of_time_jobs_keep_what_they_have() -> None:
    """Without any time what jobs have is returned, with a bound."""
    problem = growing_jobs(jobs=45, seed=1)
    result = exact(problem, time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.solution is not None
    held = {each.name: each.current for each in problem.jobs if each.current is not None}
    assert result.solution.configurations == held
    assert result.bound is not None


def test_the_asked_gap_is_enough() -> None:
    """With a gap that the current configurations meet no table is filled."""
    result = exact(growing_jobs(jobs=15, seed=1), gap=0.9)
    assert (result.stopped_by, result.message) == (StoppedBy.GAP, "current configurations")


def test_callers_hear_of_better_solutions_and_may_stop() -> None:
    """What jobs have is told first, then what is better; True ends it."""
    problem = growing_jobs(jobs=15, seed=1)
    heard: list[Result[Any]] = []
    exact(problem, on_incumbent=heard.append)
    values = [result.objective for result in heard if result.objective is not None]
    assert values == sorted(values, reverse=True)
    stopped = exact(problem, on_incumbent=lambda _result: True)
    assert (stopped.stopped_by, stopped.objective) == (StoppedBy.INTERRUPT, values[0])


def test_a_start_is_never_lost() -> None:
    """An optimum that is given comes back, also without time."""
    problem = growing_jobs(jobs=15, seed=1)
    best = exact(problem)
    assert exact(problem, start=best.solution, time_limit=0.0).objective == best.objective
