"""Interpolation."""

from math import expm1, sqrt

import pytest

from gsopt.performance.interference import PairTable, Profile
from gsopt.performance.interference.predictors import nearest
from tests.gsopt.performance.interference.tables import EIGHT


def test_distances() -> None:
    """A measured pair is given back; in between both ends count as ratios by one over their distance."""
    twin = Profile(name="twin", features={"load": 0.75})
    assert nearest(EIGHT).slowdowns([(twin, EIGHT.by_name["h"])]) == pytest.approx([1 + 0.75 * 1.75])
    ends = [Profile(name="a", features={"x": -1}), Profile(name="b", features={"x": 1})]
    table = PairTable(profiles=ends, slowdowns={"a": {"a": 1.0}, "b": {"b": 4.0}})
    middle = Profile(name="m", features={"x": 0})
    assert nearest(table, neighbours=2).slowdowns([(middle, middle)]) == pytest.approx([2.0])
    assert nearest(table, neighbours=9).slowdowns([(middle, middle)]) == pytest.approx([2.0])
    ends = [Profile(name=name, features={"x": x}) for name, x in (("a", 0), ("b", 7))]  # logarithms 0 and 3
    table = PairTable(profiles=ends, slowdowns={"a": {"a": 1.0}, "b": {"b": 8.0}})
    third = Profile(name="m", features={"x": 1})  # logarithm 1, in units of log 2
    assert nearest(table).slowdowns([(third, third)]) == pytest.approx([2.0])
    assert nearest(table).slowdowns([(third, ends[0])])[0] < sqrt(8)


def test_ties() -> None:
    """The first of those that are as near decides; a feature that never changed is one unit of distance."""
    ends = [Profile(name="a", features={"x": -1}), Profile(name="b", features={"x": 1})]
    table = PairTable(profiles=ends, slowdowns={"b": {"b": 4.0}, "a": {"a": 1.0}})
    middle = Profile(name="m", features={"x": 0})
    assert nearest(table, neighbours=1).slowdowns([(middle, middle)]) == pytest.approx([4.0])
    names = [str(place) for place in range(40)]
    ends = [Profile(name=name, features={"x": (-1) ** int(name)}) for name in names]
    table = PairTable(profiles=ends, slowdowns={name: {name: 2.0 + int(name)} for name in reversed(names)})
    middle = Profile(name="m", features={"x": 0})
    assert nearest(table, neighbours=1).slowdowns([(middle, middle)]) == pytest.approx([41.0])
    ends = [Profile(name=name, features={"x": x, "same": 0}) for name, x in (("a", -1), ("b", 1))]
    table = PairTable(profiles=ends, slowdowns={"a": {"a": 1.0}, "b": {"b": 4.0}})
    other = Profile(name="m", features={"x": -1, "same": expm1(1)})  # sqrt 2 from a, and sqrt 10 from b
    share = sqrt(2) / (sqrt(2) + sqrt(10))
    assert nearest(table).slowdowns([(other, other)]) == pytest.approx([4.0**share])
