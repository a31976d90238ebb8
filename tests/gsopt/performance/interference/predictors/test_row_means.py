"""Means of rows and columns."""

import pytest

from gsopt.performance.interference.predictors import row_means
from tests.gsopt.performance.interference.tables import ruled


def test_row_means() -> None:
    """Products of what jobs suffer and do are given back; a stranger is like the mean."""
    table = ruled({"a": 1, "b": 2, "c": 5}, lambda mine, other: 3 * mine * other**2)
    a, b = table.by_name["a"], table.by_name["b"]
    assert row_means(table).slowdowns([(a, b), (b, a)]) == pytest.approx([12, 6])
    table = ruled({"a": 1, "b": 4}, lambda _, other: other).only([("a", "a"), ("b", "b")])
    stranger = ruled({"z": 1}).by_name["z"]
    assert row_means(table).slowdowns([(stranger, stranger)]) == pytest.approx([2.0])
