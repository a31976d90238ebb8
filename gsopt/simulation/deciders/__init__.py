"""Deciders: incremental orders of jobs from which policies are made."""

from gsopt.simulation.deciders.backfill import Backfill
from gsopt.simulation.deciders.elastic import Elastic
from gsopt.simulation.deciders.greedy import Greedy
from gsopt.simulation.deciders.waiting import Waiting

__all__ = ["Backfill", "Elastic", "Greedy", "Waiting"]
