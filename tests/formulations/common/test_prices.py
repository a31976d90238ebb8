"""The proof of an assignment."""

from itertools import permutations
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from formulations.common.prices import proves


def matrix(random: Random, rows: int, columns: int) -> NDArray[np.object_]:
    """Draw whole numbers of forty digits with ties, many of them 0."""
    drawn = np.zeros((rows, columns), dtype=object)
    for place in np.ndindex(rows, columns):
        drawn[place] = random.choice((0, 0, 1, 2, 3, random.randint(0, 6))) * (10**40 + random.randint(0, 1))
    return drawn


def pairings(rows: int, columns: int) -> list[tuple[tuple[int, int], ...]]:
    """List all ways to pair rows with columns, each at most once."""
    places = [*range(columns), *([None] * rows)]
    found = {
        tuple((row, column) for row, column in enumerate(chosen) if column is not None)
        for chosen in permutations(places, rows)
    }
    return sorted(found)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 3), (2, 4), (4, 2), (1, 3), (3, 1)])
def test_the_best_is_proven_and_nothing_else(rows: int, columns: int) -> None:
    """Of all pairings exactly those with the largest sum are proven."""
    for seed in range(12):
        savings = matrix(Random(f"{rows} {columns} {seed}"), rows, columns)
        values = {pairs: sum(savings[pair] for pair in pairs) for pairs in pairings(rows, columns)}
        best = max(values.values())
        assert {pairs for pairs in values if proves(savings, pairs)} == {
            pairs for pairs, value in values.items() if value == best
        }, seed


def test_nothing_is_the_best_of_nothing() -> None:
    """No pairs are proven where there is nothing to save, and not where there is."""
    assert proves(np.zeros((0, 3), dtype=object), [])
    assert proves(np.zeros((2, 0), dtype=object), [])
    assert proves(np.zeros((2, 2), dtype=object), [])
    assert not proves(np.array([[1]], dtype=object), [])
