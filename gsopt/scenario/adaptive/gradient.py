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

    Examples
    --------
    >>> Gradient(sqr=0.5, var=2.0).var
    2.0
    """

    sqr: float
    var: float
