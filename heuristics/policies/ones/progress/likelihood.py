"""Likelihood: the likelihood of completed jobs' rows, given beta as a function of features."""

from enum import StrEnum

import numpy as np

from heuristics.policies.ones.progress.observation import Floats, ObservationRows


class LinkFunction(StrEnum):
    """The function from the linear predictor u = A x + b to beta, a parameter of a Beta distribution.

    Attributes
    ----------
    THRESHOLD
        max(u, 1), with slope 0 for u < 1; Equation 6 of ONES.
    SOFTPLUS
        1 + ln(1 + exp(u)), which is smooth, at least 1, and about u + 1 for large u. Its slope is positive.

    Examples
    --------
    >>> u = np.array([-50.0, 0.0, 50.0])
    >>> LinkFunction.THRESHOLD.beta(u).tolist(), LinkFunction.SOFTPLUS.beta(u).round(2).tolist()
    ([1.0, 1.0, 50.0], [1.0, 1.69, 51.0])
    >>> LinkFunction.SOFTPLUS.slope(u).round(2).tolist(), round(LinkFunction.SOFTPLUS.inverse(51.0), 2)
    ([0.0, 0.5, 1.0], 50.0)
    """

    THRESHOLD = "threshold"
    SOFTPLUS = "softplus"

    def beta(self, linear: Floats) -> Floats:
        """Return beta for each value of u."""
        if self is LinkFunction.THRESHOLD:
            return np.maximum(linear, 1.0)
        result: Floats = 1.0 + np.logaddexp(0.0, linear)
        return result

    def slope(self, linear: Floats) -> Floats:
        """Return the derivative of beta with respect to u.

        At the kink of the threshold, u = 1, this is the right-hand derivative.
        """
        if self is LinkFunction.THRESHOLD:
            return (linear >= 1.0).astype(float)
        result: Floats = np.exp(-np.logaddexp(0.0, -linear))
        return result

    def inverse(self, beta: float) -> float:
        """Return the value of u at which beta has the given value, which must be above 1."""
        if self is LinkFunction.THRESHOLD:
            return beta
        return float(beta - 1 + np.log(-np.expm1(1 - beta)))


def negative_log_likelihood(beta: Floats, rows: ObservationRows) -> tuple[Floats, Floats]:
    """Return each row's negative log-likelihood in nats, and its derivative with respect to beta.

    The density of a row's progress rho is rho^(alpha - 1) (1 - rho)^(beta - 1) / B(alpha, beta), where alpha is
    `ObservationRows.alpha`. The negative logarithm of this density is ln B(alpha, beta) - (alpha - 1) ln rho -
    (beta - 1) ln(1 - rho). It is convex in beta, with the derivative psi(beta) - psi(alpha + beta) -
    ln(1 - rho).

    Examples
    --------
    >>> rows = ObservationRows(features=np.ones((1, 5)), progress=np.array([0.5]))
    >>> costs, derivatives = negative_log_likelihood(np.array([2.0]), rows)  # the density is 2 (1 - rho)
    >>> float(costs[0]), round(float(derivatives[0]), 3)
    (0.0, 0.193)
    """
    from scipy.special import betaln, psi

    alpha, done, undone = rows.alpha, np.log(rows.progress), np.log1p(-rows.progress)
    costs: Floats = betaln(alpha, beta) - (alpha - 1) * done - (beta - 1) * undone
    derivatives: Floats = psi(beta) - psi(alpha + beta) - undone
    return costs, derivatives
