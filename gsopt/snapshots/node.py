"""Node: a machine of a running cluster, with its resources and their use."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from gsopt.core.problem import PRINTABLE, Frozen, Name
from gsopt.problems.placement import Resources

#: Node names that Slurm's commands read as a single name. They may read other names as several.
NODE_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}", re.ASCII)

Text = Annotated[str, Field(max_length=400, pattern=PRINTABLE)]


class Node(Frozen):
    """A machine of a running cluster.

    Attributes
    ----------
    name
        Name of the node.
    gpus
        Number of working GPUs.
    gpu_type
        Type of the GPUs; empty if unknown. Several types are joined by ``+``.
    capacity
        Resources for jobs: GPUs (or their time-sliced replicas), thousandths of CPUs, MiB of memory, and
        other resources under their own names, such as MIG slices.
    used
        Resources that are in use.
    labels
        Labels by which nodes are selected; for Slurm, the keys are partitions and features.
    kept
        Reason why the node must not be given back, whichever gangs run on it; empty if there is none.
    closed
        Reason why nothing may be placed on the node; empty if the node is open.

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
        """Check whether the node has the given label, which is of the form ``key`` or ``key=value``.

        Examples
        --------
        >>> node = Node(name="n1", labels={"pool": "loan"})
        >>> node.has("pool=loan"), node.has("pool"), node.has("pool=own")
        (True, True, False)
        """
        key, told, value = chosen.partition("=")
        return key in self.labels and (not told or self.labels[key] == value)
