"""Effort: on how many random cases a property is tried."""

import os

#: Set for the full numbers, which `make thorough` runs; else a part of them, drawn anew every time.
_THOROUGH = "GSOPT_THOROUGH" in os.environ

#: Of so many cases one is tried; where that leaves fewer than a few, more are tried, up to a tenth.
_PART, _FEW, _TENTH = 30, 3, 10


def cases(number: int, *, least: int = 1) -> int:
    """Return how many of so many random cases are tried: a part, and no fewer than a test needs."""
    if _THOROUGH:
        return number
    part, few = -(-number // _PART), min(_FEW, -(-number // _TENTH))
    return max(part, few, least)
