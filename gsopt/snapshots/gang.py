"""Gang: the pods, or the tasks of a job on its nodes, that run together and stop together."""

from typing import Annotated

from pydantic import Field

from gsopt.core.problem import PRINTABLE, Frozen, Many, Name
from gsopt.problems.placement import Resources
from gsopt.snapshots.node import Text

#: Priorities of schedulers have 32 bits.
MOST_PRIORITY = 10_000_000_000

#: Different sets of wishes for nodes; each is held against all nodes.
MOST_ASKED = 10_000

Count = Annotated[int, Field(ge=1, le=1_000_000)]


#: It names a part and what forbids to preempt it.
Reason = Annotated[str, Field(max_length=1_000, pattern=PRINTABLE)]


class Part(Frozen):
    """A pod of a gang, or what a job has on one node; or several that are alike and wait.

    Attributes
    ----------
    name
        Its name; empty for what a job has on a node.
    node
        The node on which it stands; empty while it waits.
    count
        How many are alike.
    needs
        What each has, or waits for.
    gpus
        How many GPUs that is, parts of GPUs included.
    started
        When it started, in seconds since 1970; None where nobody says it.
    where
        Name of the `Where` that says on which nodes it may stand; empty where on any.
    replaced
        Whether something replaces it when it is lost.
    scratch
        Whether it has files on the node that end with it.
    budgets
        The disruption budgets that count it.

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
    """What runs together and stops together: a job, or a pod that stands for itself.

    Attributes
    ----------
    name
        Its name, that of the namespace before it; an id of Slurm.
    kind
        What groups its pods, such as ``PodGroup`` or ``Job``.
    parts
        Its pods, or what it has on each node.
    priority
        Its priority, as the cluster counts it.
    copies
        How many wait that are alike, such as the tasks of an array.
    kept
        Why it must not be preempted; empty where it may be.
    requeues
        Whether it begins again by itself when it is preempted.

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
        """The parts that stand on nodes."""
        return tuple(part for part in self.parts if part.node)

    @property
    def waiting(self) -> tuple[Part, ...]:
        """The parts that wait for a place."""
        return tuple(part for part in self.parts if not part.node)

    @property
    def gpus(self) -> float:
        """GPUs that its parts have on nodes, parts of GPUs included."""
        return sum(part.gpus for part in self.parts if part.node)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on which it stands, each once."""
        return tuple(dict.fromkeys(part.node for part in self.parts if part.node))


class Where(Frozen):
    """On which nodes parts may stand.

    Attributes
    ----------
    name
        Its name.
    reason
        What they ask for, such as a selector or a partition.
    nodes
        The nodes that have it.

    Examples
    --------
    >>> Where(name="where-1", reason="gpu=a100", nodes=["n1"]).nodes
    ('n1',)
    """

    name: Name
    reason: Text = ""
    nodes: Many[Name] = ()
