"""Validation: measurements of complete training runs, each with one batch size."""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from gsopt.core.problem import Frozen, Many, RuleBroken, refuse_falls

_Positive = Annotated[float, Field(gt=0, le=1e30)]
_Statistic = Annotated[float, Field(ge=0, le=1e30)]


class Epoch(Frozen):
    """One epoch of a measured training run."""

    progress: _Positive  # at its end, in iterations with the initial batch
    iterations: _Positive  # until its end
    # Statistics of its gradients, see `Gradient`.
    sqr: _Statistic
    var: _Statistic

    @model_validator(mode="after")
    def _gradients_say_something(self) -> "Epoch":
        if not self.sqr and not self.var:
            raise RuleBroken("sqr", self.sqr, "must not be 0 where var is 0 too")
        return self


class Validation(Frozen):
    """A complete training run with one batch size."""

    batch: Annotated[int, Field(ge=1, le=10**12)]  # samples over all GPUs
    epochs: Annotated[Many[Epoch], Field(min_length=1)]  # progress and iterations rise

    @field_validator("epochs", mode="after")
    @classmethod
    def _progress_rises(cls, epochs: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
        for field in ("progress", "iterations"):
            refuse_falls(f"epochs[{{}}].{field}", [getattr(epoch, field) for epoch in epochs])
        return epochs
