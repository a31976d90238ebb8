"""Batch: the division of an iteration's samples among GPUs and accumulation steps."""

from typing import NamedTuple

from gsopt.scenario.adaptive.limits import Limits


class Batch(NamedTuple):
    """A divided batch: the samples that a GPU processes at once, and the gradient accumulations per step."""

    local: int
    steps: int

    def over(self, gpus: int) -> int:
        """Return the total batch size on the given number of GPUs."""
        return gpus * self.local * (self.steps + 1)


def split(batch_size: int, gpus: int, limits: Limits) -> Batch:
    """Divide a batch evenly over GPUs. If it is too large for one pass, gradients are accumulated.

    On a single GPU, gradients are accumulated for every batch larger than the initial one, because a single
    gradient does not reveal its noise. So that all parts are equal, the batch is rounded up, or down if it
    would otherwise exceed the largest allowed batch size. Source: the simulator of Pollux.
    """
    local = -(-batch_size // gpus)
    steps = -(-local // limits.most_local) - 1
    if gpus == 1 and batch_size > limits.initial_batch:
        steps = max(steps, 1)
    return within(Batch(-(-local // (steps + 1)), steps), gpus, limits)


def within(batch: Batch, gpus: int, limits: Limits) -> Batch:
    """Reduce the local batch size until the total batch size is at most the largest allowed one."""
    return batch._replace(local=min(batch.local, limits.most_batch // (gpus * (batch.steps + 1))))
