"""The first division of the GPUs and its bound."""

from formulations.batching.beginning import alone, begin, filled
from formulations.batching.case import Case
from gsopt.core.budget import Budget
from gsopt.core.result import Status
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.strategies.batching import tiny


def test_the_division_is_allowed_and_the_bound_holds() -> None:
    """On every instance the first division breaks no rule, and no optimum is better than the bound."""
    for seed in range(cases(400)):
        problem = tiny(seed)
        case, best = Case.of(problem), oracle.optimum(problem)
        assert problem.violations(case.solution(filled(case))) == [], seed
        assert best is not None
        assert case.sign * best >= alone(case), seed


def test_a_better_start_takes_its_place() -> None:
    """A start of a better value is what is begun with, a worse one is not."""
    problem = elastic_jobs(gpus=16, jobs=10, seed=1)
    case = Case.of(problem)
    first, _ = begin(case, Budget(), "x")
    better = case.solution([1, 4, 1, 1, 1, 1, 1, 1, 4, 1])
    assert problem.violations(better) == []
    assert problem.objective(better) < (first.objective or 0)
    assert begin(case, Budget(start=better), "x")[0].solution == better


def test_without_any_time_there_is_a_bound() -> None:
    """Where time is over the division is returned with its bound."""
    result, ended = begin(Case.of(elastic_jobs(gpus=16, jobs=10, seed=1)), Budget(time_limit=0.0), "x")
    assert (result.status, ended) == (Status.FEASIBLE, True)
    assert result.bound is not None
