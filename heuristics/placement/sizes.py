"""Sizes: measures of how large a worker is, for heuristics that place the largest workers first.

A line is an entry of `Placement.workers`, i.e. identical workers of one job. Shares are relative to the largest
amount of a resource on any server. Parts of a GPU count as fractions.
"""

from collections.abc import Callable

from gsopt.problems.placement import WHOLE_GPU, Placement

#: Returns the size of one worker of each line.
Size = Callable[[Placement], list[float]]


def gpus(problem: Placement) -> list[float]:
    """Return how many GPUs one worker of each line needs."""
    return [line.thousandths / WHOLE_GPU if line.gpu_part else line.demand.gpu for line in problem.workers]


def total_share(problem: Placement) -> list[float]:
    """Return the sum of the shares of resources that one worker needs, for each line."""
    return [sum(shares) for shares in _shares(problem)]


def largest_share(problem: Placement) -> list[float]:
    """Return the largest of the shares of resources that one worker needs, for each line."""
    return [max(shares) for shares in _shares(problem)]


def largest_first(sizes: list[float]) -> list[int]:
    """Return the indices of the lines in descending order of size. Equal sizes keep their order."""
    return sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)


def _shares(problem: Placement) -> list[tuple[float, ...]]:
    names = problem.resources
    capacities = (server.capacity.vector(names) for server in problem.servers)
    largest = [max(amounts) or 1 for amounts in zip(*capacities, strict=True)]
    return [
        tuple(
            (in_gpus if name == "gpu" else need) / most
            for name, need, most in zip(names, demand, largest, strict=True)
        )
        for in_gpus, demand in zip(gpus(problem), problem.demands, strict=True)
    ]
