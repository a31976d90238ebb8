"""Waiting jobs that need several GPUs at once."""

from gsopt.problems.goodput import Goodput, GoodputJob
from heuristics.goodput.gangs import with_gangs
from heuristics.goodput.table import SpeedupTable
from tests.strategies.goodput import LINEAR, job


def gang(name: str, *rows: list[float]) -> GoodputJob:
    """Return a waiting job by its speed-ups."""
    return job(name, *rows)


def started(nodes: list[int], *jobs: GoodputJob) -> list[list[int]]:
    """Return what jobs have when gangs have started."""
    found: list[list[int]] = with_gangs(SpeedupTable.of(Goodput(nodes=nodes, jobs=jobs))).tolist()
    return found


def test_a_gang_gets_the_node_that_it_fills_best() -> None:
    """Two GPUs go to the node with two idle ones and not to the one with three."""
    assert started([3, 2], gang("a", [0.0, 1.0, 1.0])) == [[0, 2]]


def test_a_gang_that_fits_no_node_is_spread_over_the_emptiest() -> None:
    """Its GPUs are those of as few nodes as hold it, none of which has a part of another such job."""
    wide = gang("a", [0.0] * 3, [0.0] * 2 + [1.0], [0.0] + [1.0] * 3)
    assert started([1, 2, 3], wide) == [[0, 1, 3]]
    assert started([3, 3, 1], job("b", *LINEAR, current=[1, 1, 0]), wide) == [[1, 1, 0], [0, 0, 0]]


def test_others_are_left_as_they_are() -> None:
    """Who runs keeps its GPUs, and who can start on one GPU is left to the search."""
    running = job("a", *LINEAR, current=[2])
    assert started([3], running, gang("b", [1.0, 2.0]), gang("c", [0.0, 1.0])) == [[2], [0], [0]]
