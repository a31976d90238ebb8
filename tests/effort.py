"""Effort: on how many random cases a property is tried."""

import os

#: Set for the full numbers, which `make thorough` runs; else a part of them, drawn anew every time.
_THOROUGH = "GSOPT_THOROUGH" in os.environ

#: Of so many cases one is tried; where that leaves fewer than a few, more are tried, up to a tenth.
_PART, _FEW, _TENTH = 30, 3, 10


def cases(number: int, *, least: int = 1) -> int:
    """Return how many of so many random cases are tried: a part, and no fewer than a test needs."""
    return number if _THOROUGH else max(threshold(number), min(_FEW, -(-number // _TENTH)), least)


def threshold(number: int) -> int:
    """Return how many of the cases that are tried must come to what so many of all come to."""
    return number if _THOROUGH else -(-number // _PART)
