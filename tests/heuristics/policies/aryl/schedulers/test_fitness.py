"""Fitness: the power mean of speedups."""

import numpy as np
import pytest

from gsopt.core.numbers.tolerances import SUM
from heuristics.policies.aryl.epoch import Elastic
from heuristics.policies.aryl.schedulers.fitness import Fitness
from tests.heuristics.policies.aryl.schedulers.epochs import calm, linear


@pytest.mark.parametrize(("power", "mean"), [(-1, 3 / 4), (0, 0.75**0.5), (1, 1), (2, 1.25**0.5)])
def test_means_by_hand(power: float, mean: float) -> None:
    """On 2 of 4 GPUs each the fair speed is 2; with 3 and 1 workers speedups are 3/2 and 1/2."""
    fitness = Fitness.of(calm(linear(0, 9), linear(1, 9), training=2), power=power)
    assert fitness.mean(np.array([2, 0])) == pytest.approx(mean, rel=SUM)


def test_more_is_better_for_every_power() -> None:
    """The worth of rows rises with the power mean, whatever the sign of the power."""
    epoch = calm(linear(0, 9), linear(1, 9, base=2), training=4)
    rows = np.array([[a, b] for a in range(4) for b in range(3)])
    for power in (-2.0, -1.0, 0.0, 1.0, 3.0):
        fitness = Fitness.of(epoch, power=power)
        means = np.array([fitness.mean(row) for row in rows])
        assert (np.diff(means[np.argsort(fitness.of_rows(rows))]) > -SUM).all()


def test_gaps_and_doubling() -> None:
    """Numbers that are not allowed count as the next smaller one, and nobody more than doubles."""
    gap = Elastic(0, 9.0, 1, 2, 8, 1, "training", (2.0, 3.0, 0.0, 5.0, 0.0, 0.0, 8.0))
    assert Fitness.of(calm(gap, training=9), power=-1).allowed.tolist() == [[0, 1, 1, 3, 3, 3, 6]]
    assert Fitness.of(calm(gap, training=9), power=-1, doubling=True).allowed.tolist() == [[0, 1, 1, 3, 3]]
