"""Interpolation."""

from math import expm1, sqrt

import pytest

from gsopt.performance.interference import PairTable, Profile
from gsopt.performance.interference.predictors import nearest
from tests.gsopt.performance.interference.tables import EIGHT


def test_what_was_measured_is_given_back() -> None:
    """A pair with the very features of a measured one has its slowdown, whatever lies around it."""
    twin = Profile(name="twin", features={"load": 0.75})
    assert nearest(EIGHT).slowdowns([(twin, EIGHT.by_name["h"])]) == pytest.approx([1 + 0.75 * 1.75])


def test_halfway_is_the_geometric_mean() -> None:
    """Between two measured pairs at the same distance both count alike, as ratios."""
    ends = [Profile(name="a", features={"x": -1}), Profile(name="b", features={"x": 1})]
    table = PairTable(profiles=ends, slowdowns={"a": {"a": 1.0}, "b": {"b": 4.0}})
    middle = Profile(name="m", features={"x": 0})
    assert nearest(table, neighbours=2).slowdowns([(middle, middle)]) == pytest.approx([2.0])
    assert nearest(table, neighbours=9).slowdowns([(middle, middle)]) == pytest.approx([2.0])


def test_ties_go_to_the_first() -> None:
    """With one neighbour the first of two that are as near decides."""
    ends = [Profile(name="a", features={"x": -1}), Profile(name="b", features={"x": 1})]
    table = PairTable(profiles=ends, slowdowns={"b": {"b": 4.0}, "a": {"a": 1.0}})
    middle = Profile(name="m", features={"x": 0})
    assert nearest(table, neighbours=1).slowdowns([(middle, middle)]) == pytest.approx([4.0])


def test_the_first_of_many_ties() -> None:
    """Among forty pairs that are all as near it is still the first one that decides."""
    names = [str(place) for place in range(40)]
    ends = [Profile(name=name, features={"x": (-1) ** int(name)}) for name in names]
    table = PairTable(profiles=ends, slowdowns={name: {name: 2.0 + int(name)} for name in reversed(names)})
    middle = Profile(name="m", features={"x": 0})
    assert nearest(table, neighbours=1).slowdowns([(middle, middle)]) == pytest.approx([41.0])


def test_a_feature_that_was_always_the_same_is_no_wall() -> None:
    """Where another value of it comes, it is one more unit of distance, beside which the others still count."""
    ends = [Profile(name=name, features={"x": x, "same": 0}) for name, x in (("a", -1), ("b", 1))]
    table = PairTable(profiles=ends, slowdowns={"a": {"a": 1.0}, "b": {"b": 4.0}})
    other = Profile(name="m", features={"x": -1, "same": expm1(1)})  # sqrt 2 from a, and sqrt 10 from b
    share = sqrt(2) / (sqrt(2) + sqrt(10))
    assert nearest(table).slowdowns([(other, other)]) == pytest.approx([4.0**share])


def test_the_nearer_counts_more() -> None:
    """Weights are one over the distance: at a third of the way the nearer end has two thirds of the say."""
    ends = [Profile(name=name, features={"x": x}) for name, x in (("a", 0), ("b", 7))]  # logarithms 0 and 3
    table = PairTable(profiles=ends, slowdowns={"a": {"a": 1.0}, "b": {"b": 8.0}})
    third = Profile(name="m", features={"x": 1})  # logarithm 1, in units of log 2
    assert nearest(table).slowdowns([(third, third)]) == pytest.approx([2.0])
    assert nearest(table).slowdowns([(third, ends[0])])[0] < sqrt(8)
