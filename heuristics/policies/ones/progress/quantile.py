"""Quantiles of Beta distributions, also where scipy's are wrong."""

import numpy as np
from numpy.typing import ArrayLike

from gsopt.core.numbers.tolerances import QUANTILE
from heuristics.policies.ones.progress.observation import Floats

#: Bisections that determine the logarithm of a quantile, which is at least that of the least double.
_BISECTIONS = 64

#: Logarithm of the least double.
_LEAST = -745.0


def beta_quantile(alpha: ArrayLike, beta: ArrayLike, probability: float) -> Floats:
    """Return the quantile of Beta(alpha, beta) at a probability.

    `scipy.special.betaincinv` is too large by a factor of two for some shapes, such as 1,000 and 2e8; if the
    distribution function does not cross the probability near its result, the quantile is found by bisection.
    """
    from scipy.special import betainc, betaincinv

    alpha, beta = np.broadcast_arrays(np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float))
    found = np.asarray(betaincinv(alpha, beta, probability), dtype=float)
    below, above = found * (1 - QUANTILE), np.minimum(found * (1 + QUANTILE), 1.0)
    is_wrong = (betainc(alpha, beta, below) > probability) | (betainc(alpha, beta, above) < probability)
    if not is_wrong.any():
        return found
    return np.where(is_wrong, _bisected(alpha, beta, probability), found)


def _bisected(alpha: Floats, beta: Floats, probability: float) -> Floats:
    """Find quantiles by bisection on a logarithmic scale."""
    from scipy.special import betainc

    low, high = np.full(alpha.shape, _LEAST), np.zeros(alpha.shape)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_below = betainc(alpha, beta, np.exp(middle)) < probability
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    result: Floats = np.exp(high)
    return result
