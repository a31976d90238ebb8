"""Jobs: a sharing problem as arrays of fractions or floats, in units that suit the search.

The same functions search exactly in fractions, and as compiled kernels in floating point. Floats are compared
with a margin for rounding errors. Whether two numbers within the margin are equal is decided by their
remainders modulo primes, which can be computed for sums and products of fractions just as for integers.

Every time in a schedule is a multiple of one small fraction of a second. Two times with the same remainders
differ by a multiple of that fraction times the product of the primes, so they are equal if they differ by less.
Up to 64 primes make this product far larger than any rounding error. If more would be needed, remainders are
not used.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt, lcm
from typing import Any, NamedTuple

import numpy as np

from gsopt.core.numbers.grid import Exact
from gsopt.core.numbers.tolerances import TIME_ROUNDING
from gsopt.problems.sharing import Sharing

Array = np.ndarray[Any, Any]
Row = Sequence[Fraction]

#: Upper limit on the primes, so that products of two remainders fit into 64 bits; and maximum number of
#: remainders per number.
_LARGEST, _MOST_PRIMES = 2**31, 64

#: Difference up to which remainders still tell whether two floats are equal, as a multiple of the rounding
#: error of the whole time span per pair of jobs.
_SPARE = 2**10


class Jobs(NamedTuple):
    """The jobs of a problem as arrays, in ascending order of GPU time.

    Times count from the first release date, in units of the longest duration.
    """

    gpus: Array  # number of GPUs, in an array of one
    # release, duration, demand: release date, duration alone and number of GPUs of each job
    release: Array
    duration: Array
    demand: Array
    share: Array  # demand of each job, as a fraction of all GPUs
    # ``slowdown[j, k]``: slowdown of job j beside k; the last column is 1, for a job that shares no GPU
    slowdown: Array
    # ``worth[j, k]``: the largest common weight of the work of two jobs at which a GPU that they share earns
    # at most 1 per second; at most 1, and 1 for jobs that may not share. See `formulations.sharing.areas`
    worth: Array
    pairs: Array  # whether two jobs may share
    # relative error of the numbers and of a few operations on them, 0 for fractions; and the largest slowdown
    # of any pair that may share, by which an error may grow
    rounding: Array
    primes: Array  # the primes modulo which numbers have remainders
    # two numbers that have the same remainders and differ by less than this are equal, in an array of one; 0
    # if that would take too many primes, so that remainders tell nothing
    near: Array
    # release_rest, duration_rest: release dates and durations in seconds, as remainders
    release_rest: Array
    duration_rest: Array
    # slow_rest, fast_rest: slowdowns, and their inverses, as remainders
    slow_rest: Array
    fast_rest: Array


class Units(NamedTuple):
    """The data for converting the arrays back: the order of the jobs, and the unit of time."""

    order: tuple[int, ...]  # index in the problem of each job in the arrays
    late: Exact  # sum of the release dates, counted from the first one, in seconds
    unit: Fraction  # the length of a unit of time, in seconds
    primes: tuple[int, ...]  # the primes modulo which numbers have remainders
    # the parts of a second of which every time in a schedule is a multiple; 0 if unknown
    parts: int

    def total(self, mean: Exact) -> Fraction:
        """Convert a mean job completion time in seconds to the sum of ends in the arrays' unit."""
        return (mean * len(self.order) + self.late) / self.unit

    def mean(self, total: Fraction) -> Fraction:
        """Convert a sum of ends in the arrays' unit to the mean job completion time in seconds."""
        return (total * self.unit - self.late) / len(self.order)

    def rests(self, total: Fraction) -> Array:
        """Convert a sum of ends in the arrays' unit to the remainders of the sum in seconds.

        Remainders prove nothing if `parts` is 0, or if the sum is no multiple of 1 / `parts` seconds. All
        entries are then -1, which differs from every remainder.
        """
        seconds = total * self.unit
        is_whole = self.parts % seconds.denominator == 0 < self.parts
        return np.array([_rest(seconds, prime) if is_whole else -1 for prime in self.primes])


def arrays_of(problem: Sharing) -> tuple[Jobs, Units]:
    """Return the jobs of a problem as arrays of fractions, and the units for converting them back."""
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
    parts = _parts([*releases, *durations], slowdowns, pairs)
    span = max(releases) + sum(durations) * slowest
    slip = _SPARE * len(order) ** 2 * Fraction(TIME_ROUNDING) * span
    primes, near = _primes(parts, slip, [*releases, *durations], slowdowns)
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
        near=_fractions([min(near / unit, Fraction(1))]),
        release_rest=_rests(releases, primes),
        duration_rest=_rests(durations, primes),
        slow_rest=np.array([_rests(row, primes) for row in slowdowns]),
        fast_rest=np.array([_rests([1 / slow for slow in row], primes) for row in slowdowns]),
    )
    return jobs, Units(order, sum(releases), unit, primes, parts)


def in_floats(jobs: Jobs) -> Jobs:
    """Return the same arrays as floats."""
    rounded = {
        name: array.astype(np.float64) for name, array in jobs._asdict().items() if array.dtype == np.object_
    }
    slowest = float(jobs.rounding[1])
    return jobs._replace(**{**rounded, "rounding": np.array([TIME_ROUNDING, slowest])})


def _fractions(values: Any) -> Array:
    return np.array(values, dtype=np.object_)


def _parts(times: Iterable[Fraction], slowdowns: Sequence[Row], pairs: Sequence[Sequence[bool]]) -> int:
    """Return the number of parts per second that makes all times integers, or 0 if it is too large.

    A job of p seconds whose slowdown becomes s_i at t_i, and finally s_k at t_k, ends at t_k + s_k p - the sum
    of (t_(i+1) - t_i) s_k / s_i. So each end of a job multiplies the denominator of the times by at most a
    denominator and a numerator of its slowdowns.
    """
    found = lcm(*(time.denominator for time in times))
    for row, may in zip(slowdowns, pairs, strict=True):
        own = [slow for slow, is_pair in zip(row, may, strict=False) if is_pair]
        found *= lcm(*(slow.denominator for slow in own)) * lcm(*(slow.numerator for slow in own))
        if found.bit_length() > _MOST_PRIMES * _LARGEST.bit_length():
            return 0
    return found


def _primes(
    parts: int, slip: Fraction, times: Iterable[Fraction], slowdowns: Iterable[Row]
) -> tuple[tuple[int, ...], Fraction]:
    """Return primes that divide no denominator, and the difference below which remainders prove equality.

    With such primes, all numbers have remainders. The difference is in seconds and at least `slip`: two times
    with the same remainders are equal if they differ by less. Returns a single prime and 0 if too many primes
    would be needed.
    """
    divisors = {time.denominator for time in times}
    divisors |= {each for row in slowdowns for slow in row for each in slow.as_integer_ratio()}
    found, product, number = list[int](), 1, _LARGEST
    while not found or (product < slip * parts and len(found) < _MOST_PRIMES):
        number = _prime_below(number)
        if all(each % number for each in divisors):
            found.append(number)
            product *= number
    if not parts or product < slip * parts:
        return (found[0],), Fraction(0)
    return tuple(found), Fraction(product, parts)


@cache
def _prime_below(number: int) -> int:
    number -= 1 + number % 2
    while not all(number % divisor for divisor in range(3, isqrt(number) + 1, 2)):
        number -= 2
    return number


def _rests(values: Iterable[Fraction], primes: tuple[int, ...]) -> Array:
    return np.array([[_rest(value, prime) for prime in primes] for value in values])


def _rest(value: Fraction, prime: int) -> int:
    return value.numerator * pow(value.denominator, -1, prime) % prime
