"""Arrivals: pods that arrive at Alibaba's openb cluster one after another, by default until it is overfull."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gsopt.core.problem import About
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers
from instances.arguments import at_least
from instances.traces.openb import OpenbNode, PodDemand, read_nodes, read_pods

#: One GPU in thousandths.
_GPU = 1_000


class Allocation(NamedTuple):
    """GPUs requested by the workers so far and GPUs allocated to them, as percentages of all GPUs."""

    arrived: float
    allocated: float


def arrivals(folder: str | Path, *, pods: str = "default", load: float = 1.3, seed: int = 0) -> Placement:
    """Create the problem of placing pods of Alibaba's openb trace, which arrive until a given load is reached.

    All pods of a list arrive in random order. They are followed by pods drawn from the list with replacement,
    as long as all pods together request at most `load` times the cluster's GPUs. The servers are in random
    order, too. Each line of workers is one pod, with its cores in thousandths, its memory in MiB, its GPUs or
    thousandths of one, and the GPU types that it accepts. The unallocated GPUs are minimized, so pods may stay
    unplaced.

    Parameters
    ----------
    folder
        Folder that contains the public traces.
    pods
        Name of the list of pods, such as ``default``, ``gpushare40``, ``multigpu20`` or ``gpuspec33``.
    load
        Upper limit on the GPUs requested, as a multiple of the cluster's GPUs. If the list alone requests more,
        the last pods to arrive are left out.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        The trace cannot be read, or `load` is negative.

    Notes
    -----
    Q. Weng et al., Beware of fragmentation: Scheduling GPU-sharing workloads with fragmentation gradient
    descent, ATC 2023, section 6.1. The authors' program uses a different random number generator, so its orders
    differ.
    """
    at_least(0, load=load)
    random = np.random.default_rng(seed)
    nodes = read_nodes(folder, [])
    listed = read_pods(folder, [], pods=pods)
    lines = [_workers(pod) for pod in listed]
    most = load * _GPU * sum(node.gpus for node in nodes)
    chosen: list[Workers] = []
    requested = 0
    for index in _order(len(lines), random):
        requested += lines[index].thousandths
        if requested > most:
            break
        chosen.append(lines[index])
    return Placement(
        name=f"placement/real/openb-{pods}-arrivals-{seed}",
        about=About(
            source=f"{len(chosen):,} pods arriving at {len(nodes):,} nodes, Alibaba openb, 2023", seed=seed
        ),
        minimize="unallocated",
        servers=tuple(_server(nodes[index]) for index in random.permutation(len(nodes))),
        workers=tuple(chosen),
    )


def allocation(problem: Placement, solution: PlacementSolution) -> tuple[Allocation, ...]:
    """Return the GPUs requested and allocated up to and including each line of workers, given a placement.

    Examples
    --------
    >>> problem = Placement(
    ...     minimize="unallocated",
    ...     servers=[Server(name="s", capacity=Resources(gpu=2))],
    ...     workers=[
    ...         Workers(job="a", demand=Resources(), gpu_part=500),
    ...         Workers(job="b", demand=Resources(gpu=2)),
    ...     ],
    ... )
    >>> allocation(problem, PlacementSolution(placed=[], parts=[("s", 0, 0, 1)]))[1]
    Allocation(arrived=125.0, allocated=25.0)
    """
    requests = np.array([line.thousandths for line in problem.workers], dtype=np.int64)
    counts = np.array([line.count for line in problem.workers], dtype=np.int64)
    placed = np.zeros(len(problem.workers), dtype=np.int64)
    for _, line, number in solution.everywhere:
        placed[line] += number
    whole = sum(server.capacity.gpu * server.count for server in problem.servers) * _GPU / 100
    arrived, allocated = (requests * counts).cumsum() / whole, (requests * placed).cumsum() / whole
    return tuple(map(Allocation, arrived.tolist(), allocated.tolist()))


def _order(pods: int, random: np.random.Generator) -> Iterator[int]:
    """Yield the index of every pod once in random order, then of pods drawn with replacement."""
    if not pods:
        return
    yield from random.permutation(pods).tolist()
    while True:
        yield int(random.integers(pods))


def _workers(pod: PodDemand) -> Workers:
    part = pod.gpu_milli if pod.gpus == 1 and pod.gpu_milli < _GPU else 0
    amounts = Resources(gpu=0 if part else pod.gpus, cpu=pod.cpu_milli, memory=pod.memory_mib)
    return Workers(job=pod.name, demand=amounts, gpu_part=part, gpu_types=pod.gpu_types)


def _server(node: OpenbNode) -> Server:
    capacity = Resources(gpu=node.gpus, cpu=node.cpu_milli, memory=node.memory_mib)
    return Server(name=node.name, capacity=capacity, gpu_type=node.gpu_type)
