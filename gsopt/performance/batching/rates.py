"""Rates: the throughput of many jobs on every number of GPUs, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gsopt.performance.batching.throughput import StepTime

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StepTimeTable:
    """The `StepTime` of many jobs as arrays, for searches and policies that evaluate all jobs together."""

    # Seconds of a step, and per sample of the largest local batch, shape (jobs,).
    fixed: Floats
    per_sample: Floats
    latency: Floats  # of all hops to the next GPU
    transfer: Floats  # of all gradients on one wire

    @classmethod
    def of(cls, models: Sequence[StepTime]) -> "StepTimeTable":
        """Convert models to arrays."""
        parts = [_communication(model) for model in models]
        return cls(
            fixed=np.array([model.fixed for model in models], dtype=np.float64),
            per_sample=np.array([model.per_sample for model in models], dtype=np.float64),
            latency=np.array([latency for latency, _ in parts], dtype=np.float64),
            transfer=np.array([transfer for _, transfer in parts], dtype=np.float64),
        )

    def _without_samples(self, gpus: Counts) -> Floats:
        """Return the part of a step's duration, in seconds, that does not depend on the batch size."""
        further = 2.0 * (gpus - 1)
        communication = further * self.latency[:, None] + further / gpus * self.transfer[:, None]
        seconds: Floats = self.fixed[:, None] + communication
        return seconds

    def fastest(self, batch_limit: ArrayLike, local_limit: ArrayLike, *, widest: int) -> tuple[Counts, Floats]:
        """Return the fastest batch size of every job on 0 to `widest` GPUs, and the samples per second.

        `batch_limit` contains the largest batch size of each job over all GPUs, and `local_limit` that on one
        GPU, both with shape (jobs,). The results have shape (jobs, widest + 1), with 0 for no GPUs and for more
        GPUs than `batch_limit`. `gsopt.performance.batching.StepTime.fastest` explains the choice.
        """
        limit = np.asarray(batch_limit, dtype=np.int64)[:, None]
        gpus = np.arange(1, widest + 1, dtype=np.int64)[None, :]
        full = np.minimum(limit, gpus * np.asarray(local_limit, dtype=np.int64)[:, None])
        local = full // gpus
        even, rest = local * gpus, self._without_samples(gpus)
        rate = full / (rest + self.per_sample[:, None] * (local + (even < full)))
        even_rate = even / (rest + self.per_sample[:, None] * np.maximum(local, 1))
        batch, best = np.where(even_rate > rate, even, full), np.maximum(rate, even_rate)
        fits = gpus <= limit
        none = ((0, 0), (1, 0))  # a column for no GPUs
        return np.pad(np.where(fits, batch, 0), none), np.pad(np.where(fits, best, 0.0), none)


def _communication(model: StepTime) -> tuple[float, float]:
    """Return the latency to the next GPU, and the time to send all gradients over one wire, in seconds."""
    wire = model.wire
    return (0.0, 0.0) if wire is None else (wire.hops(2) * wire.latency, model.message / wire.bandwidth)
