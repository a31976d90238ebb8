"""The models of record."""

import pytest

from formulations.shares import exact, lp
from gsopt.core.errors import Unsupported
from gsopt.problems.shares import Shares
from gsopt.solvers.backends import Scip
from instances.shares import typed_jobs
from tests.effort import cases
from tests.exactness import shares as oracle
from tests.strategies.shares import committed, small, tiny

LINEAR = [problem for problem in committed() if problem.criterion != "finish_time"]


@pytest.mark.parametrize("problem", LINEAR, ids=lambda problem: problem.name)
def test_finds_the_optimum_of_every_small_instance(problem: Shares) -> None:
    """On every small instance with a linear program the model's shares are the best, to a millionth."""
    result, best = lp(problem), oracle.optimum(problem)
    assert not isinstance(best, tuple)
    assert result.objective is not None
    assert result.bound is not None
    assert float(result.objective) == pytest.approx(float(best), rel=1e-6)
    assert not problem.sense.better(best, result.bound)
    assert result.gap is not None
    assert result.gap < 1e-5


def test_no_bound_is_beaten_with_hard_numbers() -> None:
    """With numbers that are hard on floats no bound is beaten; what is out of reach of solvers is refused."""
    refused = 0
    for seed in range(cases(100)):
        problem = tiny(seed)
        if problem.criterion == "finish_time":
            continue
        try:
            result = lp(problem)
        except Unsupported:
            refused += 1
            continue
        best = oracle.optimum(problem)
        assert not isinstance(best, tuple)
        assert result.bound is None or not problem.sense.better(best, result.bound), seed
    assert 0 < refused < cases(50)


@pytest.mark.parametrize("criterion", ["max_min", "makespan", "fifo"])
def test_solvers_agree(criterion: str) -> None:
    """HiGHS and SCIP find the value of the default method."""
    problem = next(each for each in committed("production") if each.criterion == criterion)
    best = float(exact(problem).objective or 0)
    for backend in (None, Scip()):
        assert float(lp(problem, backend=backend).objective or 0) == pytest.approx(best, rel=1e-6)


def test_finish_times_are_refused() -> None:
    """There is no linear program of all levels at once."""
    with pytest.raises(Unsupported, match="finish times have a linear program for each level only"):
        lp(small("late-already"))


def test_the_model_has_the_size_that_it_says() -> None:
    """Columns are pairs of a job and a type on which it runs, and the level; rows are two for each job."""
    form = lp.standard_form(typed_jobs(jobs=7, types=3, seed=1))
    assert form.matrix.shape == (2 * 7 + 3, 3 * 7 + 1)
