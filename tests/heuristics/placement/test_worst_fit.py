"""Worst fit."""

from typing import Any

from gsopt.problems.placement import Placement, Resources, Server, Workers
from heuristics.placement import worst_fit
from tests.strategies.placement import gpu_line

SERVERS = (
    Server(name="empty", capacity=Resources(gpu=8)),
    Server(name="half", capacity=Resources(gpu=8), used=Resources(gpu=4)),
    Server(name="most", capacity=Resources(gpu=8), used=Resources(gpu=6)),
)


def where(count: int, gpus: int, **options: Any) -> list[tuple[str, int]]:
    """Return where the workers of one line stand."""
    problem = Placement(servers=SERVERS, workers=(Workers(job="a", count=count, demand=Resources(gpu=gpus)),))
    solution = worst_fit(problem, **options).solution
    assert solution is not None
    return [(entry.server, entry.number) for entry in solution.placed]


def test_the_most_free_gpus_are_taken() -> None:
    """An empty server is taken like any other, and chosen anew for every worker, also of one line."""
    assert where(1, 2) == [("empty", 1)]
    assert where(4, 2) == [("empty", 1), ("empty", 1), ("empty", 1), ("half", 1)]


def test_empty_servers_may_come_last() -> None:
    """Without spreading an empty server is opened only if none in use has room."""
    assert where(4, 2, spread=False) == [("half", 1), ("half", 1), ("most", 1), ("empty", 1)]


def test_spreading_uses_every_server() -> None:
    """As many workers as servers stand alone."""
    assert worst_fit(gpu_line(1, 1, 1, 1)).objective == 4
    assert worst_fit(gpu_line(1, 1, 1, 1), spread=False).objective == 1
