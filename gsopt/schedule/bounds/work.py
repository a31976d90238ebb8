"""Work: what a job needs at least, and the clock on which bounds count, in exact numbers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Self

from gsopt.core.numbers.grid import Exact, Number, decimal, whole
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.job import DEFAULT_MODE, Job, Workload

#: Bits of the steps in a second up to which times are counted without rounding, and bits in which the least
#: time is counted otherwise: a million times rounded down come to less than 2**-40 of it.
_MOST_BITS, _LEAST_BITS = 256, 64


def area(job: Job) -> Exact:
    """Compute the least GPU-seconds of a job over the menus of all its modes, phase by phase.

    Examples
    --------
    >>> area(Job(name="a", release_date=0, duration=60, gpus=2, menu=[(1, 0.6), (2, 1.0)]))
    100
    """
    return _least(job, lambda count: count)


def height(job: Job) -> Exact:
    """Compute the least seconds of a job over the menus of all its modes, phase by phase.

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
    """List the ways to run a job: mode, number of GPUs and speed without phases."""
    default = [(DEFAULT_MODE, *entry) for entry in job.menu or ((job.gpus, 1.0),)]
    return default + [(mode.name, *entry) for mode in job.modes for entry in mode.menu]


def _least(job: Job, held: Callable[[int], int]) -> Exact:
    """Add up over the phases what their work costs where least is held for it."""
    ways, duration = options(job), decimal(job.duration)
    if not job.phases:
        return whole(duration * _cheapest([(held(count), speed) for _, count, speed in ways]))
    total, begin = Fraction(0), 0.0
    for phase in job.phases:
        part = duration * (decimal(phase.until) - decimal(begin))
        slowed = ((held(count), speed, phase.slowdown_in(mode)) for mode, count, speed in ways)
        total += part * min(
            Fraction(count) * decimal(slower) / decimal(speed) for count, speed, slower in slowed
        )
        begin = phase.until
    return whole(total)


def _cheapest(ways: Sequence[tuple[int, float]]) -> Exact:
    """Compute the least of what is held for a unit of work; floats tell which ways come into question."""
    if len(ways) == 1 and ways[0][1] == 1:
        return ways[0][0]
    near = min(count / speed for count, speed in ways) * (1 + SUM)
    return min(Fraction(count, decimal(speed)) for count, speed in ways if count / speed <= near)


def first_release(workload: Workload) -> float:
    """Return the first release date; 0 without jobs."""
    return workload.jobs[0].release_date if workload.jobs else 0.0


def arrivals_of(workload: Workload) -> list[Exact]:
    """Return the release dates, counted from the first."""
    origin = decimal(first_release(workload))
    return [decimal(job.release_date) - origin for job in workload.jobs]


@dataclass(frozen=True)
class Steps:
    """What formulas look at, in whole steps of time from the first release date on.

    The steps divide all times if they can be as short as that; else times are rounded down. Whoever needs less,
    and is released earlier, is complete no later, so what is proven of the rounded times holds.

    Attributes
    ----------
    seconds
        Seconds of a step.
    origin
        The first release date.
    release, height
        Release date and least run time of each job.
    size
        Time in which all GPUs together do what a job needs at least.
    """

    seconds: Fraction
    origin: Exact
    release: Sequence[int]
    height: Sequence[int]
    size: Sequence[int]

    @classmethod
    def of(cls, workload: Workload, gpus: Number) -> Self:
        """Count the times of jobs on so many GPUs."""
        origin, release = decimal(first_release(workload)), arrivals_of(workload)
        heights = [height(job) for job in workload.jobs]
        all_gpus = decimal(gpus)
        sizes = [Fraction(area(job)) / all_gpus for job in workload.jobs]
        seconds = _step([*release, *heights, *sizes], [*heights, *sizes])

        def count(times: Iterable[Exact]) -> tuple[int, ...]:
            many, each = seconds.denominator, seconds.numerator
            return tuple(time.numerator * many // (time.denominator * each) for time in times)

        return cls(seconds, origin, count(release), count(heights), count(sizes))

    def divided(self, parts: int) -> Self:
        """Count the same times in steps that are so many times shorter."""
        times = (tuple(time * parts for time in own) for own in (self.release, self.height, self.size))
        return type(self)(self.seconds / parts, self.origin, *times)

    def completed(self, steps: Exact) -> Exact:
        """Turn a sum of all jobs' completion times in steps into seconds on the workload's clock."""
        return whole(self.origin * len(self.release) + steps * self.seconds)


def _step(times: Iterable[Exact], least: Iterable[Exact]) -> Fraction:
    """Choose a step that divides all times; or one that is far below the least."""
    parts = 1
    for time in times:
        parts = lcm(parts, time.denominator)
        if parts.bit_length() > _MOST_BITS:
            return Fraction(min(least), 2**_LEAST_BITS)
    return Fraction(1, parts)
