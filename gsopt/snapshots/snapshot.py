"""Snapshot: a cluster at one point in time, with its nodes and its running and waiting gangs."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import InvalidInput
from gsopt.core.problem import Frozen, Many, Name, RuleBroken, refuse_doubles
from gsopt.problems.placement import Placement
from gsopt.problems.reclaiming import Reclaiming
from gsopt.scenario.cluster import Cluster
from gsopt.snapshots.gang import Gang, Part, Where
from gsopt.snapshots.node import NODE_NAME, Node
from gsopt.snapshots.placing import placement_of
from gsopt.snapshots.returning import Cost, chosen_nodes, kept_nodes, reclaiming_of
from gsopt.snapshots.valid import validly

#: The form in which Slurm's commands name a job, or a task of an array.
_JOB_NAME = re.compile(r"\d{1,19}(_\d{1,19})?", re.ASCII)


class Snapshot(Frozen):
    """A cluster at one point in time, with its nodes and its running and waiting gangs.

    Attributes
    ----------
    source
        Scheduler of the cluster: ``"kubernetes"`` or ``"slurm"``.
    time
        Time of the snapshot, as a Unix timestamp; None if unknown.
    nodes
        The nodes of the cluster.
    gangs
        The running and waiting gangs.
    places
        Sets of nodes on which certain parts may run; `Part.where` names the set of a part.
    network
        The nodes with GPUs and the switches above them; None if no node has GPUs or the network is not given.
    budgets
        Number of evictions that each disruption budget now allows, keyed by the name of the budget.
    leaving
        Parts that are being deleted. Draining their nodes evicts them too, but no work is lost.

    Examples
    --------
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.snapshots import Part
    >>> nodes = [Node(name=name, gpus=8, capacity=Resources(gpu=8)) for name in ("n1", "n2", "n3")]
    >>> parts = [Part(node=name, gpus=4, needs=Resources(gpu=4)) for name in ("n1", "n2")]
    >>> snapshot = Snapshot(nodes=nodes, gangs=[Gang(name="llm", parts=parts)])
    >>> import gsopt
    >>> gsopt.solve(snapshot.reclaiming(1)).solution.servers
    ('n3',)
    """

    source: Literal["kubernetes", "slurm"] = "kubernetes"
    time: float | None = None
    nodes: Annotated[Many[Node], Field(min_length=1)]
    gangs: Many[Gang]
    places: Many[Where] = ()
    network: Cluster | None = None
    budgets: Mapping[Name, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    leaving: Many[Part] = ()

    @model_validator(mode="after")
    def _names_differ(self) -> "Snapshot":
        refuse_doubles("nodes", (node.name for node in self.nodes))
        refuse_doubles("gangs", (gang.name for gang in self.gangs))
        refuse_doubles("places", (where.name for where in self.places))
        return self

    @model_validator(mode="after")
    def _parts_stand_on_known_nodes(self) -> "Snapshot":
        nodes = {node.name for node in self.nodes}
        places = {where.name for where in self.places}
        for index, gang in enumerate(self.gangs):
            for part in gang.parts:
                if part.node and part.node not in nodes:
                    raise RuleBroken(f"gangs[{index}].parts", part.node, "must be one of the nodes")
                if part.where and part.where not in places:
                    raise RuleBroken(f"gangs[{index}].parts", part.where, "must be one of the places")
        return self

    @model_validator(mode="after")
    def _budgets_are_given(self) -> "Snapshot":
        for index, gang in enumerate(self.gangs):
            for name in (name for part in gang.parts for name in part.budgets):
                if name not in self.budgets:
                    raise RuleBroken(f"gangs[{index}].parts", name, "must be one of the budgets")
        return self

    @model_validator(mode="after")
    def _names_are_one_thing_to_commands(self) -> "Snapshot":
        """Reject node names such as ``n[1-2]``, which Slurm's commands would read as two names."""
        if self.source == "slurm":
            for index, node in enumerate(self.nodes):
                if not NODE_NAME.fullmatch(node.name):
                    raise RuleBroken(
                        f"nodes[{index}].name", node.name, "must be a name of letters, digits and . - _"
                    )
            for index, gang in enumerate(self.gangs):
                if not _JOB_NAME.fullmatch(gang.name):
                    raise RuleBroken(
                        f"gangs[{index}].name", gang.name, "must be the number of a job, such as 12_3"
                    )
        return self

    @property
    def cluster(self) -> Cluster:
        """The nodes with GPUs and the switches above them.

        Raises
        ------
        InvalidInput
            `network` is None.
        """
        if self.network is None:
            raise InvalidInput("nodes", "", "must be nodes of which at least one has GPUs")
        return self.network

    @property
    def gpus(self) -> Counter[str]:
        """Number of GPUs, keyed by GPU type; types of which there are no GPUs are omitted."""
        found: Counter[str] = Counter()
        for node in self.nodes:
            found[node.gpu_type] += node.gpus
        return +found

    @property
    def running(self) -> tuple[Gang, ...]:
        """The gangs with at least one part that is running on a node."""
        return tuple(gang for gang in self.gangs if gang.standing)

    @property
    def pending(self) -> tuple[Gang, ...]:
        """The gangs with at least one part that is waiting to be placed."""
        return tuple(gang for gang in self.gangs if gang.waiting)

    def kept(self, among: Sequence[str] = ()) -> dict[str, str]:
        """Return the reasons why nodes with GPUs must not be given back, keyed by the names of these nodes.

        Parameters
        ----------
        among
            Labels, each ``key`` or ``key=value``; only nodes that have all of them are considered. For Slurm,
            partitions and features.

        Raises
        ------
        InvalidInput
            One of these labels is not on any node.

        Examples
        --------
        >>> nodes = [Node(name="n1", gpus=8, kept="is cordoned"), Node(name="n2", gpus=8)]
        >>> Snapshot(nodes=nodes, gangs=[]).kept()
        {'n1': 'is cordoned'}
        """
        return kept_nodes(chosen_nodes(self.nodes, among), self.gangs)

    def reclaiming(self, servers: int, *, cost: str = Cost.JOBS, among: Sequence[str] = ()) -> Reclaiming:
        """Create the problem of giving nodes back at the least preemption cost.

        A node may be given back if it has GPUs and is not in `kept`. Every gang that has GPUs and runs on such
        a node becomes a job. Its number of GPUs on each of these nodes is rounded up to an integer of at least
        1. If the numbers of all jobs on a node add up to more GPUs than the node has, their sum is used as the
        node's number of GPUs.

        Parameters
        ----------
        servers
            Number of nodes to give back.
        cost
            Cost of preempting a gang: 1 (``"jobs"``), the GPU-hours used since its parts started
            (``"gpu-hours"``; 0 for parts whose start is unknown, and for all parts if `time` is None), or 1
            plus the amount by which its priority exceeds the lowest priority of all gangs that have GPUs
            (``"priority"``).
        among
            Labels, each ``key`` or ``key=value``; only nodes that have all of them may be given back. For
            Slurm, partitions and features.

        Raises
        ------
        InvalidInput
            A cost or label does not exist, `servers` is not a non-negative integer, or fewer nodes than
            requested, or none at all, may be given back.

        Examples
        --------
        >>> Snapshot(nodes=[Node(name="n1", gpus=8), Node(name="n2", gpus=8)], gangs=[]).reclaiming(1).demand
        1
        """
        return reclaiming_of(self.nodes, self.gangs, servers, cost=cost, among=among, time=self.time)

    def placement(self) -> Placement:
        """Create the problem of placing all waiting gangs on as few nodes as possible.

        Each combination of node requirements, such as selectors, affinities, tolerations or partitions,
        becomes a resource that only the nodes meeting these requirements have.

        Raises
        ------
        InvalidInput
            No node is open, a waiting part needs no resources, or too many parts wait.

        Examples
        --------
        >>> from gsopt.problems.placement import Resources
        >>> from gsopt.snapshots import Part
        >>> waiting = Gang(name="a", parts=[Part(count=2, needs=Resources(gpu=4))])
        >>> problem = Snapshot(nodes=[Node(name="n1", capacity=Resources(gpu=8))], gangs=[waiting]).placement()
        >>> problem.workers[0].count, problem.misfit
        (2, '')
        """
        with validly(""):
            return placement_of(self.nodes, self.gangs, self.places, self.network)
