"""Goodput: heuristics that divide the GPUs of every node among adaptive jobs."""

from heuristics.goodput.genetic import genetic
from heuristics.goodput.greedy import greedy

__all__ = ["greedy", "genetic"]  # noqa: RUF022 - the best of little time first
