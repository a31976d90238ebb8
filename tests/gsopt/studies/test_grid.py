"""Entries spanned over their options."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gsopt.core.errors import InvalidInput
from gsopt.studies.grid import points

_VALUES = some.one_of(some.integers(), some.lists(some.integers(), min_size=1, max_size=3))


@given(some.dictionaries(some.text(min_size=1).filter(lambda name: name != "label"), _VALUES, max_size=4))
def test_points_are_the_product_of_the_lists(entry: dict[str, Any]) -> None:
    """There are as many points as the product of the lengths, and each has one of each list's values."""
    found = list(points(entry, "instance"))
    expected = 1
    for value in entry.values():
        expected *= len(value) if isinstance(value, list) else 1
    assert len(found) == expected
    for point in found:
        assert set(point.values) == set(entry)
        for name, value in entry.items():
            assert point.values[name] in value if isinstance(value, list) else point.values[name] == value


def test_a_list_in_a_list_is_one_value() -> None:
    """An option that is a list by itself is written as a list in a list."""
    assert [point.values["t"] for point in points({"t": [[1, 2]]}, "policy")] == [[1, 2]]


def test_names() -> None:
    """Without a label every option is shown, with one only those that vary; some can be left out."""
    plain = next(points({"policy": "las", "quantum": [60, 600]}, ""))
    labelled = next(points({"policy": "las", "quantum": [60, 600], "x": 1, "label": "LAS"}, ""))
    options = {"quantum": 60, "x": 1}
    assert str(plain.name("las", options)) == "las(quantum=60, x=1)"
    assert str(labelled.name("las", options)) == "LAS(quantum=60)"
    assert str(labelled.name("las", options, leaving=["quantum"])) == "LAS"
    assert plain.name("las", options).without("quantum", "x") == "las"


@pytest.mark.parametrize("entry", [{"a": []}, {"label": 3}, {"a": list(range(2000)), "b": list(range(2000))}])
def test_what_cannot_be_spanned(entry: dict[str, Any]) -> None:
    """An empty list, a label that is no text and a grid of millions are refused."""
    with pytest.raises(InvalidInput):
        list(points(entry, "instance"))
