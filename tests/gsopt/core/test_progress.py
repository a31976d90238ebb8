"""Progress: reports of several parts become one history in which nothing gets worse."""

from fractions import Fraction

import pytest

import gsopt
from gsopt.core.progress import Bracket, Watch
from tests.gsopt.problems.test_reclaiming import figure_5


@pytest.fixture
def told() -> list[Bracket]:
    """Return what a listener hears."""
    return []


def test_only_what_is_better_is_told(told: list[Bracket]) -> None:
    """A worse value, a weaker bound and what is known already are not passed on."""
    watch = Watch(figure_5(2), told.append)
    for value, bound in ((None, None), (9, None), (9, 0), (10, None), (None, 4), (None, 3), (8, 2)):
        watch(Bracket(1.0, value, bound))
    assert [(known.value, known.bound) for known in told] == [(9, None), (9, 0), (9, 4), (8, 4)]
    assert (watch.value, watch.bound) == (8, 4)


def test_a_bound_is_rounded_and_never_better_than_a_value(told: list[Bracket]) -> None:
    """A bound is the next value that the objective can take; one above a solution's value is that value."""
    watch = Watch(figure_5(2), told.append)
    watch(Bracket(1.0, bound=0.5))
    watch(Bracket(2.0, value=3, bound=Fraction(7, 2)))
    assert [(known.value, known.bound) for known in told] == [(None, 1), (3, 3)]


def test_maximizing_a_value_rises_and_a_bound_falls(told: list[Bracket]) -> None:
    """Where more is better, so are larger values and smaller bounds."""
    watch = Watch(gsopt.load("allocation/small/decimals"), told.append)
    for value, bound in ((1, 9), (2, None), (1, None), (None, 10), (None, 8), (None, 1)):
        watch(Bracket(1.0, value, bound))
    assert [(known.value, known.bound) for known in told] == [(1, 9), (2, 9), (2, 8), (2, 2)]


def test_as_plain_numbers() -> None:
    """Fractions become numbers, what is not known stays None."""
    assert Bracket(0.5, Fraction(3, 2), 1).as_dict() == {"runtime": 0.5, "value": 1.5, "bound": 1, "gap": 0.5}
    assert Bracket(0.5).as_dict() == {"runtime": 0.5, "value": None, "bound": None, "gap": None}
