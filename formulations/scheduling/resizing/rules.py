"""Launching: simple rules that start and resize jobs to make initial schedules."""

from collections.abc import Iterator, Sequence
from math import inf

from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.timetable import TimetableStep


def launches(jobs: Resizable) -> Iterator[list[TimetableStep]]:
    """Yield plans of `launch`: shortest time or fewest GPU-seconds first, with minimum or maximum `room`."""
    numbers = range(len(jobs))
    for order in (sorted(numbers, key=jobs.shortest), sorted(numbers, key=jobs.area.__getitem__)):
        for room in (jobs.least, jobs.most):
            yield launch(jobs, order, room)


def launch(jobs: Resizable, order: Sequence[int], room: Sequence[int]) -> list[TimetableStep]:
    """Start jobs in the given order as soon as there is room for them, and resize the running jobs.

    `room` holds the number of GPUs reserved for each job while it runs. A job starts if its minimum fits on
    GPUs that are not reserved; a job that does not fit may be overtaken. If the minimum of each job is
    reserved, jobs start early on few GPUs (the first phase of Aryl's Algorithm 2). If the maximum is reserved,
    jobs start only on GPUs that the running jobs cannot use. Each running job has at least its minimum, and the
    remaining GPUs go to the jobs with the shortest remaining time.
    """
    waiting, left, now = list(order), dict[int, float](), 0.0
    release = jobs.instance.release
    steps: list[TimetableStep] = []
    while waiting or left:
        for job in list(waiting):
            if release[job] <= now and jobs.least[job] <= jobs.gpus - sum(room[other] for other in left):
                left[job] = jobs.area[job]
                waiting.remove(job)
        gpus = _shares(jobs, left)
        first = min(left, key=lambda job: left[job] / gpus[job], default=None)
        end = inf if first is None else now + left[first] / gpus[first]
        ahead = min((release[job] for job in waiting if release[job] > now), default=inf)
        length = min(end, ahead) - now
        left = {job: left[job] - length * gpus[job] for job in left if job != first or ahead < end}
        steps.append(TimetableStep(length, gpus))
        now = min(end, ahead)
    return steps


def _shares(jobs: Resizable, left: dict[int, float]) -> dict[int, int]:
    """Assign each running job its minimum number of GPUs, and the rest to those that would complete first."""
    gpus = {job: jobs.least[job] for job in left}
    free = jobs.gpus - sum(gpus.values())
    for job in sorted(left, key=lambda job: left[job] / jobs.most[job]):
        more = min(jobs.most[job] - gpus[job], free // jobs.size[job] * jobs.size[job])
        gpus[job] += more
        free -= more
    return gpus
