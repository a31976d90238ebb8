"""Gradient: statistics that show how noisy a job's gradients are."""

from typing import NamedTuple


class Gradient(NamedTuple):
    """Statistics of a job's gradients at its initial batch size. Their ratio is a measure of the noise."""

    sqr: float  # squared norm of the mean gradient
    var: float  # variance of the gradient of an initial batch
