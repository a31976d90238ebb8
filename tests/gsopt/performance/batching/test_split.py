"""The cheapest division of GPUs."""

from itertools import product
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.performance.batching.split import split, widest
from tests.effort import cases
from tests.strategies.batching import drawn_costs

Floats = NDArray[np.float64]


def totals(costs: Floats, gpus: int) -> dict[int, float]:
    """Return the least total by GPUs used, by trying every division."""
    found: dict[int, float] = {}
    for counts in product(range(costs.shape[1]), repeat=len(costs)):
        used, total = sum(counts), sum(costs[job, count] for job, count in enumerate(counts))
        if used <= gpus and total < found.get(used, inf):
            found[used] = float(total)
    return found


def test_is_the_least_of_all_divisions() -> None:
    """On random costs the division has the least total that any has, by all GPUs or by any number."""
    random, solved = np.random.default_rng(1), 0
    for _ in range(cases(1500)):
        costs, gpus = drawn_costs(random)
        best = totals(costs, gpus)
        for use_all in (True, False):
            if not best:
                with pytest.raises(InvalidInput, match="must be jobs that can all run"):
                    split(costs, gpus, use_all=use_all)
                continue
            counts = split(costs, gpus, use_all=use_all)
            total = sum(costs[job, count] for job, count in enumerate(counts))
            wanted = best[max(best)] if use_all else min(best.values())
            assert np.isclose(total, wanted, rtol=SUM, atol=SUM)
            assert not use_all or counts.sum() == max(best)
            solved += 1
    assert solved > cases(1500)


def test_wide_menus_take_several_blocks() -> None:
    """A job of 300 GPUs beside another divides them as the formula of both says."""
    count = np.arange(301)
    costs = np.vstack([(count - 40.0) ** 2, (count - 190.0) ** 2])
    assert split(costs, 250).tolist() == [50, 200]
    assert split(costs, 250, use_all=False).tolist() == [40, 190]


def test_who_must_run_does() -> None:
    """A job that must run has a GPU though another would have it cheaper; nobody else is touched."""
    costs = np.array([[0.0, 9.0], [0.0, 1.0]])
    assert split(costs, 1).tolist() == [0, 1]
    assert split(costs, 1, must=[True, False]).tolist() == [1, 0]
    assert costs[0, 0] == 0
    with pytest.raises(InvalidInput, match="must be jobs that can all run on 1 GPUs"):
        split(costs, 1, must=[True, True])


def test_shapes_that_do_not_fit_are_refused() -> None:
    """A table has two dimensions and a column for no GPUs, and everybody is told of."""
    with pytest.raises(InvalidInput, match="costs: \\(2,\\): must have a row for each job"):
        split([1.0, 2.0], 1)
    with pytest.raises(InvalidInput, match="must: \\(1,\\): must have the shape \\(2,\\)"):
        split([[0.0], [0.0]], 1, must=[True])
    assert split([], 3).tolist() == []


def test_widths_by_hand() -> None:
    """The most GPUs are the last that are allowed, and 0 where nothing is."""
    assert widest(np.array([[0, inf, 1, inf], [inf] * 4, [0, inf, inf, inf]])).tolist() == [2, 0, 0]
