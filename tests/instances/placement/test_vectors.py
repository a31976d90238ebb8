"""Workers of a few types."""

import pytest

from gsopt.core.errors import InvalidInput
from instances.placement import vectors


@pytest.mark.parametrize(("types", "workers"), [(1, 1), (12, 2000), (100, 100)])
def test_types_and_workers_are_as_many_as_asked_for(types: int, workers: int) -> None:
    """There is a line for every type, all different, and no worker too many."""
    problem = vectors(types=types, workers=workers)

    assert len({line.demand.vector() for line in problem.workers}) == types
    assert sum(line.count for line in problem.workers) == workers


def test_demands_fit_on_the_smaller_server() -> None:
    """Every type has 1, 2, 4 or 8 GPUs and fits on an inference server."""
    for line in vectors(types=200, workers=200, skew=0).workers:
        assert line.demand.gpu in {1, 2, 4, 8}
        assert 4 * line.demand.gpu <= line.demand.cpu <= 92
        assert 8 * line.demand.gpu <= line.demand.memory <= 210


def test_skew_makes_large_types_rarer() -> None:
    """With a larger skew fewer types have 8 GPUs."""
    eights = [
        sum(line.demand.gpu == 8 for line in vectors(types=100, workers=100, skew=skew).workers)
        for skew in (-1, 0, 2)
    ]

    assert eights == sorted(eights, reverse=True)
    assert eights[0] > eights[2]


@pytest.mark.parametrize("occupied", [0.0, 0.3, 1.0])
def test_a_share_of_the_servers_is_partly_used(occupied: float) -> None:
    """That share of either pool is in use, and has at least one GPU free."""
    problem = vectors(training=40, inference=60, occupied=occupied)
    used = [server for server in problem.servers if server.in_use]

    assert problem.size == 100
    assert sum(server.count for server in used) == 100 * occupied
    assert all(1 <= server.free_gpus <= 7 for server in used)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"types": 0}, "types: 0: must be between 1 and 500"),
        ({"types": 9, "workers": 8}, "workers: 8: must be at least the 9 types"),
        ({"training": 0, "inference": 0}, "training: 0: must be at least 1 together with inference"),
        ({"training": -1, "inference": 3}, "training: -1: must be at least 0"),
        ({"inference": -1}, "inference: -1: must be at least 0"),
        ({"occupied": 1.5}, "occupied: 1.5: must be between 0 and 1"),
        ({"skew": 11}, "skew: 11: must be between -10 and 10"),
        ({"minimize": "power"}, "minimize: 'power': must be one of servers, fragmentation, preferences"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, object], line: str) -> None:
    """An argument out of its range is refused in one line."""
    with pytest.raises(InvalidInput) as raised:
        vectors(**options)  # type: ignore[arg-type]

    assert str(raised.value) == line
