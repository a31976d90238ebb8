"""Sizes: the sizes of workers, for heuristics that place the largest workers first."""

from collections.abc import Callable

from gsopt.problems.placement import WHOLE_GPU, Placement

#: Returns the size of each line of workers.
Size = Callable[[Placement], list[float]]


def gpus(problem: Placement) -> list[float]:
    """Return the number of GPUs of one worker, for each line. A part of a GPU counts as a fraction."""
    return [line.thousandths / WHOLE_GPU if line.gpu_part else line.demand.gpu for line in problem.workers]


def total_share(problem: Placement) -> list[float]:
    """Return the sum of a worker's shares of the largest server's resources, for each line."""
    return [sum(shares) for shares in _shares(problem)]


def largest_share(problem: Placement) -> list[float]:
    """Return the largest of a worker's shares of the largest server's resources, for each line."""
    return [max(shares) for shares in _shares(problem)]


def largest_first(sizes: list[float]) -> list[int]:
    """Return the lines by size, largest first. Ties keep their order."""
    return sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)


def _shares(problem: Placement) -> list[tuple[float, ...]]:
    capacities = (server.capacity.vector(problem.resources) for server in problem.servers)
    largest = [max(amounts) or 1 for amounts in zip(*capacities, strict=True)]
    return [
        tuple(need / most for need, most in zip(demand, largest, strict=True)) for demand in problem.demands
    ]
