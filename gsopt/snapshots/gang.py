"""Gang: a group of pods, or a job's shares of nodes, that run and stop together."""

from typing import Annotated

from pydantic import Field

from gsopt.core.problem import PRINTABLE, Frozen, Many, Name
from gsopt.problems.placement import Resources
from gsopt.snapshots.node import Text

#: Maximum priority; it exceeds the priorities of schedulers, which have 32 bits.
MOST_PRIORITY = 10_000_000_000

#: Maximum number of different node requirements, each of which is compared with all nodes.
MOST_ASKED = 10_000

Count = Annotated[int, Field(ge=1, le=1_000_000)]


#: A reason why a gang must not be preempted, which names the pod concerned.
Reason = Annotated[str, Field(max_length=1_000, pattern=PRINTABLE)]


class Part(Frozen):
    """A part of a gang: a pod, a job's share of one node, or several identical waiting pods or shares.

    Attributes
    ----------
    name
        Name of the pod; empty for a job's share of a node.
    node
        Node on which the part runs; empty while it waits.
    count
        Number of identical parts.
    needs
        Resources that each part uses or waits for.
    gpus
        Number of GPUs of each part, which may be a fraction.
    started
        Time at which the part started, as a Unix timestamp; None if unknown.
    where
        Name of the `Where` that lists the nodes on which the part may start if they are open; empty if it may
        start on any open node.
    replaced
        Whether a controller replaces the part if it is lost.
    scratch
        Whether the part has temporary files on its node, which are deleted when the part is evicted.
    budgets
        Names of the disruption budgets that apply to the part.

    Examples
    --------
    >>> Part(node="n1", needs=Resources(gpu=4), gpus=4).count
    1
    """

    name: Text = ""
    node: Text = ""
    count: Count = 1
    needs: Resources = Resources()
    gpus: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    started: float | None = None
    where: Text = ""
    replaced: bool = True
    scratch: bool = False
    budgets: Many[Name] = ()


class Gang(Frozen):
    """A job whose parts run and stop together, or a pod that belongs to no group.

    Attributes
    ----------
    name
        Namespace and name of the gang, or the id of a Slurm job.
    kind
        Kind of the object that groups the pods, such as ``PodGroup``, or of a Slurm job, such as ``array``.
    parts
        The pods of the gang, or its shares of nodes.
    priority
        Priority, as stated by the scheduler.
    copies
        Number of identical waiting gangs, such as the tasks of a job array, that this entry stands for.
    kept
        Reason why the gang must not be preempted; empty if it may be.
    requeues
        Whether the gang restarts automatically after a preemption.

    Examples
    --------
    >>> gang = Gang(name="a/llm", kind="Job", parts=[Part(node=node, gpus=8) for node in ("n1", "n2")])
    >>> gang.gpus, gang.nodes
    (16.0, ('n1', 'n2'))
    """

    name: Name
    kind: Text = ""
    parts: Annotated[Many[Part], Field(min_length=1)]
    priority: Annotated[int, Field(ge=-MOST_PRIORITY, le=MOST_PRIORITY)] = 0
    copies: Count = 1
    kept: Reason = ""
    requeues: bool = True

    @property
    def standing(self) -> tuple[Part, ...]:
        """The parts that are running on nodes."""
        return tuple(part for part in self.parts if part.node)

    @property
    def waiting(self) -> tuple[Part, ...]:
        """The parts that are waiting to be placed."""
        return tuple(part for part in self.parts if not part.node)

    @property
    def gpus(self) -> float:
        """Total number of GPUs of the running parts; it may be a fraction."""
        return sum(part.count * part.gpus for part in self.parts if part.node)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes on which the gang runs, each listed once."""
        return tuple(dict.fromkeys(part.node for part in self.parts if part.node))


class Where(Frozen):
    """A set of nodes on which certain parts may run.

    Attributes
    ----------
    name
        Name by which parts refer to the set.
    reason
        The requirement that the nodes meet, such as a selector or a partition.
    nodes
        Names of the nodes that meet the requirement, open or not.

    Examples
    --------
    >>> Where(name="where-1", reason="gpu=a100", nodes=["n1"]).nodes
    ('n1',)
    """

    name: Name
    reason: Text = ""
    nodes: Many[Name] = ()
