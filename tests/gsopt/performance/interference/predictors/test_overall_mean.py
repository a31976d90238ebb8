"""The mean of the table."""

import pytest

from gsopt.performance.interference.predictors import overall_mean
from tests.gsopt.performance.interference.tables import ruled


def test_it_is_geometric() -> None:
    """Of slowdowns of 1 and 9 it is 3, for every pair."""
    table = ruled({"a": 1, "b": 9}, lambda _, other: other)
    assert overall_mean(table).slowdowns([(table.profiles[0],) * 2]) == pytest.approx([3.0])
