"""Backfilling: policies that use estimates to let jobs overtake others without delaying reserved starts."""

from heuristics.policies.backfilling.conservative import conservative_backfilling
from heuristics.policies.backfilling.easy import easy_backfilling

__all__ = ["conservative_backfilling", "easy_backfilling"]
