"""Regression: the remaining epochs as a function of job features, fitted to completed jobs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import LIKELIHOOD, RIDGE
from heuristics.policies.ones.progress.likelihood import LinkFunction, negative_log_likelihood
from heuristics.policies.ones.progress.observation import FEATURES, Floats, ObservationRows


class SearchStart(StrEnum):
    """Where the search for the most likely parameters A and b starts.

    The beta of a row of observations is a function (`LinkFunction`) of A x + b, where x are the row's features.

    Attributes
    ----------
    MEDIAN
        A = 0, and b such that beta is one more than the median of the remaining epochs. With
        `LinkFunction.THRESHOLD`, all rows are then above the threshold of 1.
    ZERO
        A = 0 and b = 0, the naive start. With `LinkFunction.THRESHOLD`, all rows are then below the threshold,
        where they have no gradient, so the search ends immediately with beta = 1 for all rows.

    Examples
    --------
    >>> SearchStart("median")
    <SearchStart.MEDIAN: 'median'>
    """

    MEDIAN = "median"
    ZERO = "zero"


@dataclass(frozen=True)
class Regression:
    """A fitted function from a job's features x to beta, a parameter of the Beta distribution of its progress.

    Attributes
    ----------
    link
        The function from u (see `weights`) to beta.
    centre, scale
        Features are standardized as z = (x - centre) / scale.
    weights, intercept
        u = weights z + intercept.
    largest
        Upper bound on beta, no matter how far x is from the data.
    cost
        Mean negative log-likelihood of the rows, in nats.
    steps
        Number of iterations of the search.

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
        """The coefficients A and b of u = A x + b, for features that are not standardized."""
        slopes: Floats = self.weights / self.scale
        return slopes, self.intercept - float(slopes @ self.centre)


def fit_regression(
    rows: ObservationRows,
    *,
    link: LinkFunction = LinkFunction.THRESHOLD,
    start: SearchStart = SearchStart.MEDIAN,
    ridge: float = RIDGE,
) -> Regression:
    """Fit the coefficients A and b to completed jobs by maximum likelihood, using BFGS with analytic gradients.

    The progress of a row has a Beta distribution. Its parameter alpha is the number of processed epochs, at
    least 1. Its parameter beta is `link` of A x + b, where x are the row's features. No fitted beta exceeds the
    larger of 1 and the most remaining epochs of any row.

    Source: ONES, section 3.2.1, Equation 6, where the paper maximizes "the log marginal likelihood" without
    saying how. With `LinkFunction.THRESHOLD`, the result may depend on `start`, because the negative
    log-likelihood is not convex in A and b. The ridge penalty and the limit on beta are ours.

    Parameters
    ----------
    rows
        The data, at least one row.
    link
        The link function; by default that of the paper.
    start
        Where the search starts (see `SearchStart`).
    ridge
        Strength of the ridge penalty, which keeps A finite even if the rows do not determine it. The penalty is
        half of `ridge` times the sum of the squared weights, and is added to the mean negative log-likelihood
        of the rows. The weights are the coefficients of standardized features, divided by one more than the
        median of the remaining epochs.

    Raises
    ------
    InvalidInput
        The data have no rows.

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
        raise InvalidInput("rows", "0", "must be at least one to fit to")
    left = rows.epochs_left
    first = 1 + float(np.median(left))
    centre, scale = rows.features.mean(axis=0), _spread(rows.features)
    standardised = np.column_stack([(rows.features - centre) / scale, np.ones(len(rows))])
    cost = PenalisedCost(rows, first * standardised, link, ridge)
    begin = np.zeros(len(FEATURES) + 1)
    begin[-1] = link.inverse(first) / first if start is SearchStart.MEDIAN else 0.0
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
    """The mean negative log-likelihood of rows as a function of parameters, plus a ridge penalty.

    The linear predictor u is `columns` times the parameters. The last parameter is the intercept; the others
    are weights. The penalty is half of `ridge`, times the sum of the squared weights.
    """

    rows: ObservationRows
    columns: Floats
    link: LinkFunction
    ridge: float

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the penalised cost and its gradient."""
        linear = self.columns @ parameters
        costs, slopes = negative_log_likelihood(self.link.beta(linear), self.rows)
        weights = np.append(parameters[:-1], 0.0)
        cost = float(costs.mean()) + self.ridge * float(weights @ weights) / 2
        return cost, self.columns.T @ (slopes * self.link.slope(linear)) / len(self.rows) + self.ridge * weights

    def mean(self, parameters: Floats) -> float:
        """Return the mean negative log-likelihood, without the penalty."""
        costs, _ = negative_log_likelihood(self.link.beta(self.columns @ parameters), self.rows)
        return float(costs.mean())


def _spread(features: Floats) -> Floats:
    """Return the standard deviation of each feature, or 1 for constant features."""
    spread: Floats = features.std(axis=0)
    size = np.abs(features).max(axis=0)
    return np.where(spread > len(features) * np.finfo(float).eps * size, spread, 1.0)
