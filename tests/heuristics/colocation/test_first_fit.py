"""The first partner with room."""

from heuristics.colocation import bsbf, first_fit
from tests.strategies.colocation import small


def test_the_first_that_fits_is_taken_whatever_it_costs() -> None:
    """On an instance where the first partners are the wrong ones sharing costs time, and BSBF saves some."""
    problem = small("first-fit-costs")
    found = first_fit(problem)
    assert found.objective is not None
    assert found.objective < 0
    better = bsbf(problem).objective
    assert better is not None
    assert better > 0


def test_who_needs_more_gpus_or_memory_is_passed_over() -> None:
    """A partner without room is no first fit."""
    for name in ("too-few-gpus", "nothing-fits", "nobody-runs"):
        solution = first_fit(small(name)).solution
        assert solution is not None
        assert solution.shares == {}
