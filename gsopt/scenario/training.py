"""Training: how many samples a job has to process until its target, and what is seen of it on the way."""

from math import exp, expm1
from typing import Annotated, Any, NamedTuple

from pydantic import Field, model_validator

from gsopt.core.problem import Frozen, RuleBroken

#: Samples that a training processes.
Samples = Annotated[float, Field(gt=0, le=1e15)]


class Observation(NamedTuple):
    """What a job reports of its training.

    Attributes
    ----------
    samples
        Samples that it has processed.
    epochs
        How many times as many as its data set has.
    loss
        Training loss.
    accuracy
        Validation accuracy, from 0 to 1.

    Examples
    --------
    >>> Observation(samples=2000.0, epochs=2.0, loss=0.5, accuracy=0.75).epochs
    2.0
    """

    samples: Any
    epochs: Any
    loss: float
    accuracy: float


class Training(Frozen):
    """A training until a target, in samples, with the loss and the accuracy that are seen on the way.

    The samples are those of the job's default mode; a mode with another batch size may need more or fewer
    (`gsopt.scenario.job.Mode`). Between beginning and target both curves are exponential: with a share p of the
    work
    done the loss is ``loss + (initial_loss - loss) * g`` and the accuracy is ``accuracy * (1 - g)``, where ::

        g = (exp(-curvature * p) - exp(-curvature)) / (1 - exp(-curvature))

    and ``1 - p`` where the curvature is 0. That is an assumption: real curves are rougher.

    Attributes
    ----------
    epoch
        Samples of the data set, which is an epoch.
    samples
        Samples until the target, when trained in the default mode from beginning to end.
    initial_loss, loss
        Loss before the training and at its target.
    accuracy
        Validation accuracy at the target; it begins at 0.
    curvature
        How much of the improvement comes early; 0 for all of it evenly.

    Examples
    --------
    >>> training = Training(epoch=1000, samples=8000, initial_loss=2.5, loss=0.5, accuracy=0.9, curvature=0)
    >>> training.loss_at(0.25), training.accuracy_at(0.5), training.loss_at(1)
    (2.0, 0.45, 0.5)
    """

    epoch: Annotated[int, Field(ge=1, le=10**12)]
    samples: Samples
    initial_loss: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    loss: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    accuracy: Annotated[float, Field(gt=0, le=1)] = 1.0
    curvature: Annotated[float, Field(ge=0, le=100)] = 3.0

    @model_validator(mode="after")
    def _loss_falls(self) -> "Training":
        if self.loss > self.initial_loss:
            raise RuleBroken("loss", self.loss, f"must be at most the initial loss, {self.initial_loss:g}")
        return self

    def loss_at(self, share: Any) -> float:
        """Return the loss when a share of the work is done."""
        return self.loss + (self.initial_loss - self.loss) * self._left(float(share))

    def accuracy_at(self, share: Any) -> float:
        """Return the validation accuracy when a share of the work is done."""
        return self.accuracy * (1.0 - self._left(float(share)))

    def observe(self, samples: Any, share: Any) -> Observation:
        """Return what is seen after so many samples, with a share of the work done."""
        return Observation(samples, samples / self.epoch, self.loss_at(share), self.accuracy_at(share))

    def _left(self, share: float) -> float:
        """Return the share of the improvement that is still to come."""
        if not self.curvature:
            return 1.0 - share
        return expm1(self.curvature * (1.0 - share)) * exp(-self.curvature) / -expm1(-self.curvature)
