"""Items on machines, against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.policies.aryl.knapsack import choose, left_over
from tests.effort import cases


def _places(sizes: tuple[int, ...], rooms: list[int]) -> bool:
    """Check whether items can be placed, by trying every machine for each."""
    if not sizes:
        return True
    return any(
        _places(sizes[1:], [room - sizes[0] * (number == machine) for number, room in enumerate(rooms)])
        for machine in range(len(rooms))
        if rooms[machine] >= sizes[0]
    )


@settings(max_examples=cases(300), deadline=None)
@given(
    items=st.lists(st.tuples(st.sampled_from([1, 2, 4]), st.integers(-1, 9)), max_size=7),
    rooms=st.lists(st.integers(0, 6), min_size=1, max_size=3),
)
def test_the_best_that_can_be_placed(items: list[tuple[int, int]], rooms: list[int]) -> None:
    """No other choice that can be placed is worth more."""
    sizes = np.array([size for size, _ in items], dtype=np.int64)
    gains = np.array([gain for _, gain in items], dtype=np.float64)
    chosen = choose(sizes, gains, np.array(rooms))
    assert _places(tuple(sorted(sizes[chosen].tolist(), reverse=True)), rooms)
    best = max(
        sum(gain for (_, gain), taken in zip(items, choice, strict=True) if taken)
        for choice in product([False, True], repeat=len(items))
        if _places(
            tuple(sorted((s for (s, _), t in zip(items, choice, strict=True) if t), reverse=True)), rooms
        )
    )
    assert gains[chosen].sum() == pytest.approx(best)


def test_the_first_of_equals() -> None:
    """Of items of one size and gain the first are chosen."""
    chosen = choose(np.full(5, 2), np.full(5, 1.0), np.array([4]))
    assert chosen.tolist() == [True, True, False, False, False]


def test_what_is_left() -> None:
    """Items fill the fullest machines that hold them, the largest items first."""
    assert left_over(np.array([8, 4, 5]), np.array([4, 4, 1])).tolist() == [8, 0, 0]
    assert left_over(np.array([3]), np.array([], dtype=np.int64)).tolist() == [3]
