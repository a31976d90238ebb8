"""Problems: the problem class and the solution class of each decision, one module per decision."""

from gsopt.problems.admission import Admission
from gsopt.problems.allocation import Allocation
from gsopt.problems.batching import Batching
from gsopt.problems.colocation import Colocation
from gsopt.problems.configuration import Configuration
from gsopt.problems.consolidation import Consolidation
from gsopt.problems.goodput import Goodput
from gsopt.problems.placement import Placement
from gsopt.problems.reclaiming import Reclaiming
from gsopt.problems.scheduling import Scheduling
from gsopt.problems.sequencing import Sequencing
from gsopt.problems.shares import Shares
from gsopt.problems.sharing import Sharing
from gsopt.problems.waiting import Waiting

__all__ = [
    "Admission",
    "Allocation",
    "Batching",
    "Colocation",
    "Configuration",
    "Consolidation",
    "Goodput",
    "Placement",
    "Reclaiming",
    "Scheduling",
    "Sequencing",
    "Shares",
    "Sharing",
    "Waiting",
]
