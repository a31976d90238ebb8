"""Adaptive: the true speed and remaining iterations of an adaptive job with its user's batch."""

from collections.abc import Sequence

from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch, split


def seconds_per_iteration(
    application: Application, batch: int, shape: Sequence[int], *, doubled: bool = True
) -> float | None:
    """Return the true seconds of an iteration over a whole batch, or None if not measured.

    Each GPU processes its part of the batch in as few sub-batches as fit. All but the last skip the exchange of
    gradients. `shape` is the number of GPUs on each machine. If `doubled`, a single GPU takes at least two
    sub-batches for any batch.

    Source: Optimus in Pollux' simulator (OSDI 2021), which takes at least two sub-batches on a single GPU. The
    jobs of that simulator do so only if their batch exceeds the initial one.
    """
    gpus, limits = sum(shape), application.limits
    chosen = split(batch, gpus, limits)
    if doubled and gpus == 1 and not chosen.steps:
        chosen = Batch(local=-(-batch // 2), steps=1)
    times = application.step_time(shape, chosen.local)
    return None if times is None else times[0] + (times[0] - times[1]) * chosen.steps


def iterations_left(application: Application, batch: int, epoch: int) -> float:
    """Return the iterations with a batch from the end of an epoch to the end of the training, at least 1.

    Source: as in `seconds_per_iteration`. Only whole epochs are counted.
    """
    last = application.completion_epoch(batch)
    if last <= epoch:
        return 1.0
    return application.iterations(batch, last) - application.iterations(batch, epoch)
