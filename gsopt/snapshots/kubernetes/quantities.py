"""Quantities: amounts in the notation of Kubernetes, such as ``64000m`` and ``256Gi``."""

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from gsopt.snapshots.field import Field

#: Maximum amount of a resource in a problem.
_MOST = 1_000_000_000

_MEBI = 2**20
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_QUANTITY = re.compile(
    r"(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:([numkMGTPE]?|[KMGTPE]i)|[eE]([+-]?\d{1,2}))", re.ASCII
)


def quantity(field: Field) -> Fraction:
    """Read an exact amount, which is 0 if it is missing."""
    if field.value is None:
        return Fraction(0)
    value = _value(field.scalar())
    if value is None:
        field.refuse("must be an amount such as 8, 64000m or 256Gi")
    return value


@lru_cache(maxsize=4096)  # a cluster's pods ask for few different amounts
def _value(text: str) -> Fraction | None:
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    number = Fraction(found[1] if found[1][-1] != "." else found[1][:-1])
    if found[3]:
        return number * Fraction(10) ** int(found[3])
    return number * (1024 ** _BINARY[found[2]] if found[2] in _BINARY else Fraction(10) ** _DECIMAL[found[2]])


def amount(field: Field, value: Fraction, *, needed: bool) -> int:
    """Return an amount as an integer, rounded up if it is `needed` and down if it is available."""
    whole = ceil(value) if needed else floor(value)
    if whole > _MOST:
        field.refuse(f"must be at most {_MOST:,} of what it is counted in")
    return whole


def unit_of(resource: str) -> Fraction:
    """Return the factor that converts an amount into the unit that problems use; 1 for most resources."""
    return {"cpu": Fraction(1000), "memory": Fraction(1, _MEBI)}.get(resource, Fraction(1))
