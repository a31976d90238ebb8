"""Costs in floats and exactly."""

from fractions import Fraction

import numpy as np
import pytest

from formulations.batching.case import Case
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.problem import Sense
from gsopt.problems.batching import Batches, Batching, Grant
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.strategies.batching import tiny


def test_costs_are_those_of_the_best_batch() -> None:
    """For every job and number of GPUs the cost is the least that the judge counts, exactly and in floats."""
    looked = 0
    for seed in range(cases(150)):
        problem = tiny(seed)
        case = Case.of(problem)
        for place, menu in enumerate(problem.counts):
            for gpus in menu:
                wanted = _least(problem, place, gpus)
                assert case.cost(place, gpus) == wanted, seed
                assert abs(Fraction(case.costs[place, gpus]) - wanted) <= Fraction(case.error), seed
                looked += 1
    assert looked > cases(150)


def test_what_is_not_allowed_is_infinite() -> None:
    """A number of GPUs that the problem does not list is infinite, and so is none for a job that must run."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        costs = Case.of(problem).costs
        for job, menu, row in zip(problem.jobs, problem.counts, costs, strict=True):
            allowed = set(menu) | ({0} if job.name not in problem.required else set())
            assert set(np.flatnonzero(row < np.inf).tolist()) == allowed, seed


def test_numbers_become_solutions_and_back() -> None:
    """The numbers of GPUs of a solution give one with the same numbers, and the same total."""
    problem = elastic_jobs(gpus=16, jobs=10, seed=1)
    case = Case.of(problem)
    counts = [menu[-1] for menu in problem.counts]
    solution = case.solution(counts)
    assert case.counts(solution) == counts
    assert np.isclose(case.total(counts), float(problem.objective(solution)), rtol=SUM)


def test_too_large_tables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that memory cannot hold is refused with its size."""
    monkeypatch.setattr("formulations.batching.case.LARGEST_TABLE", 10)
    with pytest.raises(Unsupported, match="a table of 10 jobs by 16 GPUs is too large"):
        Case.of(elastic_jobs(gpus=16, jobs=10, seed=1))


def _least(problem: Batching, place: int, gpus: int) -> Fraction:
    """Find the least cost of one job on so many GPUs, by the judge: what it adds to that of nobody running."""
    job = problem.jobs[place]
    sign = 1 if problem.sense is Sense.MINIMIZE else -1
    others = problem.model_copy(update={"jobs": (job,)})
    sizes = [size for size in range(gpus, job.largest(gpus) + 1) if job.allows(size, gpus)]
    return min(
        Fraction(sign * others.objective(Batches(running={job.name: Grant(gpus=gpus, batch_size=size)})))
        for size in sizes
    )
