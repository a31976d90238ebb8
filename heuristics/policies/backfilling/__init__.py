"""Backfilling: policies that let jobs overtake others without delaying reserved ones, by users' estimates."""

from heuristics.policies.backfilling.bracket import Bracket
from heuristics.policies.backfilling.brackets import wait_brackets
from heuristics.policies.backfilling.conservative import conservative_backfilling
from heuristics.policies.backfilling.easy import easy_backfilling

__all__ = ["Bracket", "conservative_backfilling", "easy_backfilling", "wait_brackets"]
