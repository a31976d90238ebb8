"""Numbers as papers print them."""

from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction


def printed(value: float | Fraction, text: str) -> bool:
    """Check whether a text may print a value like this, rounded or cut off."""
    fraction, unit = Fraction(value), Decimal(text)
    exact = Decimal(fraction.numerator) / Decimal(fraction.denominator)
    return unit in {exact.quantize(unit, rounding=mode) for mode in (ROUND_HALF_UP, ROUND_DOWN)}
