"""Deciders: incremental orders of jobs from which policies are made."""

from gsopt.simulation.deciders.greedy import Greedy
from gsopt.simulation.deciders.pool import Pool, pool_of
from gsopt.simulation.deciders.segments import Segments
from gsopt.simulation.deciders.skipping import Skipping
from gsopt.simulation.deciders.waiting import Waiting

__all__ = ["Greedy", "Pool", "Segments", "Skipping", "Waiting", "pool_of"]
