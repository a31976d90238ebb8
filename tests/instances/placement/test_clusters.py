"""The servers of the generated instances."""

from random import Random

import pytest

from instances.placement.clusters import CAPACITY, cluster


def test_two_pools_of_alike_servers() -> None:
    """Empty servers of a pool are one line with the pool's capacity; a pool without servers is none."""
    servers = cluster(443, 520)

    assert [(server.pool, server.count) for server in servers] == [("training", 443), ("inference", 520)]
    assert servers[0].capacity.vector() == (8, 92, 350)
    assert servers[1].capacity.vector() == (8, 92, 210)
    assert [server.pool for server in cluster(0, 5)] == ["inference"]


@pytest.mark.parametrize("seed", range(3))
def test_partly_used_servers_are_not_overfull(seed: int) -> None:
    """What is used fits, leaves a GPU free, and the counts add up."""
    servers = cluster(30, 50, occupied=0.5, random=Random(seed))

    assert sum(server.count for server in servers) == 80
    assert sum(server.count for server in servers if server.in_use) == 40
    for server in servers:
        assert server.capacity == CAPACITY[server.pool]
        assert all(free >= 0 for free in server.free())
        assert server.free_gpus > 0
