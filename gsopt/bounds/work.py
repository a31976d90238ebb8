"""Work: what a job needs at least, and the clock on which bounds count."""

from collections.abc import Callable, Iterable
from itertools import chain
from math import fsum

from gsopt.job import DEFAULT_MODE, Job, Workload


def area(job: Job) -> float:
    """Give the least GPU-seconds of a job over the menus of all its modes, phase by phase.

    Examples
    --------
    >>> area(Job(name="a", release_date=0, duration=60, gpus=2, menu=[(1, 0.6), (2, 1.0)]))
    100.0
    """
    return _least(job, lambda work, count, speed: count * work / speed)


def height(job: Job) -> float:
    """Give the least seconds of a job over the menus of all its modes, phase by phase.

    Examples
    --------
    >>> height(Job(name="a", release_date=0, duration=60, gpus=2, menu=[(2, 1.0), (4, 1.5)]))
    40.0
    >>> from gsopt.job import Mode, Phase
    >>> late = Mode(name="late", menu=[(2, 2.0)])
    >>> phases = [Phase(until=0.5, modes={"late": 4.0}), Phase(until=1)]
    >>> height(Job(name="b", release_date=0, duration=60, gpus=2, modes=[late], phases=phases))
    45.0
    """
    return _least(job, lambda work, _, speed: work / speed)


def options(job: Job) -> list[tuple[str, int, float]]:
    """List the ways to run a job: mode, number of GPUs and speed without phases.

    Examples
    --------
    >>> from gsopt.job import Mode
    >>> options(Job(name="a", release_date=0, duration=60, gpus=2, modes=[Mode(name="m", menu=[(1, 0.6)])]))
    [('', 2, 1.0), ('m', 1, 0.6)]
    """
    default = [(DEFAULT_MODE, *entry) for entry in job.menu or ((job.gpus, 1.0),)]
    return default + [(mode.name, *entry) for mode in job.modes for entry in mode.menu]


def _least(job: Job, cost: Callable[[float, int, float], float]) -> float:
    """Add up over the phases what their work costs in the best way to run the job there."""
    ways = options(job)
    if not job.phases:
        return min(cost(job.duration, count, speed) for _, count, speed in ways)
    ends = [job.duration * phase.until for phase in job.phases]
    return fsum(
        min(cost((end - begin) * phase.slowdown_in(mode), count, speed) for mode, count, speed in ways)
        for phase, begin, end in zip(job.phases, [0.0, *ends], ends, strict=False)
    )


def first_release(workload: Workload) -> float:
    """Give the first release date; 0 without jobs."""
    return workload.jobs[0].release_date if workload.jobs else 0.0


def arrivals_of(workload: Workload) -> list[float]:
    """Release dates, counted from the first."""
    return [job.release_date - first_release(workload) for job in workload.jobs]


def sum_from_first_release(workload: Workload, *times: Iterable[float]) -> float:
    """Add up times counted from the first release date, and the origin once for each job."""
    return fsum(chain([first_release(workload)] * len(workload.jobs), *times))
