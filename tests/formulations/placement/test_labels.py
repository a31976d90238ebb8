"""Labels: fillings that pay, and bounds on all, however fine the amounts and many the resources."""

import numpy as np
import pytest

from formulations.placement.labels import Labels
from formulations.placement.packing import Integers, Reals
from gsopt.core.budget import Budget
from tests.effort import cases
from tests.strategies.fillings import best_worth

FOREVER = Budget()


@pytest.mark.parametrize("seed", range(cases(60)))
def test_the_best_filling_is_found(seed: int) -> None:
    """For one to five resources the bound of every room is the value of enumeration, or its rent where less."""
    random = np.random.default_rng(seed)
    resources = 1 + seed % 5
    demands = random.integers(0, 9_000, size=(5, resources)) + 1
    rooms = random.integers(9_000, 20_000, size=(2, resources))
    worth = np.where(random.random(5) < 0.8, random.random(5), 0.0)
    rents, totals = random.random(2) * seed / 60, random.integers(1, 4, size=5)
    priced = Labels(demands, rooms, totals)(worth, rents, budget=FOREVER)
    best = [enumerated(demands, worth, room, totals) for room in rooms]

    assert (priced.most >= np.array(best) - 1e-9).all()
    assert priced.most.tolist() == pytest.approx(np.maximum(best, rents).tolist())
    for room, counts in zip(priced.room, priced.counts, strict=True):
        assert (counts @ demands <= rooms[room]).all()
        assert (counts <= totals).all()
        assert worth @ counts > rents[room]
    paying = {room for room in range(2) if best[room] > rents[room] + 1e-6}
    assert set(priced.room) == paying


def enumerated(demands: Integers, worth: Reals, room: Integers, totals: Integers) -> float:
    """Find the most that a filling is worth with no more workers than there are."""
    single = np.repeat(np.arange(len(demands)), totals)
    return best_worth(demands[single], worth[single], room, 1)


@pytest.mark.parametrize("resources", [1, 3])
def test_bounds_hold_where_few_fillings_are_followed(resources: int) -> None:
    """Where only ten fillings go on the bound is still above all, and what is found is a filling."""
    for seed in range(cases(20)):
        random = np.random.default_rng(seed)
        demands = random.integers(1, 400, size=(12, resources))
        rooms, totals = np.full((1, resources), 1_000), np.ones(12, dtype=np.int64)
        worth = random.random(12)
        priced = Labels(demands, rooms, totals, widths=(10,))(worth, np.zeros(1), budget=FOREVER)

        assert priced.most[0] >= best_worth(demands, worth, rooms[0], 1) - 1e-9
        assert all((counts @ demands <= 1_000).all() for counts in priced.counts)


def test_without_time_there_is_a_bound() -> None:
    """Without time there is no filling, and a bound that holds."""
    priced = Labels(np.array([[4], [3]]), np.array([[8]]), np.array([1, 9]))(
        np.array([0.5, 0.4]), np.zeros(1), budget=Budget(time_limit=0.0)
    )

    assert priced.counts == []
    assert priced.most[0] >= 0.9


def test_hundreds_of_sizes_on_a_fine_capacity() -> None:
    """With 200 sizes on a capacity of 100,000 the best filling is found, though there are millions."""
    random = np.random.default_rng(1)
    demands = random.integers(20_000, 35_000, size=(200, 1))
    worth = demands[:, 0] / 100_000 + random.random(200) * 0.01
    priced = Labels(demands, np.array([[100_000]]), np.ones(200, dtype=np.int64), widths=(50_000,))(
        worth, np.array([0.99]), budget=FOREVER
    )

    best = max(worth @ counts for counts in priced.counts)
    assert best == pytest.approx(priced.most[0])
