"""Growth: the pools in which flexible workers make a job faster, and the job's speed with them."""

from collections.abc import Iterator, Mapping
from itertools import islice

from gsopt.simulation.policy import State
from heuristics.policies.aryl.machines import Machines, Mask
from heuristics.policies.aryl.occupancy import RunningJob
from heuristics.policies.aryl.scheduler import Pool


def growth(state: State, running: RunningJob, machines: Machines) -> tuple[Pool, tuple[float, ...]]:
    """Return the pool for a job's flexible workers, and the job's speed with each number of them.

    A job in a single pool has the speeds of its form. The speed of a mixed job depends on the GPUs that it
    would get. A number of flexible workers in a pool is allowed if the form allows it, and if it makes the job
    faster than without any. A pool without allowed numbers is excluded. The speeds are those in the inference
    pool or, if that is excluded, those in the training pool.
    """
    form = running.form
    if form.pool != "mixed" or not form.is_elastic:
        return form.pool, form.speeds
    lent = _speeds(state, running, machines, machines.inference)
    own = _speeds(state, running, machines, ~machines.inference)
    if len(lent) > 1:
        return "mixed" if len(own) > 1 else "inference", lent
    return "training", own


def _speeds(state: State, running: RunningJob, machines: Machines, pool: Mask) -> tuple[float, ...]:
    """Return a mixed job's speed with each number of flexible workers on the machines of a pool."""
    form, size = running.form, running.form.worker_gpus
    first = machines.first
    base = {machine: number * size for machine, number in running.base.items()}
    held = tuple(
        gpu for machine, count in base.items() for gpu in range(first[machine], first[machine] + count)
    )
    further = tuple(islice(_further(machines, form.suits & pool, size, base), size * (len(form.speeds) - 1)))
    alone = float(state.rate(running.job, held, form.mode))
    speeds = [form.speeds[0]]
    for extra in range(1, len(further) // size + 1):
        speed = 0.0
        if form.speeds[extra]:
            rate = float(state.rate(running.job, held + further[: extra * size], form.mode))
            speed = form.speeds[0] * rate / alone if rate > alone else 0.0
        speeds.append(speed)
    while not speeds[-1]:
        speeds.pop()
    return tuple(speeds)


def _further(machines: Machines, suits: Mask, size: int, base: Mapping[int, int]) -> Iterator[int]:
    """Yield the GPUs that further workers of a given size can use on machines beside the base workers."""
    for machine in suits.nonzero()[0].tolist():
        begin = machines.first[machine] + base.get(machine, 0)
        room = machines.first[machine] + int(machines.gpus[machine]) - begin
        yield from range(begin, begin + room // size * size)
