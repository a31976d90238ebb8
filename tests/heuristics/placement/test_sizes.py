"""Sizes by which the largest workers come first."""

from gsopt.problems.placement import Placement, Resources, Server, Workers
from heuristics.placement.sizes import gpus, largest_first, largest_share, total_share

PROBLEM = Placement(
    servers=(
        Server(name="a", capacity=Resources(gpu=8, cpu=20)),
        Server(name="b", capacity=Resources(gpu=4, cpu=40)),
    ),
    workers=(
        Workers(job="wide", demand=Resources(gpu=1, cpu=20)),
        Workers(job="deep", demand=Resources(gpu=4)),
        Workers(job="even", demand=Resources(gpu=2, cpu=10)),
    ),
)


def test_shares_are_those_of_the_largest_server_in_each_resource() -> None:
    """Shares are of 8 GPUs and 40 cores; memory, of which no server has any, counts nothing."""
    assert gpus(PROBLEM) == [1, 4, 2]
    assert total_share(PROBLEM) == [0.625, 0.5, 0.5]
    assert largest_share(PROBLEM) == [0.5, 0.5, 0.25]


def test_orders_differ_and_ties_stand_as_they_are() -> None:
    """By GPUs the deep worker comes first, by shares the wide one; equal sizes keep their order."""
    assert largest_first(gpus(PROBLEM)) == [1, 2, 0]
    assert largest_first(total_share(PROBLEM)) == [0, 1, 2]
    assert largest_first(largest_share(PROBLEM)) == [0, 1, 2]
