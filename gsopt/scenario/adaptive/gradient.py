"""Gradient: statistics of a job's gradients, which show how noisy they are."""

from typing import NamedTuple


class Gradient(NamedTuple):
    """Statistics of a job's gradients at its initial batch size. Their ratio measures the gradient noise."""

    sqr: float  # squared norm of the mean gradient
    var: float  # variance of the gradient of an initial batch
