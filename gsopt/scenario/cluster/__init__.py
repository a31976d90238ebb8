"""Cluster: a plain number of GPUs, or machines with GPUs and the tree of network levels that connects them.

The modules `link`, `machine`, `switch` and `cluster` define the data. The module `levels` numbers the groups of
every level, so that the tier of a placement can be looked up.
"""

from gsopt.scenario.cluster.cluster import Cluster
from gsopt.scenario.cluster.levels import Group
from gsopt.scenario.cluster.link import Link
from gsopt.scenario.cluster.machine import Island, Machine
from gsopt.scenario.cluster.switch import ISLAND, MACHINE, Rack, Switch
from gsopt.scenario.cluster.tier import Tier

__all__ = ["ISLAND", "MACHINE", "Cluster", "Group", "Island", "Link", "Machine", "Rack", "Switch", "Tier"]
