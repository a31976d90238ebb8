"""Adaptive: the true speed and remaining iterations of an adaptive job at its user's batch size."""

from collections.abc import Sequence

from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch, split


def seconds_per_iteration(
    application: Application, batch: int, shape: Sequence[int], *, doubled: bool = True
) -> float | None:
    """Return the true seconds of an iteration over a full batch, or None if not measured.

    Each GPU processes its part of the batch in as few sub-batches as its memory allows, but a single GPU uses
    at least two if the batch size exceeds the initial one or `doubled` is set. All but the last sub-batch skip
    the exchange of gradients. `shape` is the number of GPUs on each machine.

    Source: Optimus in Pollux' simulator (OSDI 2021), which assumes at least two sub-batches on a single GPU.
    The jobs in that simulator use two only if their batch size exceeds the initial one.
    """
    gpus, limits = sum(shape), application.limits
    chosen = split(batch, gpus, limits)
    if doubled and gpus == 1 and not chosen.steps:
        chosen = Batch(local=-(-batch // 2), steps=1)
    times = application.step_time(shape, chosen.local)
    return None if times is None else times[0] + (times[0] - times[1]) * chosen.steps


def iterations_left(application: Application, batch: int, epoch: int) -> float:
    """Return how many iterations follow an epoch (counted from 0) until training ends, or 1 if it is the last.

    Source: as in `seconds_per_iteration`.
    """
    last = application.completion_epoch(batch)
    if last <= epoch:
        return 1.0
    return application.iterations(batch, last) - application.iterations(batch, epoch)
