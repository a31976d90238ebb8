"""The model of record."""

import pytest

from formulations.sequencing import exact, milp
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from instances.sequencing import unit_jobs
from tests.strategies.sequencing import small


def test_finds_the_optimum_of_nearly_equal_values() -> None:
    """On an instance whose values differ by less than doubles tell, the optimum of enumeration is found."""
    problem = small("the-last-bit")
    result = milp(problem)
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound == exact(problem).objective


def test_the_model_has_the_size_that_it_says() -> None:
    """Columns are jobs times machines times positions; jobs and positions have a row each."""
    form = milp.standard_form(unit_jobs(jobs=4, gpus=1, types=2, seed=1))
    assert form.matrix.shape == (4 + 2 * 4, 4 * 2 * 4)


def test_large_models_are_refused() -> None:
    """What takes minutes to write is refused with its size."""
    with pytest.raises(Unsupported, match="milp has 1,638,400 columns, can have 200,000"):
        milp(unit_jobs(jobs=160, gpus=16, types=4, seed=1))


def test_a_start_is_read_back() -> None:
    """A solution as columns is that solution again."""
    problem = small("drawn-1")
    solution = milp(problem).solution
    assert solution is not None
    read = milp.extract(milp.encode(solution, problem), problem)
    assert problem.objective(read) == problem.objective(solution)
