"""Gradient: how noisy a job's gradients are."""

from typing import NamedTuple


class Gradient(NamedTuple):
    """Statistics of a job's gradients at its initial batch; their ratio says how noisy they are.

    Attributes
    ----------
    sqr
        Squared norm of the mean gradient.
    var
        Variance of the gradient of an initial batch.
    """

    sqr: float
    var: float
