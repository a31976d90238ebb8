"""Cost tables."""

from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from gsopt.core.errors import InvalidInput
from heuristics.batching.evolution import CostTable

INF = float("inf")


def test_what_follows_from_the_costs() -> None:
    """Caps, the next lower number of GPUs and the fewest follow from which costs are finite."""
    table = CostTable.of(
        ["a", "b", "c"],
        [[0, INF, 5, INF, 7], [0, 1, INF, INF, INF], [0, INF, INF, INF, INF]],
        weight=[1, 2, 3],
        forced=[True, False, False],
        processed_seconds=[1, 5, 1],
    )

    assert table.lower.tolist() == [[0, 0, 2, 2, 4], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0]]
    assert table.cap.tolist() == [4, 1, 0]
    assert table.least.tolist() == [2, 0, 0]
    assert table.victims.tolist() == [1, 0, 2]
    assert table.used_cost.tolist() == [[0, INF, 5, INF, 7], [0, 2, INF, INF, INF], [0, INF, INF, INF, INF]]


def test_weights_are_drawn() -> None:
    """Costs are those of the weights that are drawn, the extra ones apart; without a draw they are as known."""
    known = CostTable.of(["a"], [[0, 2]], weight=[3], extra_cost=[[1, 5]])
    drawn = CostTable.of(
        ["a"],
        [[0, 2]],
        weight=[3],
        extra_cost=[[1, 5]],
        draw=lambda generator: generator.choice([4.0, 5.0], size=1),
    )

    assert known.drawn_cost(default_rng(0)).tolist() == [[1, 11]]
    assert {drawn.drawn_cost(default_rng(seed))[0, 1] for seed in range(9)} == {13, 15}
    assert drawn.used_cost.tolist() == [[1, 11]]


def test_there_may_be_nothing() -> None:
    """No jobs and no GPUs are a table too."""
    assert CostTable.of([], [], weight=[]).used_cost.shape == (0, 1)
    assert CostTable.of([], np.zeros((0, 4)), weight=[]).gpus == 3
    assert CostTable.of(["a"], [[0]], weight=[1], forced=[False]).least.tolist() == [0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"weight": [1]}, "weight: (1,): must have the shape (2,)"),
        ({"forced": [True]}, "forced: (1,): must have the shape (2,)"),
        ({"extra_cost": [[0, 1]]}, "extra_cost: (1, 2): must have the shape of unit_cost, (2, 3)"),
        ({"weight": [1, INF]}, "weight: [1.0, inf]: must be finite"),  # the mean of what is left is infinite
        ({"forced": [True, True]}, "forced: 2: must be jobs that can all run at once"),  # 2 and 1 of 2 GPUs
    ],
)
def test_bad_tables_are_refused(options: dict[str, Any], reason: str) -> None:
    """What does not fit is named in one line."""
    given: dict[str, Any] = {"weight": [1, 1]} | options
    with pytest.raises(InvalidInput) as raised:
        CostTable.of(["a", "b"], np.array([[0, INF, 3], [0, 1, 1]]), **given)

    assert str(raised.value) == reason
