"""Timetable: a plan of configurations, replayed as a schedule that the judge accepts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from formulations.scheduling.instance import Instance
from gsopt.problems.scheduling import Run, SchedulingSolution

#: Steps shorter than this part of the shortest job are noise of the program that made them.
_NOISE = 1e-9

#: Part of a job's work that counts as nothing.
_NOTHING = 1e-12


class Step(NamedTuple):
    """A configuration and how long it is held.

    Attributes
    ----------
    duration
        Seconds.
    gpus
        GPUs of each job that runs, by its number.
    """

    duration: float
    gpus: Mapping[int, int]


def replayed(instance: Instance, plan: Sequence[Step]) -> SchedulingSolution:
    """Replay a plan step by step, the first at the first release date, as a schedule without rounding errors.

    A program's plan holds to its tolerance only. Here a step begins no earlier than its jobs are released, a
    job stops when its work is done, and the last step of a job lasts until its work is done. So completion
    times differ from the plan's by no more than its errors. Steps of a billionth of the shortest job are left
    out. A job that is in no step does not complete.

    Parameters
    ----------
    instance
        The jobs.
    plan
        Steps in the order of time; idle ones run no job.

    Examples
    --------
    >>> from gsopt.problems.scheduling import ElasticJob, Scheduling
    >>> jobs = [ElasticJob(name=n, release=r, work=2, rates={1: 1.0, 2: 2.0}) for n, r in [("a", 0), ("b", 1)]]
    >>> instance = Instance.of(Scheduling(gpus=2, jobs=jobs))
    >>> plan = [Step(0.999_999_999, {0: 2}), Step(2, {1: 1})]
    >>> for run in replayed(instance, plan).runs:
    ...     print(run.job, run.start, run.end, run.gpus)
    a 0.0 1.0 2
    b 1.0 3.0 1
    """
    shortest = min(map(instance.height, range(len(instance))))
    steps = [step for step in plan if step.duration > _NOISE * shortest]
    last = {job: index for index, step in enumerate(steps) for job in step.gpus}
    rates = [{mode.gpus: mode.rate for mode in modes} for modes in instance.modes]
    left = list(instance.work)
    runs: list[list[Run]] = [[] for _ in instance.names]
    now = instance.arrivals[0]
    for index, (planned, gpus) in enumerate(steps):
        now = max([now, *(instance.release[job] for job in gpus)])
        needed = {job: left[job] / rates[job][count] for job, count in gpus.items()}
        duration = max([planned, *(seconds for job, seconds in needed.items() if last[job] == index)])
        for job, count in gpus.items():
            if left[job] <= _NOTHING * instance.work[job]:
                continue
            end = now + min(duration, needed[job])
            left[job] = max(left[job] - duration * rates[job][count], 0.0)
            _append(runs[job], instance.names[job], now, end, count)
        now += duration
    return SchedulingSolution(runs=[run for own in runs for run in own])


def _append(runs: list[Run], name: str, start: float, end: float, gpus: int) -> None:
    """Add a run, or let the one before last longer where nothing lies between."""
    if end <= start:  # shorter than the clock can tell
        return
    if runs and (runs[-1].end, runs[-1].gpus) == (start, gpus):
        start = runs.pop().start
    runs.append(Run(job=name, start=start, end=end, gpus=gpus))
