"""Multipliers: what they prove of a server."""

import numpy as np
import pytest

from formulations.placement.multipliers import multipliers
from gsopt.core.budget import Budget
from tests.strategies.fillings import best_worth


@pytest.mark.parametrize("seed", range(10))
def test_they_bound_every_filling(seed: int) -> None:
    """Resources at their multipliers and workers beyond them are worth at least the best filling."""
    random = np.random.default_rng(seed)
    demands, room = random.integers(1, 9, size=(8, 1 + seed % 4)), np.full(1 + seed % 4, 20)
    worth, totals = random.random(8), np.ones(8, dtype=np.int64)
    prices = multipliers(demands, room, totals, worth, Budget())
    bound = prices @ room + np.maximum(worth - demands @ prices, 0).sum()

    assert (prices >= 0).all()
    assert best_worth(demands, worth, room, 1) <= bound + 1e-9
    assert bound <= worth.sum() + 1e-9


def test_without_time_they_are_zero() -> None:
    """Without time they bound nothing but the sum of all."""
    demands, ones = np.ones((3, 2), dtype=np.int64), np.ones(3, dtype=np.int64)
    prices = multipliers(demands, demands[0], ones, np.ones(3), Budget(time_limit=0.0))

    assert prices.shape == (2,)
    assert (prices >= 0).all()
