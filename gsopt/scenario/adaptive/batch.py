"""Batch: how the samples of an iteration are processed."""

from typing import NamedTuple

from gsopt.scenario.adaptive.limits import Limits


class Batch(NamedTuple):
    """How a batch is processed: samples that a GPU processes at once, and accumulations before the step."""

    local: int
    steps: int

    def over(self, gpus: int) -> int:
        """Return the samples of a batch over so many GPUs."""
        return gpus * self.local * (self.steps + 1)


def split(batch_size: int, gpus: int, limits: Limits) -> Batch:
    """Divide a batch evenly over GPUs, and what is too much for one of them into equal accumulations.

    A batch above the initial one is accumulated on a single GPU in any case, as its gradients alone do not tell
    how noisy they are. It is rounded up to as many samples for each GPU and accumulation as for any other,
    unless that were more than the largest batch. Source: Pollux' simulator.

    Parameters
    ----------
    batch_size
        Samples over all GPUs.
    gpus
        Number of GPUs.
    limits
        The batches that the job can have.
    """
    local = -(-batch_size // gpus)
    steps = -(-local // limits.most_local) - 1
    if gpus == 1 and batch_size > limits.initial_batch:
        steps = max(steps, 1)
    return within(Batch(-(-local // (steps + 1)), steps), gpus, limits)


def within(batch: Batch, gpus: int, limits: Limits) -> Batch:
    """Lower what a GPU processes at once so that the batch is at most the largest one."""
    return batch._replace(local=min(batch.local, limits.most_batch // (gpus * (batch.steps + 1))))
