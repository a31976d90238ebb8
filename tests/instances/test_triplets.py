"""Sizes of which three fill a bin, or just do not."""

from random import Random

import pytest

from gsopt.core.errors import InvalidInput
from instances.triplets import LEAST_CAPACITY, MOST_EXCESS, triplets


@pytest.mark.parametrize("excess", range(MOST_EXCESS + 1))
@pytest.mark.parametrize("capacity", range(LEAST_CAPACITY, LEAST_CAPACITY + 9))
def test_three_sizes_come_to_a_bin_and_the_excess(capacity: int, excess: int) -> None:
    """All sizes together are what was asked for, and each is between a quarter and half of a bin."""
    sizes = triplets(Random(1), bins=5, capacity=capacity, excess=excess)

    assert len(sizes) == 15
    assert sum(sizes) == 5 * (capacity + excess)
    assert all(capacity < 4 * size and 2 * size < capacity for size in sizes)


def test_the_same_random_numbers_give_the_same_sizes() -> None:
    """Sizes follow from the source of random numbers alone."""
    first, second, other = (triplets(Random(seed), bins=5, capacity=64, excess=0) for seed in (1, 1, 2))

    assert first == second != other


@pytest.mark.parametrize("excess", [-1, MOST_EXCESS + 1])
def test_an_excess_out_of_range_is_refused(excess: int) -> None:
    """A line names the excess and its range."""
    with pytest.raises(InvalidInput, match=f"excess: {excess}: must be between 0 and {MOST_EXCESS}"):
        triplets(Random(1), bins=1, capacity=16, excess=excess)
