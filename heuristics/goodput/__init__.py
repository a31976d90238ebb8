"""Heuristics for goodput."""

from heuristics.goodput.genetic import genetic
from heuristics.goodput.greedy import greedy

__all__ = ["greedy", "genetic"]  # noqa: RUF022 - the best of little time first
