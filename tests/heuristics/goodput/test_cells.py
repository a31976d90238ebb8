"""Cells of candidates."""

import numpy as np

from heuristics.goodput.cells import Cells
from tests.effort import cases


def test_sums_are_those_of_the_whole_array() -> None:
    """What the cells say of jobs and nodes is what the candidates say, and they give the candidates back."""
    random = np.random.default_rng(0)
    for _ in range(cases(40)):
        candidates = random.integers(0, 4, size=random.integers(1, 6, size=3)) * (random.random() < 0.8)
        cells = Cells.of(candidates)

        assert (cells.filled() == candidates).all()
        assert (cells.nodes_of_jobs == (candidates > 0).sum(axis=2)).all()
        assert (cells.gpus_of_jobs == candidates.sum(axis=2)).all()
        assert (cells.gpus_on_nodes == candidates.sum(axis=1)).all()


def test_the_first_cells_of_a_group_are_filled_first() -> None:
    """Cells get what they ask for until the limit of their group is reached, one after the other."""
    random = np.random.default_rng(1)
    for _ in range(cases(40)):
        cells = Cells.of(random.integers(0, 5, size=(2, 3, 4)))
        asked, limits = cells.gpus.copy(), random.integers(0, 8, size=6)
        cells.fill(np.arange(len(cells.at)), cells.rows, limits[cells.rows])
        for row in range(6):
            left, own = limits[row], cells.rows == row
            for wanted, got in zip(asked[own].tolist(), cells.gpus[own].tolist(), strict=True):
                assert got == min(wanted, left)
                left -= got
