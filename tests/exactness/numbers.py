"""Costs and values that are hard on floats: many magnitudes, near ties, decimals."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ulp
from random import Random

#: Draws one number after the other.
Draw = Callable[[], float]

_MAGNITUDES = (0.0, 1e-9, 1e-6, 1e-3, 1.1, 1e3, 1e6, 1e9)


def exactly(number: float | Fraction) -> Fraction:
    """Read a float as the decimal that it is written as; a fraction is one already.

    Examples
    --------
    >>> exactly(1.1), exactly(1e-9)
    (Fraction(11, 10), Fraction(1, 1000000000))
    """
    return number if isinstance(number, Fraction) else Fraction(repr(number))


def _each(number: Callable[[Random], float]) -> Callable[[Random], Draw]:
    """Draw every number by itself."""
    return lambda random: lambda: number(random)


def _spread(random: Random) -> float:
    return 10 ** random.uniform(-9, 9)


def _equal(random: Random) -> Draw:
    number = _spread(random)
    return lambda: number


def _decimals(random: Random) -> Draw:
    places = random.choice((1, 2))
    return lambda: round(random.uniform(0, 10), places)


def _two_magnitudes(random: Random) -> Draw:
    low, high = 10.0 ** random.randint(-9, 0), 10.0 ** random.randint(1, 9)
    return lambda: random.choice((low, high)) * random.randint(0, 5)


def _relative_ties(random: Random) -> Draw:
    number = _spread(random)
    return lambda: number * (1 + random.randint(-3, 3) * 1e-12)


def _ties_of_the_last_decimal(random: Random) -> Draw:
    places = random.randint(0, 9)
    whole = random.choice((10, 1_000, 1_000_000))
    return lambda: round(whole + random.randint(-3, 3) * 10.0**-places, places)


def _ties_of_the_last_bit(random: Random) -> Draw:
    number = _spread(random)
    return lambda: number + random.randint(-3, 3) * ulp(number)


#: What numbers of one instance have in common, by name.
FAMILIES: dict[str, Callable[[Random], Draw]] = {
    "ones": _each(lambda _: 1.0),
    "equal": _equal,
    "integers": _each(lambda random: float(random.randint(0, 9))),
    "decimals": _decimals,
    "17 digits": _each(_spread),
    "tiny": _each(lambda random: random.uniform(0, 1e-8)),
    "huge": _each(lambda random: random.uniform(0, 1e9)),
    "round magnitudes": _each(lambda random: random.choice(_MAGNITUDES) * random.randint(1, 3)),
    "two magnitudes": _two_magnitudes,
    "relative ties": _relative_ties,
    "ties of the last decimal": _ties_of_the_last_decimal,
    "ties of the last bit": _ties_of_the_last_bit,
    "mostly zero": _each(lambda random: random.choice((0.0, 0.0, _spread(random)))),
}


def total(parts: Iterable[Fraction | None]) -> Fraction | None:
    """Add up parts; None where one of them is."""
    found = list(parts)
    return None if None in found else sum((part for part in found if part is not None), Fraction(0))


def numbers(random: Random) -> tuple[str, Draw]:
    """Choose what the numbers of an instance have in common, and return its name and what draws them."""
    family = random.choice(list(FAMILIES))
    return family, FAMILIES[family](random)
