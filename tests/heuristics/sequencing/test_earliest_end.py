"""The shortest first, each to where it ends first."""

from gsopt.testing import check_heuristic
from heuristics.sequencing import earliest_end
from tests.strategies.sequencing import alike, committed, small


def test_is_never_better_than_the_optimum() -> None:
    """On instances of up to four jobs the orders keep all rules, and are no better than the optimum."""
    check_heuristic(earliest_end, [each for each in committed() if len(each.jobs) <= 4])


def test_jobs_go_where_they_end_first() -> None:
    """By hand: the short ones take a machine each, the long one waits for the machine that is free first."""
    solution = earliest_end(alike(5, 2, 1, machines=2)).solution
    assert solution is not None
    assert solution.order == {"m0": ("c", "a"), "m1": ("b",)}


def test_a_slow_machine_that_is_free_may_be_later() -> None:
    """A job waits for the fast GPU where it ends earlier there."""
    solution = earliest_end(small("waiting-for-the-fast-gpu")).solution
    assert solution is not None
    assert solution.order == {"m0": ("a",)}
