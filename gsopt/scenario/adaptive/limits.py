"""Limits: the batches that a job can have."""

from typing import Annotated

from pydantic import Field, model_validator

from gsopt.core.problem import Frozen, RuleBroken

#: Samples of a batch.
_Samples = Annotated[int, Field(ge=1, le=10**12)]


class Limits(Frozen):
    """The batches that a job can have, in samples.

    Attributes
    ----------
    initial_batch
        The least batch over all GPUs, with which the job converges as its user expects.
    most_batch
        The largest batch over all GPUs.
    least_local, most_local
        Samples that a GPU processes at once.
    """

    initial_batch: _Samples
    most_batch: _Samples
    least_local: _Samples
    most_local: _Samples

    @model_validator(mode="after")
    def _most_is_not_least(self) -> "Limits":
        for most, least in (("most_batch", "initial_batch"), ("most_local", "least_local")):
            if getattr(self, most) < getattr(self, least):
                raise RuleBroken(most, getattr(self, most), f"must be at least {least}, {getattr(self, least)}")
        return self

    @property
    def most_gpus(self) -> int:
        """On how many GPUs the largest batch leaves each the least local one."""
        return max(self.most_batch // self.least_local, 1)
