"""Training: the samples that a job must process to reach its target, and its observable loss and accuracy."""

from math import exp, expm1
from typing import Annotated, Any, NamedTuple

from pydantic import Field, model_validator

from gsopt.core.problem import Frozen, RuleBroken

#: A number of training samples.
Samples = Annotated[float, Field(gt=0, le=1e15)]


class Observation(NamedTuple):
    """A job's report on how its training is going.

    Attributes
    ----------
    samples
        Number of processed samples.
    epochs
        Number of processed samples, divided by the size of the data set.
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
    """A training run that ends at a target: its samples, and its observable loss and accuracy.

    The samples are those of the job's default mode. A mode with another batch size may need more or fewer
    samples (`gsopt.scenario.job.Mode`). From the beginning to the target, loss and accuracy are exponential
    curves: after a fraction p of the work, the loss is ``loss + (initial_loss - loss) * g`` and the accuracy is
    ``accuracy * (1 - g)``, where ::

        g = (exp(-curvature * p) - exp(-curvature)) / (1 - exp(-curvature))

    and ``g = 1 - p`` if the curvature is 0. This is an assumption: real curves are rougher.

    Attributes
    ----------
    epoch
        Number of samples in an epoch, that is, in a pass over the data set.
    samples
        Number of samples until the target if the job always runs in its default mode.
    initial_loss, loss
        Loss at the beginning of the training run, and at the target.
    accuracy
        Validation accuracy at the target; it is 0 at the beginning.
    curvature
        How strongly the improvement is concentrated at the beginning; 0 for a steady improvement.

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
        """Return the loss after the given fraction of the work (from 0 to 1)."""
        return self.loss + (self.initial_loss - self.loss) * self._left(float(share))

    def accuracy_at(self, share: Any) -> float:
        """Return the validation accuracy after the given fraction of the work (from 0 to 1)."""
        return self.accuracy * (1.0 - self._left(float(share)))

    def observe(self, samples: Any, share: Any) -> Observation:
        """Return the report after `samples` samples, when the fraction `share` of the work is done."""
        return Observation(samples, samples / self.epoch, self.loss_at(share), self.accuracy_at(share))

    def _left(self, share: float) -> float:
        """Return the fraction of the improvement that is still to come."""
        if not self.curvature:
            return 1.0 - share
        return expm1(self.curvature * (1.0 - share)) * exp(-self.curvature) / -expm1(-self.curvature)
