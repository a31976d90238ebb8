"""Reach: where flexible workers of a heterogeneous job are worth having, and how fast it is with them."""

from collections.abc import Iterator
from itertools import islice

from gsopt.simulation.policy import State
from heuristics.policies.aryl.crew import Crew, Workers
from heuristics.policies.aryl.epoch import Pool
from heuristics.policies.aryl.machines import Machines, Mask


def reach(state: State, crew: Crew, machines: Machines) -> tuple[Pool, tuple[float, ...]]:
    """Find where flexible workers of a job may stand, and its speed with each number of them.

    A job that stays on one pool has the speeds of its menu. A mixed job is as fast as the GPUs are that it
    would get: numbers of flexible workers on a pool that make it no faster than none are not allowed, a pool
    counts if any number is, and the speeds are those on the inference pool if that counts.

    Parameters
    ----------
    state
        What tells the speed on GPUs.
    crew
        The job, whose base workers are placed.
    machines
        The machines, whether they are there or not.
    """
    form = crew.form
    if form.pool != "mixed" or not form.is_elastic:
        return form.pool, form.speeds
    lent = _speeds(state, crew, machines, machines.inference)
    own = _speeds(state, crew, machines, ~machines.inference)
    if len(lent) > 1:
        return "mixed" if len(own) > 1 else "inference", lent
    return "training", own


def _speeds(state: State, crew: Crew, machines: Machines, pool: Mask) -> tuple[float, ...]:
    """Return the speed with each number of flexible workers on the machines of a pool."""
    form, size = crew.form, crew.form.worker_gpus
    first = machines.first
    base = {machine: number * size for machine, number in crew.base.items()}
    held = tuple(
        gpu for machine, count in base.items() for gpu in range(first[machine], first[machine] + count)
    )
    further = tuple(islice(_further(machines, form.suits & pool, size, base), size * (len(form.speeds) - 1)))
    alone = float(state.rate(crew.job, held, form.mode))
    speeds = [form.speeds[0]]
    for extra in range(1, len(further) // size + 1):
        speed = 0.0
        if form.speeds[extra]:
            rate = float(state.rate(crew.job, held + further[: extra * size], form.mode))
            speed = form.speeds[0] * rate / alone if rate > alone else 0.0
        speeds.append(speed)
    while not speeds[-1]:
        speeds.pop()
    return tuple(speeds)


def _further(machines: Machines, suits: Mask, size: int, base: Workers) -> Iterator[int]:
    """Yield the GPUs, by number, of all workers of one size that fit on machines beside base workers."""
    for machine in suits.nonzero()[0].tolist():
        begin = machines.first[machine] + base.get(machine, 0)
        room = machines.first[machine] + int(machines.gpus[machine]) - begin
        yield from range(begin, begin + room // size * size)
