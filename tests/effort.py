"""Effort: on how many random cases a property is tried."""

import os

#: Set for the full numbers, which `make thorough` runs; else a part of them, drawn anew every time.
_THOROUGH = "GSOPT_THOROUGH" in os.environ

_PART = 30


def cases(number: int) -> int:
    """Return how many of so many random cases are tried."""
    return number if _THOROUGH else -(-number // _PART)
