"""Limits: the batch sizes that an adaptive job may use."""

from typing import Annotated

from pydantic import Field, model_validator

from gsopt.core.problem import Frozen, RuleBroken

#: Number of samples in a batch.
Samples = Annotated[int, Field(ge=1, le=10**12)]


class Limits(Frozen):
    """The batch sizes that a job may use, in samples."""

    initial_batch: Samples  # smallest batch over all GPUs, with which the job converges as its user expects
    most_batch: Samples  # largest batch over all GPUs
    # Samples that a GPU processes at once.
    least_local: Samples
    most_local: Samples

    @model_validator(mode="after")
    def _most_is_not_least(self) -> "Limits":
        for most, least in (("most_batch", "initial_batch"), ("most_local", "least_local")):
            if getattr(self, most) < getattr(self, least):
                raise RuleBroken(most, getattr(self, most), f"must be at least {least}, {getattr(self, least)}")
        return self

    @property
    def most_gpus(self) -> int:
        """Largest number of GPUs on which the largest batch has `least_local` samples per GPU; at least 1."""
        return max(self.most_batch // self.least_local, 1)
