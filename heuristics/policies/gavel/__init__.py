"""Gavel: time shares computed by linear programs and realized in rounds, and two versions of Themis."""

from heuristics.policies.gavel.gavel import gavel
from heuristics.policies.gavel.themis import themis
from heuristics.policies.gavel.themis_auction import themis_auction

__all__ = ["gavel", "themis", "themis_auction"]
