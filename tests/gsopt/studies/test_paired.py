"""Paired: the signed-rank test of two schedules, against the sums of ranks of all signs."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.studies.paired import Paired, signed_ranks
from tests.effort import cases


@settings(max_examples=cases(100), deadline=None)
@given(
    magnitudes=st.lists(st.integers(1, 1000), unique=True, min_size=1, max_size=8),
    signs=st.lists(st.sampled_from([-1, 1]), min_size=8, max_size=8),
    same=st.integers(0, 2),
)
def test_p_is_the_share_of_signs(magnitudes: list[int], signs: list[int], same: int) -> None:
    """Without ties p is the share of all signs whose sum of positive ranks is as small, or as large."""
    differences = [sign * size for sign, size in zip(signs, magnitudes, strict=False)]
    found = signed_ranks([*differences, *[7] * same], [*[0] * len(differences), *[7] * same])
    ranks = {size: rank for rank, size in enumerate(sorted(magnitudes), start=1)}
    positive = sum(ranks[size] for size in differences if size > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks.values(), drawn, strict=True) if sign > 0)
        for drawn in product((-1, 1), repeat=len(ranks))
    ]
    less = sum(each <= positive for each in sums) / len(sums)
    greater = sum(each >= positive for each in sums) / len(sums)
    assert found.pairs == len(differences)
    assert (found.less, found.greater) == pytest.approx((less, greater))
    assert found.two_sided == pytest.approx(min(1, 2 * min(less, greater)))


def test_jobs_that_are_all_alike() -> None:
    """Where no pair differs nothing speaks for either schedule, as without jobs."""
    assert signed_ranks([3, 4], [3, 4]) == Paired(0, 0.0, 1.0, 1.0, 1.0)
    assert signed_ranks([], []) == Paired(0, 0.0, 1.0, 1.0, 1.0)


def test_pairs_belong_together() -> None:
    """Figures of different numbers of jobs are refused."""
    with pytest.raises(InvalidInput, match=r"second: '?1 figures'?: must be as many as the 2"):
        signed_ranks([1, 2], [1])
