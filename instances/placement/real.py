"""Real: instances from public traces, if the traces are available."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gsopt.core.problem import About
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.traces.openb import FOLDER, OpenbNode, PodDemand, openb, read_nodes, read_pods

#: Step to which demands are rounded up, in GPUs, cores and GiB.
_GRID = (1, 4, 16)

#: Numbers of pods at the beginning of the list that make an instance each.
_FIRST = (1_000, 2_000, 4_000)

#: Number of pods that are already placed, and number of pods that arrive after them.
_STANDING, _ARRIVING = 2_000, 1_000

#: Thousandths per core, and MiB per GiB.
_MILLI, _MIB = 1_000, 1_024


#: Amounts of GPUs, cores and GiB.
Vector = tuple[int, int, int]


class _ServerKind(NamedTuple):
    """Identical servers: their GPU type, their capacity, and the resources in use."""

    gpu_type: str
    capacity: Vector
    used: Vector


def from_data(folder: Path) -> Iterator[Placement]:
    """Yield instances from Alibaba's openb cluster, which has 1,213 servers and 6,212 GPUs.

    The first instance contains the few GPU pods that run at the busiest moment if every pod starts when it is
    created. The next three contain the first 1,000, 2,000 and 4,000 pods of the list as if none had
    ended, which is how the authors of the trace fill the cluster. In the fifth, 1,000 pods arrive when the
    first 2,000 are already placed. If the trace is missing, nothing is yielded.

    Notes
    -----
    Q. Weng et al., Beware of fragmentation: Scheduling GPU-sharing workloads with fragmentation gradient
    descent, ATC 2023.
    """
    if not (folder / FOLDER).exists():
        return
    nodes, pods = read_nodes(folder, []), read_pods(folder, [])
    yield _named("busiest", snapshot(nodes, _running(folder, pods)))
    for number in _FIRST:
        yield _named(f"first-{number}", snapshot(nodes, pods[:number]))
    arriving = pods[_STANDING : _STANDING + _ARRIVING]
    yield _named("arriving", snapshot(nodes, arriving, standing=pods[:_STANDING]))


def snapshot(
    nodes: Sequence[OpenbNode], pods: Sequence[PodDemand], *, standing: Sequence[PodDemand] = ()
) -> Placement:
    """Create the problem of placing pods on nodes, some of which may already host pods.

    Amounts are GPUs, cores and GiB. A pod that requests part of a GPU gets a whole GPU. Cores are rounded up
    to multiples of 4 and memory to multiples of 16 GiB, which leaves a few dozen different demands. As demands
    are rounded up and capacities down, every placement is also valid for the actual amounts. The GPU types that
    a pod accepts are ignored. The pods in `standing` have been placed before, one by one, by best fit on GPUs.
    Those that do not fit are left out.
    """
    used = _used(nodes, standing)
    kinds = Counter(
        _ServerKind(node.gpu_type, _capacity(node), load) for node, load in zip(nodes, used, strict=True)
    )
    needs = Counter(map(_demand, pods))
    already = f" beside {len(standing):,} that stand" if standing else ""
    return Placement(
        about=About(source=f"{len(pods):,} pods{already}, {len(nodes):,} nodes of Alibaba openb, 2023"),
        servers=tuple(
            Server(
                name=f"{kind.gpu_type or 'node'}-{number}",
                count=count,
                capacity=_resources(kind.capacity),
                used=_resources(kind.used),
            )
            for number, (kind, count) in enumerate(kinds.items(), start=1)
        ),
        workers=tuple(
            Workers(job=f"p{number}", count=count, demand=_resources(demand))
            for number, (demand, count) in enumerate(needs.items(), start=1)
        ),
    )


def _named(name: str, problem: Placement) -> Placement:
    return problem.model_copy(update={"name": f"placement/real/openb-{name}"})


def _running(folder: Path, pods: Sequence[PodDemand]) -> list[PodDemand]:
    """Return the pods with GPUs that run at the busiest moment if each starts when it is created."""
    jobs = openb(folder).workload.jobs
    starts = np.array([job.release_date for job in jobs], dtype=float)
    ends = starts + np.array([job.duration for job in jobs], dtype=float)
    moment = max(starts, key=lambda time: int(((starts <= time) & (time < ends)).sum()))
    running = {job.name for job, start, end in zip(jobs, starts, ends, strict=True) if start <= moment < end}
    return [pod for pod in pods if pod.name in running]


def _used(nodes: Sequence[OpenbNode], standing: Sequence[PodDemand]) -> list[Vector]:
    """Return the resources in use on each node after the pods in `standing` are placed by best fit on GPUs."""
    capacity = np.array([_capacity(node) for node in nodes])
    free = capacity.copy()
    for pod in standing:
        demand = np.array(_demand(pod))
        roomy = (free >= demand).all(axis=1)
        if roomy.any():
            free[int(np.where(roomy, free[:, 0], np.inf).argmin())] -= demand
    return [(int(gpu), int(cpu), int(memory)) for gpu, cpu, memory in capacity - free]


def _capacity(node: OpenbNode) -> Vector:
    return node.gpus, node.cpu_milli // _MILLI, node.memory_mib // _MIB


def _demand(pod: PodDemand) -> Vector:
    gpus, cores, memory = _GRID
    return (
        pod.gpus * gpus,
        _rounded_up(pod.cpu_milli, cores * _MILLI) * cores,
        _rounded_up(pod.memory_mib, memory * _MIB) * memory,
    )


def _rounded_up(amount: int, step: int) -> int:
    return -(-amount // step)


def _resources(amounts: Vector) -> Resources:
    gpu, cpu, memory = amounts
    return Resources(gpu=gpu, cpu=cpu, memory=memory)
