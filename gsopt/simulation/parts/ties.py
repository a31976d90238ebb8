"""Ties: the rounding of priorities, so that numerical errors do not break ties."""

from typing import Any

from gsopt.core.numbers.tolerances import SPEED_DIGITS


def settled(priority: Any) -> Any:
    """Round a float so that numerical errors do not break ties; return other numbers unchanged."""
    return float(f"{priority:.{SPEED_DIGITS}g}") if isinstance(priority, float) else priority
