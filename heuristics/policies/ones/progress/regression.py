"""Regression: the epochs that jobs have left by what is seen of them, fitted to completed jobs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import LIKELIHOOD, RIDGE
from heuristics.policies.ones.progress.likelihood import LinkFunction, negative_log_likelihood
from heuristics.policies.ones.progress.observation import FEATURES, Floats, ObservationRows


class Start(StrEnum):
    """Where the search for the most likely parameters begins.

    Attributes
    ----------
    MEDIAN
        A = 0 and b one more than the median of the epochs that jobs had left: every row begins above the
        threshold, or many do.
    ZERO
        A = 0 and b = 0, as one would begin without further thought. Under `LinkFunction.THRESHOLD` no row pulls
        at the parameters there, so that the search ends where it began, with all beta = 1.

    Examples
    --------
    >>> Start("median")
    <Start.MEDIAN: 'median'>
    """

    MEDIAN = "median"
    ZERO = "zero"


@dataclass(frozen=True)
class Regression:
    """beta as a function of the features x.

    Attributes
    ----------
    link
        How beta follows from u.
    centre, scale
        By which features are standardised, z = (x - centre) / scale.
    weights, intercept
        u = weights z + intercept.
    largest
        No beta is above this, however far x is from what was seen.
    cost
        Mean negative log likelihood of the rows, in nats.
    steps
        Iterations of the search.

    Examples
    --------
    >>> rows = ObservationRows(features=np.ones((3, 5)), progress=np.array([0.2, 0.25, 0.3]))
    >>> fit_regression(rows).beta(np.ones((1, 5))).round(2)
    array([3.46])
    """

    link: LinkFunction
    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float
    largest: float
    cost: float
    steps: int

    def beta(self, features: Floats) -> Floats:
        """Return beta for each row of features."""
        standardised = (features - self.centre) / self.scale
        return np.minimum(self.link.beta(standardised @ self.weights + self.intercept), self.largest)

    @property
    def coefficients(self) -> tuple[Floats, float]:
        """A and b of u = A x + b, for features as they are."""
        slopes: Floats = self.weights / self.scale
        return slopes, self.intercept - float(slopes @ self.centre)


def fit_regression(
    rows: ObservationRows,
    *,
    link: LinkFunction = LinkFunction.THRESHOLD,
    start: Start = Start.MEDIAN,
    ridge: float = RIDGE,
) -> Regression:
    """Fit A and b to completed jobs by maximum likelihood, by BFGS with the analytic gradient.

    Source: ONES, section 3.2.1, Equation 6. The paper maximises "the log marginal likelihood" and calls its
    predictor one of Gaussian processes in a footnote, but says no more of that, and Equation 6 is linear, as
    this is. How the maximum is found it does not say. The cost is convex in beta but, through the threshold,
    not in the parameters, so it matters where the search begins (`Start`). Features are standardised, as those
    of the paper differ by factors of a million. No beta is above the most epochs that a row had left.

    There are six parameters, so that nothing is gained by limited memory; and scipy's L-BFGS waits for threads
    in its small matrices, for tens of milliseconds where other processes have the cores.

    Parameters
    ----------
    rows
        At least one.
    link, start
        The printed threshold, and where it works, are the default.
    ridge
        What each weight costs: half of this times the square of its share in the first beta. It keeps
        parameters finite which rows leave open, such as that of a feature that only one row has.

    Raises
    ------
    InvalidInput
        There are no rows.

    Examples
    --------
    >>> epochs = np.arange(1.0, 20.0)
    >>> features = np.column_stack([0 * epochs + 100, 0 * epochs + 2, 100 * epochs, epochs / 20, epochs / 20])
    >>> fitted = fit_regression(ObservationRows(features=features, progress=epochs / 20))
    >>> fitted.beta(features[[0, 9, 18]]).round(1)
    array([19. , 10.5,  1.5])
    """
    from scipy.optimize import minimize

    if not len(rows):
        raise InvalidInput("", "rows", "0", "must be at least one to fit to")
    left = rows.epochs_left
    first = 1 + float(np.median(left))
    centre, scale = rows.features.mean(axis=0), _spread(rows.features)
    standardised = np.column_stack([(rows.features - centre) / scale, np.ones(len(rows))])
    cost = PenalisedCost(rows, first * standardised, link, ridge)
    begin = np.zeros(len(FEATURES) + 1)
    begin[-1] = link.inverse(first) / first if start is Start.MEDIAN else 0.0
    options: Any = {"gtol": LIKELIHOOD, "maxiter": 500}
    found = minimize(cost, begin, jac=True, method="BFGS", options=options)
    return Regression(
        link=link,
        centre=centre,
        scale=scale,
        weights=first * found.x[:-1],
        intercept=float(first * found.x[-1]),
        largest=max(1.0, float(left.max())),
        cost=cost.mean(found.x),
        steps=int(found.nit),
    )


@dataclass(frozen=True)
class PenalisedCost:
    """The mean cost of rows, and the ridge, as a function of parameters, of which the last is the intercept.

    Attributes
    ----------
    rows
        What the likelihood is of.
    columns
        u = columns times parameters.
    link
        How beta follows from u.
    ridge
        Half of it is what the square of each parameter but the last costs.
    """

    rows: ObservationRows
    columns: Floats
    link: LinkFunction
    ridge: float

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the cost and its gradient."""
        linear = self.columns @ parameters
        costs, slopes = negative_log_likelihood(self.link.beta(linear), self.rows)
        weights = np.append(parameters[:-1], 0.0)
        cost = float(costs.mean()) + self.ridge * float(weights @ weights) / 2
        return cost, self.columns.T @ (slopes * self.link.slope(linear)) / len(self.rows) + self.ridge * weights

    def mean(self, parameters: Floats) -> float:
        """Return the mean cost without the ridge."""
        costs, _ = negative_log_likelihood(self.link.beta(self.columns @ parameters), self.rows)
        return float(costs.mean())


def _spread(features: Floats) -> Floats:
    """Return the standard deviation of each feature; 1 for those that are all the same."""
    spread: Floats = features.std(axis=0)
    size = np.abs(features).max(axis=0)
    return np.where(spread > len(features) * np.finfo(float).eps * size, spread, 1.0)
