"""Quantiles of Beta distributions, where that of scipy is wrong too."""

import numpy as np
from numpy.typing import ArrayLike

from gsopt.core.numbers.tolerances import QUANTILE
from heuristics.policies.ones.progress.observation import Floats

#: Halvings after which the logarithm of a quantile, which is at least that of the least double, is a double.
_HALVINGS = 64

#: Logarithm of the least double.
_LEAST = -745.0


def beta_quantile(alpha: ArrayLike, beta: ArrayLike, probability: float) -> Floats:
    """Return what Beta(alpha, beta) variates do not pass with a probability.

    `scipy.special.betaincinv` is twice too large for some shapes, as 1,000 and 2e8; where the distribution
    function does not pass the probability beside what it gives, the quantile is found by halving.
    """
    from scipy.special import betainc, betaincinv

    alpha, beta = np.broadcast_arrays(np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float))
    found = np.asarray(betaincinv(alpha, beta, probability), dtype=float)
    below, above = found * (1 - QUANTILE), np.minimum(found * (1 + QUANTILE), 1.0)
    is_wrong = (betainc(alpha, beta, below) > probability) | (betainc(alpha, beta, above) < probability)
    if not is_wrong.any():
        return found
    return np.where(is_wrong, _halved(alpha, beta, probability), found)


def _halved(alpha: Floats, beta: Floats, probability: float) -> Floats:
    """Find quantiles by the distribution function alone, on a logarithmic scale."""
    from scipy.special import betainc

    low, high = np.full(alpha.shape, _LEAST), np.zeros(alpha.shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_below = betainc(alpha, beta, np.exp(middle)) < probability
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    result: Floats = np.exp(high)
    return result
