"""MaxValueDP, against enumeration."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import Unsupported
from heuristics.allocation.max_value import max_value
from tests.effort import cases

ITEM = st.tuples(st.integers(1, 9), st.integers(-5, 30).map(float))


@given(st.lists(st.lists(ITEM, max_size=3), max_size=4), st.integers(0, 20))
@settings(deadline=None, max_examples=cases(200))
def test_finds_the_largest_value(groups: list[list[tuple[int, float]]], capacity: int) -> None:
    """Items in any order: the choice fits, and no other choice that fits is worth more."""
    chosen = max_value(groups, capacity)
    taken = [items[number - 1] for items, number in zip(groups, chosen, strict=True) if number]
    assert sum(weight for weight, _ in taken) <= capacity
    best = max(
        sum(value for _, value in choice)
        for choice in product(*([(0, 0.0), *items] for items in groups))
        if sum(weight for weight, _ in choice) <= capacity
    )
    assert sum(value for _, value in taken) == best


def test_items_of_figure_6() -> None:
    """Jobs A (two GPUs per worker) and B of Figure 6 on four GPUs: one extra worker and two, worth 80."""
    job_b = [(1, 20.0), (2, 30.0), (3, 36.0), (4, 40.0)]
    assert max_value([[(2, 50.0)], job_b], 4) == [1, 2]


def test_a_table_too_large_is_refused() -> None:
    """A table that memory cannot hold is refused with its size."""
    with pytest.raises(Unsupported, match="2,000 groups by 1,000,000 GPUs"):
        max_value([[(500, 1.0)]] * 2_000, 10**9)


def test_a_run_too_long_is_refused() -> None:
    """A table of few rows is refused too when its items make it take minutes."""
    with pytest.raises(Unsupported, match="3 groups by 3,000,000 GPUs"):
        max_value([[(1_000_000, 1.0)] * 60] * 3, 10**9)
