"""Grid: decimal data as exact numbers, their greatest common divisor, and rounding to its multiples."""

from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf, nextafter, ulp

from gsopt.core.numbers.tolerances import ULPS

Number = int | float | Fraction
Exact = int | Fraction


@lru_cache(maxsize=2**16, typed=True)  # typed: the double 0.1 equals a fraction that is not 1/10
def decimal(value: Number) -> Exact:
    """Return the exact value of a number, reading a float with a fractional part as its shortest decimal.

    For example, 1.1 becomes 11/10. Sums of such numbers have few digits, unlike exact sums of doubles. If the
    value is integral, it is returned as an integer.
    """
    if isinstance(value, float):
        if value.is_integer():
            return int(value)
        return Fraction(*Decimal(float.__repr__(value)).as_integer_ratio())  # numpy has a repr of its own
    return whole(value)


def exact_total(values: Iterable[Number]) -> Exact:
    """Return the exact sum of numbers, where the float 0.1 counts as 1/10; an integer if the sum is integral.

    Examples
    --------
    >>> exact_total([1.0, 2, 4.0]), exact_total([0.1, 0.2])
    (7, Fraction(3, 10))
    """
    totals: dict[int, int] = {}  # by denominator; decimals have few
    for value in values:
        number = value if isinstance(value, Fraction) else decimal(value)  # a fraction's hash takes long
        totals[number.denominator] = totals.get(number.denominator, 0) + number.numerator
    return whole(sum((Fraction(total, below) for below, total in totals.items()), Fraction(0)))


def exact_dot(pairs: Iterable[tuple[Exact, Exact]]) -> Exact:
    """Return the exact sum of the products of pairs, reducing the fraction only once.

    Examples
    --------
    >>> exact_dot([(Fraction(1, 3), 2), (Fraction(1, 3), 1)])
    1
    """
    numerator, denominator = 0, 1
    for a, b in pairs:
        below = a.denominator * b.denominator
        numerator = numerator * below + a.numerator * b.numerator * denominator
        denominator *= below
    return whole(Fraction(numerator, denominator))


def whole(value: Exact) -> Exact:
    """Return a fraction as an integer if it is integral, and unchanged otherwise."""
    return value.numerator if value.denominator == 1 else value


def step(values: Iterable[Exact]) -> Fraction | None:
    """Return the greatest common divisor of exact numbers, or None if all are 0.

    Examples
    --------
    >>> step([Fraction(11, 10), 1000000, 0]), step([6, 9]), step([0])
    (Fraction(1, 10), Fraction(3, 1), None)
    """
    found: dict[int, int] = {}  # by denominator; decimals have few
    for value in values:
        below = value.denominator
        found[below] = gcd(found.get(below, 0), value.numerator)
    numerator, denominator = 0, 1
    for below, above in found.items():
        numerator = gcd(numerator * below, above * denominator)
        denominator *= below
        shared = gcd(numerator, denominator)
        numerator, denominator = numerator // shared, denominator // shared
    return Fraction(numerator, denominator) if numerator else None


def ceil_to(value: Exact, step: Exact) -> Exact:
    """Return the smallest multiple of a step that is at least the given value."""
    return -floor_to(-value, step)


def floor_to(value: Exact, step: Exact) -> Exact:
    """Return the largest multiple of a step that is at most the given value."""
    return whole(Fraction(value) // step * step)


@lru_cache(maxsize=2**16)
def _floor_digits(numerator: int, denominator: int, digits: int) -> Exact:
    context = Context(prec=digits, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return whole(Fraction(context.divide(Decimal(numerator), Decimal(denominator))))


def floor_digits(value: Exact, digits: int) -> Exact:
    """Return the largest number with `digits` significant digits that is at most the given value.

    If `digits` is at most 15, the result survives conversion to a float and back with `decimal`, provided that
    it is 0 or that its absolute value is from 1e-300 to 1e15.

    Examples
    --------
    >>> floor_digits(Fraction(2, 3), 2), floor_digits(Fraction(-2, 3), 2), floor_digits(1234, 2)
    (Fraction(33, 50), Fraction(-67, 100), 1200)
    """
    return _floor_digits(value.numerator, value.denominator, digits)


def float_below(value: Exact) -> float:
    """Return the largest float that, read as its shortest decimal, is at most the given number.

    Examples
    --------
    >>> float_below(Fraction(1, 10)), float_below(Fraction(2, 3)), float_below(Fraction(-1, 3))
    (0.1, 0.6666666666666666, -0.33333333333333337)
    """
    nearest = float(value)
    return nearest if decimal(nearest) <= value else nextafter(nearest, -inf)


def lowest(value: Number) -> Exact:
    """Return the smallest exact number that a value may represent, allowing for rounding errors in floats."""
    return Fraction(value) - ULPS * Fraction(ulp(value)) if isinstance(value, float) else value


def highest(value: Number) -> Exact:
    """Return the largest exact number that a value may represent, allowing for rounding errors in floats."""
    return -lowest(-value)
