"""Costs and values that are hard on floats: many magnitudes, near ties, decimals."""

from collections.abc import Callable
from fractions import Fraction
from math import ulp
from random import Random

#: Draws one number after the other.
Draw = Callable[[], float]


def exactly(number: float | Fraction) -> Fraction:
    """Read a float as the decimal that it is written as; a fraction is one already.

    Examples
    --------
    >>> exactly(1.1), exactly(1e-9)
    (Fraction(11, 10), Fraction(1, 1000000000))
    """
    return number if isinstance(number, Fraction) else Fraction(repr(number))


def _ones(random: Random) -> Draw:
    del random
    return lambda: 1.0


def _equal(random: Random) -> Draw:
    number = 10 ** random.uniform(-9, 9)
    return lambda: number


def _integers(random: Random) -> Draw:
    return lambda: float(random.randint(0, 9))


def _decimals(random: Random) -> Draw:
    places = random.choice((1, 2))
    return lambda: round(random.uniform(0, 10), places)


def _seventeen_digits(random: Random) -> Draw:
    return lambda: 10 ** random.uniform(-9, 9)


def _tiny(random: Random) -> Draw:
    return lambda: random.uniform(0, 1e-8)


def _huge(random: Random) -> Draw:
    return lambda: random.uniform(0, 1e9)


def _round_magnitudes(random: Random) -> Draw:
    return lambda: random.choice((0.0, 1e-9, 1e-6, 1e-3, 1.1, 1e3, 1e6, 1e9)) * random.randint(1, 3)


def _two_magnitudes(random: Random) -> Draw:
    low, high = 10.0 ** random.randint(-9, 0), 10.0 ** random.randint(1, 9)
    return lambda: random.choice((low, high)) * random.randint(0, 5)


def _relative_ties(random: Random) -> Draw:
    number = 10 ** random.uniform(-9, 9)
    return lambda: number * (1 + random.randint(-3, 3) * 1e-12)


def _ties_of_the_last_decimal(random: Random) -> Draw:
    places = random.randint(0, 9)
    whole = random.choice((10, 1_000, 1_000_000))
    return lambda: round(whole + random.randint(-3, 3) * 10.0**-places, places)


def _ties_of_the_last_bit(random: Random) -> Draw:
    number = 10 ** random.uniform(-9, 9)
    return lambda: number + random.randint(-3, 3) * ulp(number)


def _mostly_zero(random: Random) -> Draw:
    return lambda: random.choice((0.0, 0.0, 10 ** random.uniform(-9, 9)))


#: What numbers of one instance have in common, by name.
FAMILIES: dict[str, Callable[[Random], Draw]] = {
    "ones": _ones,
    "equal": _equal,
    "integers": _integers,
    "decimals": _decimals,
    "17 digits": _seventeen_digits,
    "tiny": _tiny,
    "huge": _huge,
    "round magnitudes": _round_magnitudes,
    "two magnitudes": _two_magnitudes,
    "relative ties": _relative_ties,
    "ties of the last decimal": _ties_of_the_last_decimal,
    "ties of the last bit": _ties_of_the_last_bit,
    "mostly zero": _mostly_zero,
}
