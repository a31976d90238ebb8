"""Validation: the course of whole trainings, each with one batch size."""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from gsopt.core.problem import Frozen, Many, RuleBroken

_Positive = Annotated[float, Field(gt=0, le=1e30)]
_Statistic = Annotated[float, Field(ge=0, le=1e30)]


class Epoch(Frozen):
    """One epoch of a training.

    Attributes
    ----------
    progress
        Progress at its end, in iterations with the initial batch.
    iterations
        Iterations until its end.
    sqr, var
        Statistics of its gradients, see `Gradient`.
    """

    progress: _Positive
    iterations: _Positive
    sqr: _Statistic
    var: _Statistic

    @model_validator(mode="after")
    def _gradients_say_something(self) -> "Epoch":
        if not self.sqr and not self.var:
            raise RuleBroken("sqr", self.sqr, "must not be 0 where var is 0 too")
        return self


class Validation(Frozen):
    """A whole training with one batch size.

    Attributes
    ----------
    batch
        Samples over all GPUs.
    epochs
        Its epochs; progress and iterations rise.
    """

    batch: Annotated[int, Field(ge=1, le=10**12)]
    epochs: Annotated[Many[Epoch], Field(min_length=1)]

    @field_validator("epochs", mode="after")
    @classmethod
    def _progress_rises(cls, epochs: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
        for index in range(1, len(epochs)):
            for field in ("progress", "iterations"):
                value = getattr(epochs[index], field)
                if value <= getattr(epochs[index - 1], field):
                    raise RuleBroken(f"epochs[{index}].{field}", value, "must rise")
        return epochs
