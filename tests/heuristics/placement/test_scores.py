"""Scores take arrays and single servers alike."""

import numpy as np
import pytest

from heuristics.placement.scores import first, roomiest, roomiest_in_use, tightest


@pytest.mark.parametrize("score", [tightest, first, roomiest, roomiest_in_use])
def test_arrays_are_scored_like_single_servers(score: object) -> None:
    """The scores of an array are those of its servers one by one."""
    assert callable(score)
    free, empty = np.array([3, 8, 0, 8]), np.array([False, True, False, False])
    together = score(free, empty, np.arange(4))

    assert together.tolist() == [score(int(free[k]), bool(empty[k]), k) for k in range(4)]


@pytest.mark.parametrize(
    ("score", "order"),
    [
        (tightest, [2, 0, 3, 1]),
        (first, [0, 1, 2, 3]),
        (roomiest, [1, 3, 0, 2]),
        (roomiest_in_use, [3, 0, 2, 1]),
    ],
    ids=["tightest", "first", "roomiest", "roomiest in use"],
)
def test_the_order_of_servers(score: object, order: list[int]) -> None:
    """Servers with 3, 8, 0 and 8 free GPUs, of which the second is empty, come in this order."""
    assert callable(score)
    scores = score(np.array([3, 8, 0, 8]), np.array([False, True, False, False]), np.arange(4))

    assert np.argsort(scores, kind="stable").tolist() == order
