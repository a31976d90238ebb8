"""Steps: the jobs' work in training steps, and their steps per second on each kind of GPU."""

from collections.abc import Mapping
from typing import NamedTuple

from gsopt.scenario.job import LEAST
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import State


class StepsLeft(NamedTuple):
    """A job's total and remaining steps, and its steps per second on each kind of GPU with enough GPUs."""

    total: float
    left: float
    rates: Mapping[str, float]


def steps_left(state: State, job: int, inventory: Inventory) -> StepsLeft:
    """Return the steps of a job, counted as in Gavel's program and its port.

    The steps of an adaptive job are iterations with its user's batch size, no matter how much progress each of
    them makes. The number of completed steps is rounded to an integer, and at least one step remains until the
    job is complete. The steps of any other job are iterations with its batch size or, if its batch size or
    number of samples is unknown, seconds of work on its demanded GPUs.
    """
    item, trainee = state.jobs[job], state.trainee(job)
    kinds = inventory.kinds_with_room(state, job)
    rates = {kind: float(inventory.rate(state, job, kind)) for kind in kinds}
    work, left, per_second = item.duration, float(state.remaining(job)), 1.0
    if trainee is not None and item.batch_size is not None:
        course, batch = trainee.course, item.batch_size
        work = course.iterations(batch, course.work)
        left = max(1.0, work - round(course.iterations(batch, trainee.share * course.work)))
        for kind in kinds:
            shape, gpu_type = inventory.shape(state, job, kind), inventory.kinds[kind].gpu_type
            alone = item.duration * trainee.rate(shape, item.batch_in(inventory.mode(job, kind)), gpu_type)
            rates[kind] *= course.on(gpu_type).iteration_rate(shape, batch) / alone
    elif item.training is not None and item.batch_size is not None:
        per_second = item.training.samples / item.duration / item.batch_size
    return StepsLeft(
        total=work * per_second,
        left=max(left * per_second, LEAST),
        rates={kind: max(rate * per_second, LEAST) for kind, rate in rates.items()},
    )
