"""Throughput: the step times that a fitted model gives, and the batch with the best goodput."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from gsopt.core.numbers.tolerances import LOCAL_BATCH
from gsopt.core.problem import Frozen, RuleBroken
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.limits import Limits

#: Seconds that stand for none, so that powers and logarithms of them, and their slopes, are finite.
LEAST_SECONDS = 1e-8

#: How many batch sizes are tried, from the least to the most in geometric steps.
_BATCHES = 50

#: Seconds, or seconds for each of something.
_Seconds = Annotated[float, Field(ge=0, le=1e12)]


class BatchChoice(NamedTuple):
    """The batch with the best goodput on some GPUs; numbers, or arrays as the GPUs that were asked for.

    Attributes
    ----------
    goodput
        Samples per second that are worth as much as samples of the initial batch.
    local
        Samples that a GPU processes at once.
    steps
        How often gradients are accumulated before the step that exchanges them.
    """

    goodput: Any
    local: Any
    steps: Any


class ThroughputModel(Frozen):
    """Step times of data-parallel training: computation and communication, which overlap in part.

    With b samples at once on each of K GPUs on N nodes, a pass over them computes for ``compute +
    compute_per_sample b`` seconds. Gradients are exchanged in ``within + within_per_gpu (K - 2)`` seconds on
    one node and in ``across + across_per_gpu (K - 2)`` on several; alone a GPU has nothing to exchange. A step
    lasts for the norm of both to the power `overlap`: their sum at 1, close to the longer one at 10. Each
    accumulation of gradients before the step takes another computation.

    Source: Pollux (OSDI 2021), section 3.2, Equations 4-6. As in the authors' program a GPU for itself
    exchanges for 1e-8 s.

    Attributes
    ----------
    compute, compute_per_sample
        Seconds of a computation, and for each sample.
    across, across_per_gpu
        Seconds of an exchange between nodes, and for each GPU beyond two.
    within, within_per_gpu
        Seconds of an exchange within a node, and for each GPU beyond two.
    overlap
        The power: 1 for no overlap.
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
        """Return the seconds in which a GPU computes the gradients of so many samples."""
        return self.compute + self.compute_per_sample * np.asarray(local)

    def exchange(self, nodes: ArrayLike, gpus: ArrayLike) -> Any:
        """Return the seconds in which gradients are exchanged among GPUs on nodes."""
        nodes, gpus = np.asarray(nodes), np.asarray(gpus)
        several, pair = nodes > 1, gpus > 1
        base = np.where(several, self.across, np.where(pair, self.within, LEAST_SECONDS))
        each = np.where(several, self.across_per_gpu, np.where(pair, self.within_per_gpu, LEAST_SECONDS))
        return base + each * np.maximum(gpus - 2, LEAST_SECONDS)

    def step_time(self, nodes: ArrayLike, gpus: ArrayLike, local: ArrayLike, steps: ArrayLike = 0) -> Any:
        """Return the seconds of a step, with so many accumulations before it.

        Parameters
        ----------
        nodes, gpus
            Nodes and GPUs of the job.
        local
            Samples that a GPU processes at once.
        steps
            Accumulations of gradients before they are exchanged.
        """
        computation = self.computation(local)
        with np.errstate(divide="ignore"):  # nothing to exchange takes no time
            logs = np.log(computation), np.log(self.exchange(nodes, gpus))
        joint = np.exp(np.logaddexp(*(self.overlap * log for log in logs)) / self.overlap)
        return np.asarray(steps) * computation + joint

    def goodput(self, nodes: ArrayLike, gpus: ArrayLike, gradient: Gradient, limits: Limits) -> BatchChoice:
        """Return the best goodput on each number of nodes and GPUs, and the batch that has it.

        Of 50 batches between the least and the most the first best one is chosen. A local batch beyond the most
        is accumulated, and so is any that exceeds the initial one on a single GPU, whose gradients alone do not
        tell how noisy they are. Where GPUs need more than the largest batch to have the least local one each,
        they are taken to have that, as in the authors' program.

        Parameters
        ----------
        nodes, gpus
            Numbers, or arrays of equal shape.
        gradient
            Statistics of the gradients.
        limits
            The batches that the job can have.
        """
        nodes, gpus = np.broadcast_arrays(nodes, gpus)
        local, steps = batches(gpus, limits)
        batch = gpus * local * (steps + 1)
        rates = batch / self.step_time(nodes, gpus, local, steps)
        possible = (limits.least_local <= local) & (local <= limits.most_local)
        goodputs = np.where(possible, rates * _efficiency(gradient, batch / limits.initial_batch), 0.0)
        best = goodputs.argmax(axis=0, keepdims=True)
        return BatchChoice(*(np.take_along_axis(each, best, 0)[0][()] for each in (goodputs, local, steps)))


def _efficiency(gradient: Gradient, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the progress of a sample in a batch so many times the initial one, relative to one in that."""
    noise = gradient.var / scale + gradient.sqr
    gain = np.where(noise > 0, (gradient.var + gradient.sqr) / np.where(noise > 0, noise, 1.0), 1.0)
    efficiency: NDArray[np.float64] = gain / scale
    return efficiency


def batches(gpus: ArrayLike, limits: Limits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return local batches and accumulations to choose from, by batch and then as the numbers of GPUs."""
    gpus = np.asarray(gpus)
    least = np.maximum(limits.initial_batch, limits.least_local * gpus)
    local = np.geomspace(least, limits.most_batch, _BATCHES) / gpus
    steps = np.ceil(local / limits.most_local - LOCAL_BATCH) - 1
    alone = (gpus == 1) & (local > limits.initial_batch + LOCAL_BATCH)
    steps = np.where(alone, np.maximum(steps, 1), steps).astype(np.int64)
    return np.ceil(local / (steps + 1) - LOCAL_BATCH).astype(np.int64), steps
