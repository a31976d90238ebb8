"""Pools: what is left of the GPUs that flexible workers may have."""

from heuristics.policies.aryl.schedulers.pools import Pools
from tests.heuristics.policies.aryl.schedulers.epochs import calm, linear


def test_what_flexible_workers_hold_is_there() -> None:
    """A pool has its idle GPUs and those of flexible workers of jobs that are confined to it."""
    pools = Pools(
        calm(linear(0, 9, gpus=2, extra=3), linear(1, 9, extra=1, pool="mixed"), training=1, inference=4)
    )
    assert [pools.left("training"), pools.left("inference"), pools.left("mixed")] == [7, 4, 12]


def test_what_is_taken_of_all_pools_may_lie_in_each() -> None:
    """After a job on any mixture has taken GPUs no pool has more than is left of all."""
    pools = Pools(calm(training=3, inference=4))
    assert pools.take(5, "mixed")
    assert [pools.left("training"), pools.left("inference"), pools.left("mixed")] == [2, 2, 2]


def test_what_is_not_left_is_not_taken() -> None:
    """A job takes all that it asks for, or nothing."""
    pools = Pools(calm(training=3, inference=4))
    assert not pools.take(4, "training")
    assert pools.take(3, "training")
    assert [pools.left("training"), pools.left("inference")] == [0, 4]
