"""Reclaiming: Aryl's Algorithm 1 for choosing servers to return, its baselines, and an improvement."""

from heuristics.reclaiming.greedy import greedy
from heuristics.reclaiming.largest_job_first import largest_job_first
from heuristics.reclaiming.random_choice import random_choice
from heuristics.reclaiming.reverse_delete import reverse_delete
from heuristics.reclaiming.smallest_count_first import smallest_count_first
from heuristics.reclaiming.smallest_job_first import smallest_job_first
from heuristics.reclaiming.static_cost import static_cost

__all__ = [
    "greedy",
    "largest_job_first",
    "random_choice",
    "reverse_delete",
    "smallest_count_first",
    "smallest_job_first",
    "static_cost",
]
