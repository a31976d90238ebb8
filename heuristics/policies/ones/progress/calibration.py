"""Calibration: a check of whether progress falls below its forecast quantiles as often as it should."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gsopt.core.errors import InvalidInput, require, shorten
from heuristics.policies.ones.progress.forecast import Forecast
from heuristics.policies.ones.progress.observation import EpochReport, Floats, rows_of
from heuristics.policies.ones.progress.predictor import ProgressPredictor


@dataclass(frozen=True)
class Calibration:
    """Where the true progress lies within each forecast, which shows how well forecasts are calibrated.

    Attributes
    ----------
    reached
        For each forecast, the probability that it assigns to progress below the true value (the probability
        integral transform). The values are uniform between 0 and 1 if forecasts are calibrated, concentrated at
        both ends if they are overconfident, and in the middle if they are underconfident.

    Raises
    ------
    InvalidInput
        The array is empty, or a value is not a probability.

    Examples
    --------
    >>> found = Calibration.of(Forecast.of([5, 5, 5], [5, 5, 5], 1), [0.3, 0.5, 0.99])
    >>> found.reached.round(2), found.coverage([0.5, 0.9]).round(2), round(found.distance, 2)
    (array([0.1, 0.5, 1. ]), array([0.33, 0.67]), 0.33)
    """

    reached: Floats

    def __post_init__(self) -> None:
        if not len(self.reached):
            raise InvalidInput("reached", "0", "must be at least one forecast")
        for value in self.reached[~((self.reached >= 0) & (self.reached <= 1))][:1]:
            raise InvalidInput("reached", shorten(float(value)), "must be at least 0 and at most 1")

    @classmethod
    def of(cls, forecast: Forecast, progress: ArrayLike) -> "Calibration":
        """Return the calibration of forecasts, given the true progress.

        Examples
        --------
        >>> Calibration.of(Forecast.of(1, 1, 1), [0.25, 0.75]).reached
        array([0.25, 0.75])
        """
        return cls(np.atleast_1d(forecast.reached(progress)))

    def coverage(self, level: ArrayLike) -> Floats:
        """Return, for each level, the fraction of forecasts whose central interval holds the true progress."""
        # the narrowest central interval that holds the truth has this level
        needed = np.sort(np.abs(2 * self.reached - 1))
        return np.asarray(np.searchsorted(needed, np.asarray(level, dtype=float), side="right") / len(needed))

    @property
    def distance(self) -> float:
        """The Kolmogorov-Smirnov distance of `reached` from the uniform distribution, between 0 and 1."""
        ordered, number = np.sort(self.reached), len(self.reached)
        steps = np.arange(number + 1) / number
        return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()))


def calibrate(
    predictor: ProgressPredictor,
    logs: Sequence[Sequence[EpochReport]],
    *,
    totals: Sequence[float | None] = (),
    skip: int = 0,
) -> Calibration:
    """Forecast each job's progress from the jobs that completed before it, and return the calibration.

    As in a real cluster, no forecast uses the outcome of the job itself or the data of later jobs. The
    predictor learns from the logs one after another.

    Parameters
    ----------
    predictor
        The predictor, usually a new one.
    logs
        For each job, in order of completion, the observations at the end of its epochs.
    totals
        Total samples of each job; None stands for the number processed up to its last observation. By default,
        None for all jobs.
    skip
        Number of jobs at the beginning whose forecasts are left out, because there is little data to learn
        from.

    Raises
    ------
    InvalidInput
        No forecasts remain, a log or a total is invalid (see `rows_of`), or the numbers of logs and totals
        differ.

    Examples
    --------
    >>> def seen(epochs, of):
    ...     return EpochReport(
    ...         epoch_samples=1000, initial_loss=2, processed=1000 * epochs, loss=2 - epochs / of, accuracy=0.5
    ...     )
    >>> logs = [[seen(epochs, length) for epochs in range(1, length + 1)] for length in (10, 20, 30, 25, 15)]
    >>> len(calibrate(ProgressPredictor(), logs, skip=3).reached)  # the end of a job is no row
    38
    """
    rule = f"must be none, or one for each of the {len(logs)} logs"
    require(len(totals) in (0, len(logs)), "totals", len(totals), rule)
    reached = [np.empty(0)]
    for number, (log, total) in enumerate(zip(logs, totals or [None] * len(logs), strict=True)):
        rows = rows_of(log, total)
        if number >= skip and len(rows):
            reached.append(predictor.predict_features(rows.features).reached(rows.progress))
        predictor.complete(log, total)
    return Calibration(np.concatenate(reached))
