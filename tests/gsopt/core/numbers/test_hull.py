"""The hull covers its menu, its steps lead through the menu, and their efficiency falls."""

from fractions import Fraction
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.numbers.hull import HullSegment, concave_hull

menus = st.dictionaries(st.integers(1, 64), st.floats(1e-9, 1e6), min_size=1, max_size=8).map(
    lambda speeds: tuple(speeds.items())
)


@given(menu=menus)
def test_the_hull_covers_the_menu_and_is_covered(menu: tuple[tuple[int, float], ...]) -> None:
    """Corners are entries of the menu, and no entry lies above the line between two corners."""
    hull = concave_hull(menu)
    corners: list[tuple[int, Fraction]] = [(0, Fraction(0))]
    for segment in hull:
        gpus = corners[-1][0] + segment.gpus
        corners.append((gpus, Fraction(dict(menu)[gpus])))
    fastest = max(speed for _, speed in menu)
    assert corners[-1] == (min(gpus for gpus, speed in menu if speed == fastest), Fraction(fastest))
    for gpus, speed in menu:
        (low, slow), (high, fast) = next(
            (pair for pair in pairwise(corners) if pair[0][0] <= gpus <= pair[1][0]), (corners[-1], corners[-1])
        )
        line = slow if low == high else slow + (fast - slow) * Fraction(gpus - low, high - low)
        assert speed <= line + Fraction(fastest) * Fraction(1, 10**14)


@given(menu=menus)
def test_efficiency_falls(menu: tuple[tuple[int, float], ...]) -> None:
    """Every step adds GPUs and speed, and no more speed for each GPU than the step before, but for rounding."""
    hull = concave_hull(menu)
    assert all(segment.gpus > 0 and segment.speed > 0 for segment in hull)
    rounding = 1e-14 * max(speed for _, speed in menu)
    assert all(right.efficiency <= left.efficiency + rounding for left, right in pairwise(hull))


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 0.1, 1e-9])
def test_a_linear_menu_keeps_all_its_counts(unit: float) -> None:
    """A job of linear speed may run on each of its numbers of GPUs, so each is a corner, rounded or not."""
    counts = (1, 2, 3, 5, 7, 8)
    hull = concave_hull((count, count * unit) for count in counts)
    assert tuple(accumulate(segment.gpus for segment in hull)) == counts


def test_a_rigid_job_has_one_step() -> None:
    """The hull of one entry is the step to it, and without entries there is none."""
    assert concave_hull([(4, 1.0)]) == (HullSegment(4, 1.0),)
    assert concave_hull([]) == ()


def test_the_fastest_of_equal_counts_counts() -> None:
    """Two modes on the same number of GPUs give one corner, the faster one."""
    assert concave_hull([(2, 1.0), (2, 1.5), (2, 0.5)]) == (HullSegment(2, 1.5),)
