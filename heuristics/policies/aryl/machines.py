"""Machines: the machines of a cluster, their pools, and which machines suit a job."""

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Machines:
    """The machines of a cluster, numbered in cluster order and fixed during a run.

    Machines with GPUs of a given type are sometimes on loan. They form the pool ``inference``, and the others
    form the pool ``training``.

    Parameters
    ----------
    cluster
        The cluster.
    inference
        GPU type of the machines that are sometimes on loan; empty if there are none.

    Attributes
    ----------
    names, number_of
        Name of each machine, and index of each machine, keyed by name.
    gpus
        Number of GPUs of each machine, shape (machines,).
    first
        Index of the first GPU of each machine.
    inference
        Whether each machine belongs to the pool ``inference``, shape (machines,).
    machine_of
        Index of the machine that has each GPU.

    Raises
    ------
    InvalidInput
        The cluster is plain, i.e. it has no machines.
    """

    def __init__(self, cluster: Cluster, inference: str) -> None:
        if cluster.is_plain:
            rule = "must have machines: workers are placed on them"
            raise InvalidInput("cluster", f"{cluster.gpus} plain GPUs", rule)
        machines = cluster.machines
        self.names = tuple(machine.name for machine in machines)
        self.number_of = {name: number for number, name in enumerate(self.names)}
        self.machine_of: Sequence[int] = cluster.machine_of
        self.gpus: Counts = np.array([machine.gpus for machine in machines], dtype=np.int64)
        self.first = tuple(cluster.gpus_of[name].start for name in self.names)
        self.inference: Mask = np.array([bool(inference) and each.gpu_type == inference for each in machines])
        self._types = np.array([machine.gpu_type for machine in machines])
        self._memories = np.array([inf if each.memory is None else each.memory for each in machines])
        self._suiting: dict[tuple[str, int], Mask] = {}

    def suiting(self, gpu_type: str, memory: int) -> Mask:
        """Return whether each machine has the GPU type (any if empty) and at least the given memory per GPU."""
        need = gpu_type, memory
        if need not in self._suiting:
            enough = self._memories >= memory
            self._suiting[need] = enough & (self._types == gpu_type) if gpu_type else enough
        return self._suiting[need]
