"""Table: the best filling of every room, by dynamic programming."""

import numpy as np
import pytest

from formulations.placement.table import WorthTable
from gsopt.core.budget import Budget
from tests.strategies.fillings import best_worth

FOREVER = Budget()


@pytest.mark.parametrize("seed", range(25))
def test_the_table_finds_the_best_filling(seed: int) -> None:
    """For random demands, some without GPU, and random rooms the table gives the value of enumeration."""
    random = np.random.default_rng(seed)
    demands = np.unique(random.integers((0, 1, 0), (3, 6, 4), size=(4, 3)), axis=0)
    rooms = random.integers(0, (6, 9, 7), size=(3, 3))
    worth = np.where(random.random(len(demands)) < 0.8, random.random(len(demands)), 0.0)
    priced = WorthTable(demands, rooms)(worth, np.zeros(3), budget=FOREVER)

    assert priced.most == pytest.approx([best_worth(demands, worth, room, 9) for room in rooms])
    for room, counts in zip(priced.room, priced.counts, strict=True):
        assert (counts @ demands <= rooms[room]).all()
    best = np.zeros(3)
    np.maximum.at(best, priced.room, [worth @ counts for counts in priced.counts])
    assert best.tolist() == pytest.approx(priced.most.tolist())


def test_the_table_gives_fillings_that_pay() -> None:
    """Only fillings worth more than their rent are given, the best first, and no more than asked for."""
    demands, rooms = np.array([[4], [3]]), np.array([[8], [3]])
    worth, rents = np.array([0.5, 0.4]), np.array([0.85, 0.5])
    priced = WorthTable(demands, rooms)(worth, rents, budget=FOREVER)

    assert [(room, counts.tolist()) for room, counts in zip(priced.room, priced.counts, strict=True)] == [
        (0, [2, 0]),
        (0, [2, 0]),
        (0, [1, 1]),
    ]
    assert priced.most.tolist() == [1.0, 0.4]
    assert len(WorthTable(demands, rooms, most_fillings=1)(worth, rents, budget=FOREVER).counts) == 1


def test_without_time_nothing_is_known() -> None:
    """Without time there is no filling and no bound."""
    priced = WorthTable(np.array([[4], [3]]), np.array([[8]]))(
        np.ones(2), np.zeros(1), budget=Budget(time_limit=0.0)
    )

    assert (priced.counts, priced.most.tolist()) == ([], [np.inf])
