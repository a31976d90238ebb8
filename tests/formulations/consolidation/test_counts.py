"""The naive model, against enumeration."""

import pytest

from formulations.consolidation import counts
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.testing import check_formulation
from instances.consolidation import half_busy
from tests.strategies.consolidation import committed, seeds


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On some of the committed small instances HiGHS proves the optimum that enumeration finds."""
    problems = committed()[::6]
    assert check_formulation(counts, problems) == len(problems)


def test_an_optimum_is_a_start() -> None:
    """A solution is written as columns that the model takes, at its own value."""
    for problem in seeds(3, lambda problem: len(problem.jobs) > 1):
        best = counts(problem)
        assert best.status is Status.OPTIMAL
        assert best.solution is not None
        form = counts.standard_form(problem)
        point = form.point(counts.encode(best.solution, problem))
        assert form.is_feasible(point)
        assert form.objective(point) == pytest.approx(float(best.objective or 0), rel=1e-9)


def test_large_problems_are_refused() -> None:
    """The reference is for small problems, and says which method is not."""
    with pytest.raises(Unsupported, match="exact takes more"):
        counts(half_busy(racks=4, jobs=100))
