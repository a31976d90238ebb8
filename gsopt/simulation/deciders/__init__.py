"""Deciders: incremental orders of jobs from which policies are made."""

from gsopt.simulation.deciders.accumulation import Pairs
from gsopt.simulation.deciders.colocating import Colocating
from gsopt.simulation.deciders.greedy import Greedy
from gsopt.simulation.deciders.migrating import Migrating
from gsopt.simulation.deciders.offers import Offers
from gsopt.simulation.deciders.pairing import Pairing
from gsopt.simulation.deciders.partners import Match, Partners
from gsopt.simulation.deciders.patience import Timers
from gsopt.simulation.deciders.pool import Pool, pool_of
from gsopt.simulation.deciders.segments import Segments
from gsopt.simulation.deciders.skipping import Skipping
from gsopt.simulation.deciders.tuner import Tuner
from gsopt.simulation.deciders.waiting import Waiting

__all__ = [
    "Colocating",
    "Greedy",
    "Match",
    "Migrating",
    "Offers",
    "Pairing",
    "Pairs",
    "Partners",
    "Pool",
    "Segments",
    "Skipping",
    "Timers",
    "Tuner",
    "Waiting",
    "pool_of",
]
