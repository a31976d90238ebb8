"""Spare nodes, against an enumeration of which nodes are up."""

from fractions import Fraction
from itertools import product
from math import prod

import pytest

from gsopt.evaluation.spares import availability, spare_nodes
from tests.refusals import refused

_SHARES = (Fraction(1, 3), Fraction(9, 10), 0, 1)


@pytest.mark.parametrize("up", _SHARES)
def test_the_tail_is_that_of_all_cases(up: Fraction) -> None:
    """The availability is the sum of the probabilities of all cases in which enough nodes are up."""
    for needed, spares in product(range(1, 5), range(4)):
        cases = product((True, False), repeat=needed + spares)
        chances = (prod(up if is_up else 1 - up for is_up in case) for case in cases if sum(case) >= needed)
        assert availability(needed, spares, up) == sum(chances)


def test_as_few_spares_as_suffice() -> None:
    """The target is reached with the spares returned and not with one fewer; decimals are exact."""
    for needed, up, target in product((1, 8, 64), (0.5, 0.977, 1), (0, 0.99, 0.999)):
        spares = spare_nodes(needed, up, target=target)
        assert availability(needed, spares, up) >= Fraction(str(target))
        assert not spares or availability(needed, spares - 1, up) < Fraction(str(target))
    assert spare_nodes(1, 0.9, target=0.99) == 1  # just reached


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((0, 0.9), "needed: 0: must be at least 1"),
        ((1, 1.1), "up: 1.1: must be between 0 and 1"),
        ((1, float("nan")), "up: nan: must be between 0 and 1"),
        ((1, 0), "up: 0: must be so high that fewer than 100 spare nodes suffice"),
    ],
)
def test_bad_arguments(monkeypatch: pytest.MonkeyPatch, arguments: tuple[int, float], line: str) -> None:
    """Numbers out of range are refused in one line."""
    monkeypatch.setattr("gsopt.evaluation.spares._MOST", 100)  # they are all tried
    with refused(line, start=line):
        spare_nodes(*arguments)
    with refused("target", start="target: 1: must be at least 0 and less than 1"):
        spare_nodes(1, 0.9, target=1)
    with refused("spares", start="spares: -1: must be at least 0"):
        availability(1, -1, 0.9)
