"""Flexing: functions that add and remove the flexible workers of running jobs."""

from collections.abc import Iterable, Mapping

import numpy as np

from heuristics.policies.aryl.occupancy import Occupancy, RunningJob
from heuristics.policies.aryl.placing import place_flexible


def displace(occupancy: Occupancy) -> None:
    """Remove flexible workers whose GPUs base workers have taken.

    On each machine, the workers of the job with the highest job number go first. The affected jobs then release
    further workers until their numbers of workers are allowed.
    """
    moved: dict[int, RunningJob] = {}
    for machine in np.flatnonzero(occupancy.idle < 0).tolist():
        for running in reversed(occupancy.flexible_on(machine)):
            missing = -int(occupancy.idle[machine])
            if missing <= 0:
                break
            size = running.form.worker_gpus
            occupancy.put_flexible(running, machine, -min(running.flexible[machine], -(-missing // size)))
            moved[running.job] = running
    for running in moved.values():
        release(occupancy, running, running.allowed(running.extra))


def release(occupancy: Occupancy, running: RunningJob, extra: int) -> None:
    """Remove flexible workers of a job until `extra` are left.

    Workers on machines that also host base workers, of any job, go first. Ties go to the last machine.
    """
    surplus = running.extra - extra
    while surplus > 0:
        machine = max(running.flexible, key=lambda each: (occupancy.base[each] > 0, each))
        number = min(running.flexible[machine], surplus)
        occupancy.put_flexible(running, machine, -number)
        surplus -= number


def flex(occupancy: Occupancy, extras: Mapping[int, int], *, grouping: bool, own_only: bool = False) -> None:
    """Grant every elastic job its number of flexible workers in `extras`, or fewer if they do not fit.

    A job without an entry gets none. Numbers that are not allowed are rounded down. Remaining workers do not
    move. Jobs that get more workers are served in descending order of worker size, ties in order of job number;
    jobs that may use both pools come last. With `own_only`, a job's new workers may only go to machines on
    which it already has workers.
    """
    growing: list[tuple[RunningJob, int]] = []
    for job, running in occupancy.elastic.items():
        target = extras.get(job, 0)
        if target == running.extra:
            continue
        target = running.allowed(target)
        if target < running.extra:
            release(occupancy, running, target)
        elif target > running.extra:
            growing.append((running, target))
    growing.sort(key=lambda each: (each[0].pool == "mixed", -each[0].form.worker_gpus, each[0].job))
    for running, target in growing:
        among = _own(occupancy, [*running.base, *running.flexible]) if own_only else None
        placed = place_flexible(occupancy, running, target - running.extra, grouping=grouping, among=among)
        for machine, number in placed.items():
            occupancy.put_flexible(running, machine, number)
        if running.extra < target:
            release(occupancy, running, running.allowed(running.extra))


def _own(occupancy: Occupancy, machines: Iterable[int]) -> np.ndarray:
    mask = np.zeros(occupancy.present.size, dtype=np.bool_)
    mask[list(machines)] = True
    return mask
