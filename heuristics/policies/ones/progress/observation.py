"""Observation: reports on a job's training at the end of epochs, and rows of such reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import Frozen

Floats = NDArray[np.float64]

#: The features, in the order of the columns, named as in ONES.
FEATURES = ("epoch size", "initial loss", "processed samples", "loss improvement ratio", "validation accuracy")

_Positive = Annotated[float, Field(gt=0, le=1e15)]
_AtLeastZero = Annotated[float, Field(ge=0, le=1e15)]


class EpochReport(Frozen):
    """A report by a job's workers at the end of an epoch (ONES, section 3.2.1, footnote 1).

    Attributes
    ----------
    epoch_samples
        ||D||, samples per epoch.
    initial_loss
        Loss before training; above 0, because losses are divided by it.
    processed
        Y_processed, samples processed over all epochs.
    loss
        Current loss.
    accuracy
        Validation accuracy, in [0, 1].

    Examples
    --------
    >>> EpochReport(epoch_samples=20_000, initial_loss=2.3, processed=60_000, loss=1.15, accuracy=0.5).features
    (20000.0, 2.3, 60000.0, 0.5, 0.5)
    """

    epoch_samples: _Positive
    initial_loss: _Positive
    processed: _AtLeastZero = 0.0
    loss: _AtLeastZero
    accuracy: Annotated[float, Field(ge=0, le=1)] = 0.0

    @property
    def features(self) -> tuple[float, ...]:
        """The five features x of the regression, in the order of `FEATURES`."""
        improvement = 1 - self.loss / self.initial_loss
        return (self.epoch_samples, self.initial_loss, self.processed, improvement, self.accuracy)


def features_of(observations: Sequence[EpochReport]) -> Floats:
    """Return the features of n observations as an array with n rows and five columns.

    Examples
    --------
    >>> features_of([]).shape
    (0, 5)
    """
    return np.array([each.features for each in observations], dtype=float).reshape(-1, len(FEATURES))


def processed_epochs(features: Floats) -> Floats:
    """Return each row's alpha, max(Y_processed / ||D||, 1): the processed epochs, but at least one."""
    return np.maximum(features[:, 2] / features[:, 0], 1.0)


@dataclass(frozen=True)
class ObservationRows:
    """Observations of completed jobs, whose progress is known: the data for a regression.

    Attributes
    ----------
    features
        Array with n rows and five columns, in the order of `FEATURES`.
    progress
        The progress rho of each row: the processed fraction of its job's samples, strictly between 0 and 1.

    Raises
    ------
    InvalidInput
        The shapes do not match, a feature is not finite, an epoch has no samples, or a progress is not strictly
        between 0 and 1.

    Examples
    --------
    >>> ObservationRows(features=np.ones((2, 5)), progress=np.array([0.5, 1.0]))
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: progress: 1.0: must be more than 0 and less than 1
    """

    features: Floats
    progress: Floats

    def __post_init__(self) -> None:
        if self.features.shape != (len(self.progress), len(FEATURES)):
            rule = f"must have a row of {len(FEATURES)} features for each progress"
            raise InvalidInput("features", shorten(self.features.shape), rule)
        if not (np.isfinite(self.features).all() and (self.features[:, 0] > 0).all()):
            raise InvalidInput("features", "", "must be finite, and epochs have samples")
        for value in self.progress[~((self.progress > 0) & (self.progress < 1))][:1]:
            raise InvalidInput("progress", shorten(float(value)), "must be more than 0 and less than 1")

    def __len__(self) -> int:
        return len(self.progress)

    @property
    def alpha(self) -> Floats:
        """The processed epochs of each row, but at least one."""
        return processed_epochs(self.features)

    @property
    def epochs_left(self) -> Floats:
        """The remaining epochs of each row if alpha epochs are processed: alpha (1 - rho) / rho."""
        result: Floats = self.alpha * (1 - self.progress) / self.progress
        return result


def rows_of(log: Sequence[EpochReport], total: float | None = None) -> ObservationRows:
    """Return a completed job's rows: the observations after some, but not all, of its samples were processed.

    Parameters
    ----------
    log
        The observations at the end of each epoch, in order.
    total
        Total samples of the job; None stands for the number processed up to the last observation.

    Raises
    ------
    InvalidInput
        The processed samples decrease, or exceed the total.

    Examples
    --------
    >>> log = [EpochReport(epoch_samples=10, initial_loss=2, processed=n, loss=1) for n in (0, 10, 20, 40)]
    >>> rows_of(log).progress.tolist()
    [0.25, 0.5]
    """
    features = features_of(log)
    processed = features[:, 2]
    if (np.diff(processed) < 0).any():
        raise InvalidInput("log", shorten(processed.tolist()), "must count processed samples up")
    every = float(processed.max(initial=0.0)) if total is None else total
    if (processed > every).any():
        raise InvalidInput("total", shorten(every), f"must be at least the {processed.max():g} processed")
    progress = processed / (every or 1.0)
    inner = (progress > 0) & (progress < 1)
    return ObservationRows(features=features[inner], progress=progress[inner])
