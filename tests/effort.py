"""Effort: on how many random cases a property is tried."""

import os

#: Set for the full numbers, which `make thorough` runs; else a part of them, drawn anew every time.
_THOROUGH = "GSOPT_THOROUGH" in os.environ

#: Of so many cases one is tried.
_PART = 10


def cases(number: int, *, least: int = 1) -> int:
    """Return how many of so many random cases are tried: a part, and no fewer than a test needs."""
    return number if _THOROUGH else max(-(-number // _PART), least)
