"""Predictor: predictions of running jobs' remaining work, learned from completed jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.tolerances import RIDGE
from heuristics.policies.ones.progress.forecast import Forecast
from heuristics.policies.ones.progress.history import ObservationHistory, Sampling
from heuristics.policies.ones.progress.likelihood import LinkFunction
from heuristics.policies.ones.progress.observation import (
    EpochReport,
    Floats,
    features_of,
    processed_epochs,
    rows_of,
)
from heuristics.policies.ones.progress.regression import Regression, SearchStart, fit_regression


@dataclass(frozen=True)
class Learning:
    """Parameters that determine how a `ProgressPredictor` learns.

    Attributes
    ----------
    limit, sampling
        Largest number of rows (observations of completed jobs) to keep, and how they are sampled.
    least_jobs
        Number of completed jobs needed before the regression is fitted, because its six parameters need more
        than one or two jobs.
    prior
        Number of remaining epochs (beta) to assume for every job until there are rows of completed jobs. The
        default is the ten epochs for which jobs in ONES continue after reaching their target accuracy (section
        4.1).
    link, start, ridge
        As in `fit_regression`.

    Raises
    ------
    InvalidInput
        A value is out of range.

    Examples
    --------
    >>> Learning(prior=0.5)
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: prior: 0.5: must be at least 1, and finite
    """

    limit: int = 500
    sampling: Sampling = Sampling.JOBS
    least_jobs: int = 3
    prior: float = 10.0
    link: LinkFunction = LinkFunction.THRESHOLD
    start: SearchStart = SearchStart.MEDIAN
    ridge: float = RIDGE

    def __post_init__(self) -> None:
        if not 1 <= self.prior < float("inf"):
            raise InvalidInput("prior", shorten(self.prior), "must be at least 1, and finite")
        for name in ("limit", "least_jobs"):
            if getattr(self, name) < 1:
                raise InvalidInput(name, shorten(getattr(self, name)), "must be at least 1")
        if not 0 <= self.ridge < float("inf"):
            raise InvalidInput("ridge", shorten(self.ridge), "must be at least 0, and finite")


@dataclass
class ProgressPredictor:
    """A predictor of the progress of jobs that learns from completed jobs (ONES, section 3.2.1).

    The progress rho of a job is Beta(alpha, beta) distributed. Here, alpha is the number of processed epochs,
    max(Y_processed / ||D||, 1), where ||D|| is the number of samples per epoch. The number of remaining epochs,
    beta, is predicted by `fit_regression`, which is repeated at the first prediction after a completion.

    Until `Learning.least_jobs` jobs are complete, beta is the same for all jobs: the mean number of remaining
    epochs over the observations of completed jobs, but at least 1, or `Learning.prior` if there are none.

    By Equation 7 of the paper, a job that has processed nothing has nothing left. Here, the threshold that
    keeps alpha at least 1 also applies to the processed samples: a job in its first epoch is treated as if it
    had reached the end of that epoch.

    Parameters
    ----------
    learning
        How the predictor learns.
    seed
        Seed of the sampling of observations.

    Examples
    --------
    >>> def seen(epochs, of):
    ...     return EpochReport(
    ...         epoch_samples=1000, initial_loss=2, processed=1000 * epochs, loss=2 - epochs / of, accuracy=0.5
    ...     )
    >>> predictor = ProgressPredictor()
    >>> predictor.predict([seen(0, 20)]).left("mean_progress")
    array([10000.])
    >>> for length in (10, 20, 30, 40):
    ...     predictor.complete([seen(epochs, length) for epochs in range(1, length + 1)])
    >>> predictor.predict([seen(5, 20), seen(15, 20)]).left("median").round(-3)
    array([24000.,  5000.])
    """

    learning: Learning = field(default_factory=Learning)
    seed: int = 0

    def __post_init__(self) -> None:
        self._history = ObservationHistory(
            limit=self.learning.limit, sampling=self.learning.sampling, seed=self.seed
        )
        self._regression: Regression | None = None
        self._common = self.learning.prior
        self._stale = False

    def complete(self, log: Sequence[EpochReport], total: float | None = None) -> None:
        """Learn from the log of a completed job.

        `total` is the job's total number of samples; None for those processed up to the last observation.
        """
        self._history.add(rows_of(log, total))
        self._stale = True

    def predict(self, observations: Sequence[EpochReport]) -> Forecast:
        """Return the distribution of the progress at each observation."""
        return self.predict_features(features_of(observations))

    def predict_features(self, features: Floats) -> Forecast:
        """Return the distribution of the progress for each row of `features`, whose columns are `FEATURES`."""
        self._refit()
        alpha = processed_epochs(features)
        if self._regression is None:
            beta = np.full(len(features), self._common)
        else:
            beta = self._regression.beta(features)
        return Forecast(alpha=alpha, beta=beta, processed=alpha * features[:, 0])

    @property
    def regression(self) -> Regression | None:
        """The current regression, or None as long as there is too little data (see `Learning.least_jobs`)."""
        self._refit()
        return self._regression

    def _refit(self) -> None:
        if not self._stale:
            return
        self._stale = False
        rows, learning = self._history.rows(), self.learning
        if not len(rows):
            return
        if self._history.jobs < learning.least_jobs:
            self._common = max(1.0, float(rows.epochs_left.mean()))
        else:
            self._regression = fit_regression(
                rows, link=learning.link, start=learning.start, ridge=learning.ridge
            )
