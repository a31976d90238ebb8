"""Layers: every extension of every filling, and nothing else."""

import numpy as np

from formulations.placement.layers import extend, fitting


def test_every_number_that_fits_is_one_extension() -> None:
    """Fillings are extended by every number of workers up to what fits, in all resources."""
    free, need = np.array([[8, 5, 1], [9, 9, 9]]), np.array([2, 3])
    holds = fitting(free, need, most=9)
    parents, numbers, left = extend(free, need, holds)

    assert holds.tolist() == [3, 2, 0]
    assert sorted(zip(parents.tolist(), numbers.tolist(), strict=True)) == [
        *((0, number) for number in range(4)),
        *((1, number) for number in range(3)),
        (2, 0),
    ]
    assert (left == free[:, parents] - need[:, np.newaxis] * numbers).all()


def test_resources_that_are_not_needed_do_not_limit() -> None:
    """A need of 0 fits wherever the others do."""
    assert fitting(np.array([[0, 0], [4, 1]]), np.array([0, 2]), most=5).tolist() == [2, 0]
