"""Forecast: distributions of the progress of jobs, and of their remaining samples."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from gsopt.core.errors import InvalidInput, require_one_of, shorten
from gsopt.core.numbers.tolerances import LEAST_VARIATE, QUANTILE
from heuristics.policies.ones.progress.observation import Floats

#: Which central value of the remaining samples to use; ``mean_progress`` is their value at the mean progress.
Centre = Literal["mean", "median", "mean_progress"]

#: Number of bisections that determine the logarithm of a quantile, which is at least `_LEAST`.
_BISECTIONS = 64

#: Logarithm of the smallest positive double.
_LEAST = -745.0


@dataclass(frozen=True)
class Forecast:
    """Beta distributions of the progress of n jobs: Beta(alpha[j], beta[j]) for the progress rho of job j.

    With Y processed samples, Y (1 / rho - 1) samples remain. Their mean is Y beta / (alpha - 1). For alpha = 1,
    and thus for every job in its first epoch, the mean is infinite, and averages of draws do not converge.
    Instead, use the median, or the remaining samples at the mean of rho: Y beta / alpha, which is the mean for
    alpha + 1.

    Source: ONES, section 3.2.1, Equations 6 and 7.

    Attributes
    ----------
    alpha, beta
        Parameters of the distributions, both at least 1: roughly the processed and the remaining epochs.
    processed
        Processed samples Y of each job, above 0.

    Examples
    --------
    >>> forecast = Forecast.of(alpha=[1, 3], beta=[6, 6], processed=[10_000, 30_000])
    >>> forecast.left("mean"), forecast.left("mean_progress"), forecast.left("median").round()
    (array([   inf, 90000.]), array([60000., 60000.]), array([81658., 63598.]))
    >>> [bound.round(2) for bound in forecast.interval(0.9)]
    [array([0.01, 0.11]), array([0.39, 0.6 ])]
    """

    alpha: Floats
    beta: Floats
    processed: Floats

    @classmethod
    def of(cls, alpha: ArrayLike, beta: ArrayLike, processed: ArrayLike) -> "Forecast":
        """Build a forecast from numbers or sequences, which are broadcast together.

        Raises
        ------
        InvalidInput
            A value is out of range.

        Examples
        --------
        >>> Forecast.of(1, [2, 3], 1000).mean_progress
        array([0.33333333, 0.25      ])
        """
        arrays = np.broadcast_arrays(*(np.asarray(each, dtype=float) for each in (alpha, beta, processed)))
        for name, values, least in zip(("alpha", "beta", "processed"), arrays, (1.0, 1.0, 0.0), strict=True):
            good = np.isfinite(values) & (values >= least if least else values > least)
            for value in values[~good][:1]:
                rule = f"must be {'at least' if least else 'more than'} {least:g}, and finite"
                raise InvalidInput(name, shorten(float(value)), rule)
        return cls(*arrays)

    @property
    def mean_progress(self) -> Floats:
        """The mean of rho, alpha / (alpha + beta)."""
        result: Floats = self.alpha / (self.alpha + self.beta)
        return result

    def quantile(self, probability: float) -> Floats:
        """Return the quantile of each job's progress at the given probability."""
        return beta_quantile(self.alpha, self.beta, _valid(probability))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the central interval that holds each job's progress with probability `level`."""
        tail = (1 - _valid(level)) / 2
        return self.quantile(tail), self.quantile(1 - tail)

    def reached(self, progress: ArrayLike) -> Floats:
        """Return, for each job, the probability that its progress is at most the given value."""
        from scipy.special import betainc

        return np.asarray(betainc(self.alpha, self.beta, np.asarray(progress, dtype=float)), dtype=float)

    def left(self, centre: Centre = "median") -> Floats:
        """Return each job's remaining samples: their median, their mean, or their value at mean progress."""
        require_one_of("centre", centre, get_args(Centre))
        if centre == "median":
            return self.left_quantile(0.5)
        shape = self.alpha - 1 if centre == "mean" else self.alpha
        with np.errstate(divide="ignore"):
            result: Floats = self.processed * self.beta / shape
        return result

    def left_quantile(self, probability: float) -> Floats:
        """Return the quantile of each job's remaining samples at the given probability."""
        done = beta_quantile(self.alpha, self.beta, 1 - _valid(probability))
        # 1 - rho is Beta(beta, alpha) distributed; the difference would lose digits near rho = 1
        undone = beta_quantile(self.beta, self.alpha, probability)
        with np.errstate(divide="ignore"):
            result: Floats = self.processed * undone / done
        return result

    def draw(self, generator: np.random.Generator) -> Floats:
        """Draw the remaining samples of each job (Algorithm 1, line 2, and Equation 7)."""
        undone = np.maximum(generator.standard_gamma(self.beta), LEAST_VARIATE)
        done = np.maximum(generator.standard_gamma(self.alpha), LEAST_VARIATE)
        result: Floats = self.processed * (undone / done)
        return result


def _valid(probability: float) -> float:
    if not 0 <= probability <= 1:
        raise InvalidInput("probability", shorten(probability), "must be at least 0 and at most 1")
    return probability


def beta_quantile(alpha: ArrayLike, beta: ArrayLike, probability: float) -> Floats:
    """Return the quantile of Beta(alpha, beta) at the given probability.

    For some shapes, such as 1,000 and 2e8, `scipy.special.betaincinv` is inaccurate. In such cases, the
    quantile is found by bisection.
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
    """Return quantiles by bisection on a logarithmic scale."""
    from scipy.special import betainc

    low, high = np.full(alpha.shape, _LEAST), np.zeros(alpha.shape)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_below = betainc(alpha, beta, np.exp(middle)) < probability
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    result: Floats = np.exp(high)
    return result
