"""Many values as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gsopt.core.errors import InvalidInput
from gsopt.studies.statistics import percentile, statistic

_VALUES = some.lists(some.floats(0.1, 1e6), min_size=1)


@given(_VALUES, some.floats(0, 100))
def test_percentiles_are_the_smallest_values_that_do(values: list[float], percent: float) -> None:
    """At least the share of the values is no larger, and no smaller value has that property."""
    found = percentile(values, percent)
    at_most = sum(value <= found for value in values)
    assert found in values
    assert at_most * 100 >= percent * len(values) - 1e-6
    below = [value for value in values if value < found]
    assert not below or sum(value <= max(below) for value in values) * 100 < percent * len(values) + 1e-6


@given(_VALUES)
def test_statistics_lie_within_the_values(values: list[float]) -> None:
    """Means, medians and percentiles lie between the smallest and the largest value."""
    for name in ("mean", "median", "geomean", "p25", "p99.9"):
        found = statistic(name)(values)
        assert found is not None
        assert min(values) <= found * (1 + 1e-9)
        assert found <= max(values) * (1 + 1e-9)


def test_values_that_have_no_statistic() -> None:
    """Nothing has no mean, one value no deviation, and values of 0 no geometric mean."""
    assert [statistic("mean")([]), statistic("deviation")([3.0]), statistic("geomean")([0.0, 1.0])] == [
        None
    ] * 3


@pytest.mark.parametrize("name", ["average", "p", "p1000", "P99", ""])
def test_unknown_statistics(name: str) -> None:
    """What is no statistic is refused with what there is."""
    with pytest.raises(InvalidInput, match="must be a percentile such as p99, or one of mean, median"):
        statistic(name)
