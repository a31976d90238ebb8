"""Node: a machine of a cluster that runs, what it has and what stands on it."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from gsopt.core.problem import PRINTABLE, Frozen, Name
from gsopt.problems.placement import Resources

#: Names of nodes that are one word to Slurm, whose commands take others for several.
NODE_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}", re.ASCII)

Text = Annotated[str, Field(max_length=400, pattern=PRINTABLE)]


class Node(Frozen):
    """A machine of a cluster that runs.

    Attributes
    ----------
    name
        Its name.
    gpus
        Number of its GPUs that work; 0 where it has none.
    gpu_type
        Their type; several are joined by ``+``, and it is empty where nobody says it.
    capacity
        What jobs may have of it: GPUs (or turns on them, where they are shared), CPUs in thousandths, memory in
        MiB, and others by their names, such as MIG slices.
    used
        What everything that stands there has of that.
    labels
        Labels, or partitions and features, by which nodes are chosen.
    kept
        Why it must not be returned; empty where it may be.
    closed
        Why nothing may be placed there; empty where something may be.

    Examples
    --------
    >>> Node(name="n1", gpus=8, gpu_type="H100", capacity=Resources(gpu=8), used=Resources(gpu=3)).gpus
    8
    """

    name: Name
    gpus: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    gpu_type: Text = ""
    capacity: Resources = Resources()
    used: Resources = Resources()
    labels: Mapping[str, str] = Field(default_factory=dict)
    kept: Text = ""
    closed: Text = ""

    def has(self, chosen: str) -> bool:
        """Check whether it has a label, given as ``key`` or ``key=value``.

        Examples
        --------
        >>> node = Node(name="n1", labels={"pool": "loan"})
        >>> node.has("pool=loan"), node.has("pool"), node.has("pool=own")
        (True, True, False)
        """
        key, told, value = chosen.partition("=")
        return key in self.labels and (not told or self.labels[key] == value)
