"""Fronts: NSGA-II's selection of candidates with two scores to maximize."""

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from heuristics.goodput.table import Floats

_Places = NDArray[np.int64]


def ranks(scores: Floats) -> _Places:
    """Return the index of each candidate's front, which is 0 if no other candidate dominates it.

    Each later front consists of the candidates that are not dominated once all earlier fronts are removed.
    """
    found = np.zeros(len(scores), dtype=np.int64)
    best: list[
        float
    ] = []  # negated second goal of each front so far: candidates that are no better are dominated
    before, front = None, 0
    for place in np.lexsort((-scores[:, 1], -scores[:, 0])).tolist():
        score = scores[place].tolist()
        if score != before:
            front = bisect_right(best, -score[1])
            best[front : front + 1] = [-score[1]]
            before = score
        found[place] = front
    return found


def survivors(scores: Floats, number: int) -> _Places:
    """Return the indices of the best `number` candidates, by front, then by crowding distance (NSGA-II)."""
    fronts = ranks(scores)
    return np.lexsort((-_distances(scores, fronts), fronts))[:number]


def _distances(scores: Floats, fronts: _Places) -> Floats:
    """Return the crowding distance of each candidate in its front, which is infinite at both ends."""
    found = np.zeros(len(scores))
    for goal in scores.T:
        order = np.lexsort((goal, fronts))
        sides = np.diff(fronts[order], prepend=-1, append=-1) != 0
        ordered = goal[order]
        first = np.maximum.accumulate(np.where(sides[:-1], np.arange(len(order)), 0))
        last = np.minimum.accumulate(np.where(sides[1:], np.arange(len(order)), len(order))[::-1])[::-1]
        spread = ordered[last] - ordered[first]
        between = np.roll(ordered, -1) - np.roll(ordered, 1)
        alone = sides[:-1] | sides[1:]
        found[order] += np.where(alone, np.inf, between / np.where(spread > 0, spread, 1.0))
    return found
