"""Machines by pool."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from heuristics.policies.aryl.machines import Machines
from tests.heuristics.policies.aryl.scenes import pools


def test_pools_by_type() -> None:
    """The machines of one type are the inference pool; without a type none is."""
    assert Machines(pools(1, 2), "T4").inference.tolist() == [False, True, True]
    assert not Machines(pools(1, 2), "").inference.any()
    assert not Machines(Cluster.uniform(machines=2, gpus=4), "").inference.any()


def test_suiting_by_type_and_memory() -> None:
    """A machine suits a job by its type and by its memory, of which it has any when that is unknown."""
    kinds = [("a", 8), ("a", None), ("b", 4)]
    machines = [Machine(name=str(n), gpus=2, gpu_type=k, memory=m) for n, (k, m) in enumerate(kinds)]
    found = Machines(Cluster(racks=[Rack(name="r", machines=machines)]), "b")
    assert found.suiting("a", 9).tolist() == [False, True, False]
    assert found.suiting("", 8).tolist() == [True, True, False]
    assert found.suiting("b", 0).tolist() == [False, False, True]
    assert (found.first, found.number_of["2"]) == ((0, 2, 4), 2)


def test_a_plain_cluster_is_refused() -> None:
    """Workers are placed on machines, which a plain cluster has not."""
    with pytest.raises(InvalidInput, match="8 plain GPUs: must have machines"):
        Machines(Cluster.plain(8), "T4")
