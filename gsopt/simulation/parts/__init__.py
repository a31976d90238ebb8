"""Parts: building blocks shared by several policies."""

from gsopt.simulation.parts.accumulation import Pairs
from gsopt.simulation.parts.greedy import Greedy
from gsopt.simulation.parts.offers import Offers
from gsopt.simulation.parts.partners import Match, Partners
from gsopt.simulation.parts.patience import Timers
from gsopt.simulation.parts.pool import Pool, pool_of
from gsopt.simulation.parts.skipping import Skipping
from gsopt.simulation.parts.waiting import WaitingQueue

__all__ = [
    "Greedy",
    "Match",
    "Offers",
    "Pairs",
    "Partners",
    "Pool",
    "Skipping",
    "Timers",
    "WaitingQueue",
    "pool_of",
]
