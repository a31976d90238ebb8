"""Snapshots: clusters that run, what to return of them and where to place what waits.

Files of network topologies, which `gsopt.scenario.cluster.formats` reads, say nothing about what runs. A
snapshot does, and so stands above the decisions that it gives rise to.
"""

from gsopt.snapshots import kubernetes, slurm
from gsopt.snapshots.draining import Drain, drain
from gsopt.snapshots.gang import Gang, Part, Where
from gsopt.snapshots.node import Node
from gsopt.snapshots.packing import Pack, pack
from gsopt.snapshots.reader import Source, read_snapshot
from gsopt.snapshots.returning import Cost
from gsopt.snapshots.snapshot import Snapshot

__all__ = [
    "Cost",
    "Drain",
    "Gang",
    "Node",
    "Pack",
    "Part",
    "Snapshot",
    "Source",
    "Where",
    "drain",
    "kubernetes",
    "pack",
    "read_snapshot",
    "slurm",
]
