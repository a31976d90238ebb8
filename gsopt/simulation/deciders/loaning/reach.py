"""Reach: where flexible workers of a heterogeneous job are worth having, and how fast it is with them."""

from gsopt.simulation.deciders.loaning.crew import Crew, Workers
from gsopt.simulation.deciders.loaning.epoch import Pool
from gsopt.simulation.deciders.loaning.machines import Machines, Mask
from gsopt.simulation.policy import State


def reach(state: State, crew: Crew, machines: Machines) -> tuple[Pool, tuple[float, ...]]:
    """Find where flexible workers of a job may stand, and its speed with each number of them.

    A job that stays on one pool has the speeds of its menu. A mixed job is as fast as the GPUs are that it
    would get: a pool counts if as many flexible workers as it holds would make the job faster than none, and
    the speeds are those on the inference pool if that counts.

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
    if lent[-1] > lent[0] and own[-1] > own[0]:
        return "mixed", lent
    if lent[-1] > lent[0]:
        return "inference", lent
    return "training", own if own[-1] > own[0] else own[:1]


def _speeds(state: State, crew: Crew, machines: Machines, pool: Mask) -> tuple[float, ...]:
    """Give the speed with each number of flexible workers on the machines of a pool."""
    form, size = crew.form, crew.form.worker_gpus
    base = {machine: number * size for machine, number in crew.base.items()}
    held = _gpus(machines, base)
    suits = (form.suits & pool).nonzero()[0].tolist()
    room = {machine: (int(machines.gpus[machine]) - base.get(machine, 0)) // size * size for machine in suits}
    further = _gpus(machines, room, after=base)[: size * (len(form.speeds) - 1)]
    alone = float(state.rate(crew.job, held, form.mode))
    speeds = [form.speeds[0]]
    for extra in range(1, len(further) // size + 1):
        speed = 0.0
        if form.speeds[extra]:
            rate = float(state.rate(crew.job, held + further[: extra * size], form.mode))
            speed = form.speeds[0] * rate / alone
        speeds.append(speed)
    while not speeds[-1]:
        speeds.pop()
    return tuple(speeds)


def _gpus(machines: Machines, counts: Workers, after: Workers | None = None) -> tuple[int, ...]:
    """Give so many GPUs of each machine, by number, after some that are left out."""
    found: list[int] = []
    for machine, count in counts.items():
        begin = machines.first[machine] + (after or {}).get(machine, 0)
        found += range(begin, begin + count)
    return tuple(found)
