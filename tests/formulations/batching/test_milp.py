"""The integer program."""

import numpy as np

from formulations.batching import milp
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.result import Status, same
from gsopt.solvers.backends import CpSat, Highs
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.strategies.batching import tiny


def test_proves_the_optimum_of_hard_numbers() -> None:
    """With numbers that are hard on floats both solvers prove the oracle's optimum, or a value next to it."""
    proven, tried = 0, cases(15)
    for seed in range(tried):
        problem = tiny(200 + seed)
        result, best = milp(problem, backend=(Highs(), CpSat())[seed % 2]), oracle.optimum(problem)
        assert best is not None
        assert result.bound is not None
        assert not problem.sense.better(best, result.bound), seed
        assert result.status is not Status.OPTIMAL or result.objective == best, seed
        assert same(result.objective, float(best)), seed
        proven += result.status is Status.OPTIMAL
    assert proven > tried / 2


def test_size_is_as_documented() -> None:
    """A column for each number of GPUs of each job, a row for each job and one for the GPUs."""
    problem = elastic_jobs(gpus=16, jobs=10, seed=1)
    form = milp.standard_form(problem)
    items = sum(len(counts) for counts in problem.counts)
    assert form.matrix.shape == (10 + 1, items)
    assert form.matrix.nnz == 2 * items


def test_a_start_is_a_point_of_the_model() -> None:
    """A solution becomes columns of which the model counts what the judge counts."""
    problem = elastic_jobs(gpus=16, jobs=10, criterion="rate", reconfiguration=0.0001, seed=2)
    solution, _ = milp.at_once(problem)
    form = milp.standard_form(problem)
    point = form.point(milp.encode(solution, problem))
    assert np.isclose(form.objective(point), float(problem.objective(solution)), rtol=SUM)
