"""Ties: priorities that differ by rounding only are equal."""

from typing import Any

from gsopt.core.numbers.tolerances import SPEED_DIGITS


def settled(priority: Any) -> Any:
    """Let priorities be equal that differ by rounding only: those of jobs with the same slowdown always tie."""
    return float(f"{priority:.{SPEED_DIGITS}g}") if isinstance(priority, float) else priority
