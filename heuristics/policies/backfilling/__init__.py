"""Backfilling: policies that let jobs overtake others without delaying reserved ones, by users' estimates."""

from heuristics.policies.backfilling.conservative import conservative_backfilling
from heuristics.policies.backfilling.easy import easy_backfilling

__all__ = ["conservative_backfilling", "easy_backfilling"]
