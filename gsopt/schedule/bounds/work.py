"""Work: the minimum resources that a job needs, and the whole steps in which bounds count time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Self

from gsopt.core.numbers.grid import Exact, Number, decimal, whole
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.job import DEFAULT_MODE, Job, Workload

#: Times are exact if the number of steps in a second has at most the first number of bits. Otherwise the
#: shortest time has the second number of bits, and the errors of a million times add up to less than 2**-40
#: of the shortest time.
_MOST_BITS, _LEAST_BITS = 256, 64


def area(job: Job) -> Exact:
    """Return the minimum GPU-seconds of a job, with the most efficient mode and GPU count for each phase.

    Examples
    --------
    >>> area(Job(name="a", release_date=0, duration=60, gpus=2, menu=[(1, 0.6), (2, 1.0)]))
    100
    """
    return _least(job, lambda count: count)


def height(job: Job) -> Exact:
    """Return the minimum duration of a job in seconds, with the fastest mode and GPU count for each phase.

    Examples
    --------
    >>> height(Job(name="a", release_date=0, duration=60, gpus=2, menu=[(2, 1.0), (4, 1.5)]))
    40
    >>> from gsopt.scenario.job import Mode, Phase
    >>> late = Mode(name="late", menu=[(2, 2.0)])
    >>> phases = [Phase(until=0.5, modes={"late": 4.0}), Phase(until=1)]
    >>> height(Job(name="b", release_date=0, duration=60, gpus=2, modes=[late], phases=phases))
    45
    """
    return _least(job, lambda _: 1)


def options(job: Job) -> list[tuple[str, int, float]]:
    """List the ways to run a job: mode, number of GPUs, and speed before the slowdowns of phases."""
    default = [(DEFAULT_MODE, *entry) for entry in job.menu or ((job.gpus, 1.0),)]
    return default + [(mode.name, *entry) for mode in job.modes for entry in mode.menu]


def lag(job: Job) -> Exact:
    """Return the shortest time, in seconds, from the mean moment of a job's processing to its completion.

    The mean counts each phase by its area. The time is shortest if the job always runs at its highest speed. It
    is then half of the job's height if all phases are alike, and may be less if much of the area is processed
    in a short last phase.

    Examples
    --------
    >>> lag(Job(name="a", release_date=0, duration=60, gpus=2))
    30
    >>> from gsopt.scenario.job import Mode, Phase
    >>> wide = Mode(name="wide", menu=[(3, 3.0)])
    >>> phases = [Phase(until=0.25, modes={"wide": 3.0}), Phase(until=1)]
    >>> lag(Job(name="b", release_date=0, duration=4, gpus=1, modes=[wide], phases=phases))
    Fraction(3, 4)
    """
    if not job.phases:
        return whole(Fraction(height(job)) / 2)
    areas, heights = _leasts(job, lambda count: count), _leasts(job, lambda _: 1)
    later = [sum(heights[index + 1 :]) for index in range(len(heights))]
    parts = (own * (after + long / 2) for own, long, after in zip(areas, heights, later, strict=True))
    return whole(sum(parts, Fraction(0)) / sum(areas))


def _least(job: Job, held: Callable[[int], int]) -> Exact:
    """Return the total over all phases, each with the option that needs the least for the phase's work."""
    if job.phases:
        return whole(sum(_leasts(job, held), Fraction(0)))
    return whole(decimal(job.duration) * _cheapest([(held(count), speed) for _, count, speed in options(job)]))


def _leasts(job: Job, held: Callable[[int], int]) -> list[Fraction]:
    """Return the least that the work of each phase needs."""
    choices, duration = options(job), decimal(job.duration)
    found, begin = [], 0.0
    for phase in job.phases:
        part = duration * (decimal(phase.until) - decimal(begin))
        slowed = ((held(count), speed, phase.slowdown_in(mode)) for mode, count, speed in choices)
        least = min(Fraction(count) * decimal(slower) / decimal(speed) for count, speed, slower in slowed)
        found.append(part * least)
        begin = phase.until
    return found


def _cheapest(choices: Sequence[tuple[int, float]]) -> Exact:
    """Return the smallest amount needed for a unit of work. Floats narrow down the choices first."""
    if len(choices) == 1 and choices[0][1] == 1:
        return choices[0][0]
    near = min(count / speed for count, speed in choices) * (1 + SUM)
    return min(Fraction(count, decimal(speed)) for count, speed in choices if count / speed <= near)


def first_release(workload: Workload) -> float:
    """Return the first release date, or 0 if there are no jobs."""
    return workload.jobs[0].release_date if workload.jobs else 0.0


def arrivals_of(workload: Workload) -> list[Exact]:
    """Return the jobs' release dates, in seconds after the first one."""
    origin = decimal(first_release(workload))
    return [decimal(job.release_date) - origin for job in workload.jobs]


@dataclass(frozen=True)
class Steps:
    """The release dates, heights and sizes of jobs, in whole steps, from which bounds are computed.

    Release dates are counted from the first one. The step divides all release dates, heights and sizes, unless
    such a step would be too short. Times that it does not divide are rounded down to whole steps. A job that
    needs less time and is released earlier completes no later, so bounds for the rounded times remain valid.
    """

    seconds: Fraction  # of a step
    origin: Exact  # the first release date
    release: Sequence[int]
    height: Sequence[int]  # least run times
    size: Sequence[int]  # areas, as the time that all GPUs together take for them
    twice_lag: Sequence[int]  # double the least times from mean busy times to completions

    @classmethod
    def of(cls, workload: Workload, gpus: Number) -> Self:
        """Convert the jobs' release dates, heights, and areas divided by the number of GPUs into steps."""
        origin, release = decimal(first_release(workload)), arrivals_of(workload)
        heights = [height(job) for job in workload.jobs]
        all_gpus = decimal(gpus)
        sizes = [Fraction(area(job)) / all_gpus for job in workload.jobs]
        seconds = _step([*release, *heights, *sizes], [*heights, *sizes])

        def count(times: Iterable[Exact]) -> tuple[int, ...]:
            many, each = seconds.denominator, seconds.numerator
            return tuple(time.numerator * many // (time.denominator * each) for time in times)

        pairs = zip(workload.jobs, heights, strict=True)
        lags = count(2 * Fraction(lag(job)) if job.phases else long for job, long in pairs)
        return cls(seconds, origin, count(release), count(heights), count(sizes), lags)

    def divided(self, parts: int) -> Self:
        """Return the same times in steps that are shorter by a factor of `parts`."""
        rows = self.release, self.height, self.size, self.twice_lag
        times = (tuple(time * parts for time in own) for own in rows)
        return type(self)(self.seconds / parts, self.origin, *times)

    def completed(self, steps: Exact) -> Exact:
        """Convert the sum of all jobs' completion times from steps to seconds on the workload's clock."""
        return whole(self.origin * len(self.release) + steps * self.seconds)


def _step(times: Iterable[Exact], least: Iterable[Exact]) -> Fraction:
    """Return a step that divides all times, or otherwise one that is far shorter than the shortest time."""
    parts = 1
    for time in times:
        parts = lcm(parts, time.denominator)
        if parts.bit_length() > _MOST_BITS:
            return Fraction(min(least), 2**_LEAST_BITS)
    return Fraction(1, parts)
