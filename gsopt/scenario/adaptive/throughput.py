"""Throughput: step times predicted by a fitted model, and the batch size with the best goodput."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from gsopt.core.numbers.tolerances import LOCAL_BATCH
from gsopt.core.problem import Frozen, RuleBroken
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.limits import Limits

#: Seconds that replace 0, so that powers, logarithms and their derivatives are finite.
LEAST_SECONDS = 1e-8

#: Number of batch sizes that are tried, in geometric steps from the smallest to the largest.
_BATCHES = 50

#: Seconds, or seconds per sample or per GPU.
_Seconds = Annotated[float, Field(ge=0, le=1e12)]


class BatchChoice(NamedTuple):
    """The batch with the best goodput on given GPUs, as numbers or as arrays of the requested shape."""

    goodput: Any  # samples per second, counted as samples of the initial batch
    local: Any  # samples that a GPU processes at once
    steps: Any  # accumulations of gradients before the step that exchanges them


class ThroughputModel(Frozen):
    """The step times of data-parallel training: computation and communication, which partly overlap.

    A pass with b samples on each of K GPUs computes for ``compute + compute_per_sample b`` seconds. Gradients
    are exchanged in ``within + within_per_gpu (K - 2)`` seconds on one node, and in ``across + across_per_gpu
    (K - 2)`` seconds on several nodes. A single GPU has nothing to exchange. The duration of a step is the
    p-norm of these two times, where p is `overlap`: their sum for p = 1, and nearly the longer time for p = 10.
    Each accumulation before the step adds another computation.

    Source: Pollux (OSDI 2021), section 3.2, Equations 4-6. As in the authors' program, an exchange takes 1e-8 s
    on a single GPU.
    """

    compute: _Seconds
    compute_per_sample: _Seconds
    across: _Seconds
    across_per_gpu: _Seconds
    within: _Seconds
    within_per_gpu: _Seconds
    overlap: Annotated[float, Field(ge=1, le=100)]

    @model_validator(mode="after")
    def _something_is_computed(self) -> "ThroughputModel":
        if not self.compute + self.compute_per_sample:
            raise RuleBroken("compute", self.compute, "must be above 0 where compute_per_sample is 0")
        return self

    def computation(self, local: ArrayLike) -> Any:
        """Return the seconds that a GPU takes to compute the gradients of the given number of samples."""
        return self.compute + self.compute_per_sample * np.asarray(local)

    def exchange(self, nodes: ArrayLike, gpus: ArrayLike) -> Any:
        """Return the duration of a gradient exchange, in seconds."""
        nodes, gpus = np.asarray(nodes), np.asarray(gpus)
        several, pair = nodes > 1, gpus > 1
        base = np.where(several, self.across, np.where(pair, self.within, LEAST_SECONDS))
        each = np.where(several, self.across_per_gpu, np.where(pair, self.within_per_gpu, LEAST_SECONDS))
        return base + each * np.maximum(gpus - 2, LEAST_SECONDS)

    def step_time(self, nodes: ArrayLike, gpus: ArrayLike, local: ArrayLike, steps: ArrayLike = 0) -> Any:
        """Return the duration of a step in seconds, including the accumulations (`steps`) before it."""
        computation = self.computation(local)
        with np.errstate(divide="ignore"):  # nothing to exchange takes no time
            logs = np.log(computation), np.log(self.exchange(nodes, gpus))
        joint = np.exp(np.logaddexp(*(self.overlap * log for log in logs)) / self.overlap)
        return np.asarray(steps) * computation + joint

    def goodput(self, nodes: ArrayLike, gpus: ArrayLike, gradient: Gradient, limits: Limits) -> BatchChoice:
        """Return the best goodput on each number of nodes and GPUs, and the batch that achieves it.

        Of 50 batch sizes from the smallest to the largest, the best allowed one is chosen, or the smallest of
        several equally good ones. Gradients are accumulated if the local batch size exceeds its limit and, on a
        single GPU, if the batch size exceeds the initial one, because a single gradient does not reveal its
        noise. If there are too many GPUs for the largest batch size, each GPU is assumed to have the smallest
        local batch size, as in the authors' program.
        """
        local, steps, batch, rates = self._rates(nodes, gpus, limits)
        goodputs = rates * _efficiency(gradient, batch / limits.initial_batch)
        best = goodputs.argmax(axis=0, keepdims=True)
        return BatchChoice(*(np.take_along_axis(each, best, 0)[0][()] for each in (goodputs, local, steps)))

    def goodputs(
        self, nodes: ArrayLike, gpus: ArrayLike, gradients: Sequence[Gradient], limits: Limits
    ) -> NDArray[np.float64]:
        """Return the best goodput for each gradient (rows) on each number of nodes and GPUs (columns)."""
        _, _, batch, rates = self._rates(nodes, gpus, limits)
        scale, rows = batch / limits.initial_batch, dict[Gradient, NDArray[np.float64]]()
        for gradient in dict.fromkeys(gradients):
            rows[gradient] = (rates * _efficiency(gradient, scale)).max(axis=0)
        return np.array([rows[gradient] for gradient in gradients])

    def _rates(self, nodes: ArrayLike, gpus: ArrayLike, limits: Limits) -> tuple[Any, Any, Any, Any]:
        """Return candidate batches with their samples per second, which are 0 if a batch is not allowed."""
        nodes, gpus = np.broadcast_arrays(nodes, gpus)
        local, steps = batches(gpus, limits)
        batch = gpus * local * (steps + 1)
        rates = batch / self.step_time(nodes, gpus, local, steps)
        possible = (limits.least_local <= local) & (local <= limits.most_local)
        return local, steps, batch, np.where(possible, rates, 0.0)


def _efficiency(gradient: Gradient, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the progress per sample at `scale` times the initial batch size, relative to the initial size."""
    noise = gradient.var / scale + gradient.sqr
    gain = np.where(noise > 0, (gradient.var + gradient.sqr) / np.where(noise > 0, noise, 1.0), 1.0)
    efficiency: NDArray[np.float64] = gain / scale
    return efficiency


def batches(gpus: ArrayLike, limits: Limits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return candidate local batch sizes and accumulations, one per row. Further axes are those of `gpus`."""
    gpus = np.asarray(gpus)
    least = np.maximum(limits.initial_batch, limits.least_local * gpus)
    local = np.geomspace(least, limits.most_batch, _BATCHES) / gpus
    steps = np.ceil(local / limits.most_local - LOCAL_BATCH) - 1
    alone = (gpus == 1) & (local > limits.initial_batch + LOCAL_BATCH)
    steps = np.where(alone, np.maximum(steps, 1), steps).astype(np.int64)
    return np.ceil(local / (steps + 1) - LOCAL_BATCH).astype(np.int64), steps
