"""Snapshots: the states of running clusters, and the decisions that can be made about them.

Unlike a network topology file (`gsopt.scenario.cluster.formats`), a snapshot states what runs on the nodes.
The problems of giving nodes back, placing jobs and admitting gangs can be created from a snapshot.
"""

from gsopt.snapshots import kubernetes, slurm
from gsopt.snapshots.admitting import Admit, Request, admit
from gsopt.snapshots.defragmenting import defragment
from gsopt.snapshots.draining import Drain, drain
from gsopt.snapshots.explaining import Change, Why, why
from gsopt.snapshots.gang import Gang, Part, Where
from gsopt.snapshots.node import Node
from gsopt.snapshots.packing import Pack, pack
from gsopt.snapshots.reader import Source, read_snapshot
from gsopt.snapshots.returning import Cost
from gsopt.snapshots.snapshot import Snapshot

__all__ = [
    "Admit",
    "Change",
    "Cost",
    "Drain",
    "Gang",
    "Node",
    "Pack",
    "Part",
    "Request",
    "Snapshot",
    "Source",
    "Where",
    "Why",
    "admit",
    "defragment",
    "drain",
    "kubernetes",
    "pack",
    "read_snapshot",
    "slurm",
    "why",
]
