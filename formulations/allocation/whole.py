"""Whole: the exact values of items, as integers over their common denominator."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.allocation.groups import Groups, Integers
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.decimals import whole_numbers
from gsopt.core.numbers.grid import decimal

#: Arrays of 64-bit integers, or of Python integers if 64 bits do not suffice.
Numbers = NDArray[Any]

#: Limit on the sum of every job's largest value, below which 64-bit integers are used. Sums of values and
#: prices then stay below 2**63.
LARGEST_TOTAL = 2**60

#: Maximum number of binary digits of a common denominator, and of all numbers together.
_LONGEST, _MOST_DIGITS = 20_000, 2**31

_TOO_LONG = "exact arithmetic: the numbers have no short common denominator"

#: Number of values that are converted between two checks of the clock.
_CHUNK = 50_000


@dataclass(frozen=True, eq=False)
class Whole:
    """Values as integers over a common denominator."""

    numbers: Numbers  # shape (items,)
    denominator: int  # common to all


def whole_values(groups: Groups, items: Integers, budget: Budget) -> Whole | None:
    """Return the exact values of the given items, whose indices are in ascending order.

    Returns None if the time limit is reached. Raises `Unsupported` if the values have no common denominator of
    reasonable length.
    """
    if budget.passed:
        return None
    tabled = np.array([job.values is not None for job in groups.problem.jobs], dtype=np.bool_)
    given = tabled[groups.job[items]] | (groups.extra[items] == 0)
    tables = _decimals(groups.value[items[given]], budget)
    if tables is None:
        return None
    proportional = _Proportional.of(groups, items[~given])
    denominator = lcm(tables.denominator, proportional.denominator)
    digits = denominator.bit_length()
    fits = digits < LARGEST_TOTAL.bit_length() and _total(groups, items) * denominator < LARGEST_TOTAL
    if digits > _LONGEST or (not fits and digits * items.size > _MOST_DIGITS):
        raise Unsupported(_TOO_LONG)
    kind: type = np.int64 if fits else object
    numbers: Numbers = np.zeros(items.size, dtype=kind)
    numbers[given] = tables.numbers.astype(kind) * (denominator // tables.denominator)
    places = np.flatnonzero(~given)
    for begin in range(0, places.size, _CHUNK):
        if budget.passed:
            return None
        part = places[begin : begin + _CHUNK]
        numbers[part] = proportional.numbers(groups, items[part], denominator, kind)
    return Whole(numbers, denominator)


def _total(groups: Groups, items: Integers) -> float:
    """Return an upper bound on the total value of any choice."""
    if not items.size:
        return 0.0
    job = groups.job[items]
    largest = np.maximum.reduceat(np.abs(groups.value[items]), np.flatnonzero(np.diff(job, prepend=-1)))
    return float(largest.sum())


def _decimals(values: NDArray[np.float64], budget: Budget) -> Whole | None:
    """Convert floats to the decimals that they are printed as, or return None if the time limit is reached."""
    short = whole_numbers(values)
    if short is not None:
        return Whole(*short)
    numbers: list[Fraction] = []
    for begin in range(0, values.size, _CHUNK):
        if budget.passed:
            return None
        numbers += (Fraction(decimal(value)) for value in values[begin : begin + _CHUNK].tolist())
    denominator = _common(number.denominator for number in numbers)
    whole = [number.numerator * (denominator // number.denominator) for number in numbers]
    return Whole(np.array(whole, dtype=object), denominator)


@dataclass(frozen=True, eq=False)
class _Proportional:
    """The factors of the values T w / (w + m) under proportional speed-up."""

    times: dict[int, Fraction]  # T by job
    workers: Integers  # the distinct numbers w + m, ascending
    # time_unit, share_unit: common denominators of the times, and of the shares w / (w + m)
    time_unit: int
    share_unit: int

    @classmethod
    def of(cls, groups: Groups, items: Integers) -> "_Proportional":
        jobs = groups.problem.jobs
        times = {job: Fraction(jobs[job].time or 0) for job in np.unique(groups.job[items]).tolist()}
        workers = np.unique(groups.workers[items])
        return cls(
            times=times,
            workers=workers,
            time_unit=_common(time.denominator for time in times.values()),
            share_unit=_common(workers.tolist()),
        )

    @property
    def denominator(self) -> int:
        return self.time_unit * self.share_unit

    def numbers(self, groups: Groups, items: Integers, denominator: int, kind: type) -> Numbers:
        """Return the numerators of the items' values over the given common denominator."""
        unit = denominator // self.share_unit
        times: Numbers = np.zeros(groups.size.size, dtype=kind)
        times[list(self.times)] = [int(time * unit) for time in self.times.values()]
        shares: Numbers = np.array([self.share_unit // count for count in self.workers.tolist()], dtype=kind)
        share = shares[np.searchsorted(self.workers, groups.workers[items])]
        product: Numbers = times[groups.job[items]] * (share * groups.extra[items].astype(kind))
        return product


def _common(denominators: Iterable[int]) -> int:
    """Return the least common multiple, or raise `Unsupported` if it has too many digits."""
    common = 1
    for denominator in set(denominators):
        common = lcm(common, denominator)
        if common.bit_length() > _LONGEST:
            raise Unsupported(_TOO_LONG)
    return common
