"""Jobs: a sharing problem as arrays in units of its own, of fractions or of floats, as the search takes them.

The same functions search in fractions, where everything is exact, and as kernels in floats. Floats are compared
with a margin for their rounding; whether two numbers within it are equal is known by their remainders modulo
primes, which sums and products of fractions have as integers do.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from gsopt.grid import Exact
from gsopt.problems.sharing import Sharing
from gsopt.tolerances import TIME_ROUNDING

Array = np.ndarray[Any, Any]

#: Primes below this make products of two remainders 64-bit integers; and how many remainders a number has.
_LARGEST, _PRIMES = 2**31, 2


class Jobs(NamedTuple):
    """The jobs of a problem, the smallest GPU time first.

    Times count from the first release date, in units of the longest duration.

    Attributes
    ----------
    gpus
        Number of GPUs, in an array of one.
    release, duration, demand
        Release date, duration alone and number of GPUs of each job.
    share
        Part of all GPUs that each job demands.
    slowdown
        ``slowdown[j, k]`` of job j beside k; in the last column 1, of a job that shares no GPU.
    worth
        ``worth[j, k]``: the most that a second of work of each of two jobs may be worth so that a GPU that they
        share earns no more in a second than one alone; 1 at most, and 1 for jobs that may not share. See
        `formulations.sharing.areas`.
    pairs
        Whether two jobs may share.
    rounding
        Relative error of the numbers and of a few operations on them, 0 for fractions; and the largest slowdown
        of any pair that may share, by which an error may grow.
    primes
        By which numbers have remainders.
    release_rest, duration_rest
        The same in seconds, as remainders.
    slow_rest, fast_rest
        Slowdowns, and their inverses, as remainders.
    """

    gpus: Array
    release: Array
    duration: Array
    demand: Array
    share: Array
    slowdown: Array
    worth: Array
    pairs: Array
    rounding: Array
    primes: Array
    release_rest: Array
    duration_rest: Array
    slow_rest: Array
    fast_rest: Array


class Units(NamedTuple):
    """What the arrays leave out: which job is which, and how long a unit of time is.

    Attributes
    ----------
    order
        Number in the problem of each job of the arrays.
    late
        Sum of the release dates, counted from the first one, in seconds.
    unit
        The length of a unit of time, in seconds.
    primes
        By which numbers have remainders.
    """

    order: tuple[int, ...]
    late: Exact
    unit: Fraction
    primes: tuple[int, ...]

    def total(self, mean: Exact) -> Fraction:
        """Give the sum of the ends of a schedule by its mean job completion time, in the arrays' units."""
        return (mean * len(self.order) + self.late) / self.unit

    def mean(self, total: Fraction) -> Fraction:
        """Give the mean job completion time by the sum of the ends."""
        return (total * self.unit - self.late) / len(self.order)

    def rests(self, total: Fraction) -> Array:
        """Give the remainders of a sum of ends; -1, as nothing has, where there is none."""
        seconds = total * self.unit
        return np.array([_rest(seconds, prime) if seconds.denominator % prime else -1 for prime in self.primes])


def arrays_of(problem: Sharing) -> tuple[Jobs, Units]:
    """Give the jobs of a problem as arrays of fractions.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=5, duration=d, gpus=1, model=n) for n, d in [("a", 4), ("b", 2)]]
    >>> arrays, units = arrays_of(Sharing(gpus=1, jobs=jobs, default_interference=1.6))
    >>> arrays.duration, arrays.worth[0, 1], units.mean(Fraction(2))
    (array([Fraction(1, 2), Fraction(1, 1)], dtype=object), Fraction(4, 5), Fraction(4, 1))
    """
    areas = [duration * job.gpus for duration, job in zip(problem.durations, problem.jobs, strict=True)]
    order = tuple(sorted(range(len(areas)), key=lambda job: (areas[job], job)))
    unit = Fraction(max(problem.durations))
    releases = [Fraction(problem.releases[job] - problem.origin) for job in order]
    durations = [Fraction(problem.durations[job]) for job in order]
    slowdowns = [[*(Fraction(problem.slowdown(j, k)) for k in order), Fraction(1)] for j in order]
    slowest = max(max(row) for row in slowdowns)
    pairs = [[j != k and problem.may_share(j, k) for k in order] for j in order]
    worth = [
        [
            min(1 / (1 / slowdowns[j][k] + 1 / slowdowns[k][j]), Fraction(1)) if pairs[j][k] else Fraction(1)
            for k in range(len(order))
        ]
        for j in range(len(order))
    ]
    primes = _primes([*releases, *durations, *(1 / slow for row in slowdowns for slow in row)], slowdowns)
    jobs = Jobs(
        gpus=np.array([problem.gpus]),
        release=_fractions([release / unit for release in releases]),
        duration=_fractions([duration / unit for duration in durations]),
        demand=np.array([problem.jobs[job].gpus for job in order]),
        share=_fractions([Fraction(problem.jobs[job].gpus, problem.gpus) for job in order]),
        slowdown=_fractions(slowdowns),
        worth=_fractions(worth),
        pairs=np.array(pairs),
        rounding=_fractions([Fraction(0), slowest]),
        primes=np.array(primes),
        release_rest=_rests(releases, primes),
        duration_rest=_rests(durations, primes),
        slow_rest=np.array([_rests(row, primes) for row in slowdowns]),
        fast_rest=np.array([_rests([1 / slow for slow in row], primes) for row in slowdowns]),
    )
    return jobs, Units(order, sum(releases), unit, primes)


def in_floats(jobs: Jobs) -> Jobs:
    """Give the same arrays in floats.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 3), ("b", 1)]]
    >>> in_floats(arrays_of(Sharing(gpus=1, jobs=jobs))[0]).duration
    array([0.33333333, 1.        ])
    """
    rounded = {
        name: array.astype(np.float64) for name, array in jobs._asdict().items() if array.dtype == np.object_
    }
    slowest = float(jobs.rounding[1])
    return jobs._replace(**{**rounded, "rounding": np.array([TIME_ROUNDING, slowest])})


def _fractions(values: Any) -> Array:
    return np.array(values, dtype=np.object_)


def _primes(divided: Iterable[Fraction], slowdowns: Iterable[Iterable[Fraction]]) -> tuple[int, ...]:
    """Give primes that divide no denominator, so that all numbers have remainders."""
    denominators = {value.denominator for value in divided}
    denominators |= {slow.denominator for row in slowdowns for slow in row}
    fit = (prime for prime in _primes_down() if all(each % prime for each in denominators))
    return tuple(islice(fit, _PRIMES))


def _primes_down() -> Iterator[int]:
    for number in range(_LARGEST - 1, 2, -2):
        if all(number % divisor for divisor in range(3, isqrt(number) + 1, 2)):
            yield number


def _rests(values: Iterable[Fraction], primes: tuple[int, ...]) -> Array:
    return np.array([[_rest(value, prime) for prime in primes] for value in values])


def _rest(value: Fraction, prime: int) -> int:
    return value.numerator * pow(value.denominator, -1, prime) % prime
