"""Clusters out of branches, and branches out of clusters."""

import pytest

from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Rack, Switch
from gsopt.scenario.cluster.formats.assembly import Told, branches_of, cluster_of, losses, plain_branches
from gsopt.scenario.cluster.formats.branches import Branch, levelled, tree_of
from gsopt.scenario.cluster.formats.nodes import Gpus


@pytest.mark.parametrize("racks", [1, 3])
def test_clusters_of_racks_stay_such(racks: int) -> None:
    """A cluster of one rack or several is the same after it was taken apart, but for spaces in names."""
    names = [(f"r{rack}", [f"m{rack}.{number}" for number in range(2)]) for rack in range(racks)]
    cluster = Cluster(
        racks=[
            Rack(name=name, machines=[Machine(name=each, gpus=4) for each in inner]) for name, inner in names
        ]
    )
    tree = levelled("", tree_of("", plain_branches(cluster, []), []))
    assert cluster_of("", tree, Told(gpus=4).about("", tree, {}), []) == cluster


def test_a_network_stays_a_network() -> None:
    """A root with another name than that of racks is kept."""
    tree = levelled("", tree_of("", [Branch("core", "", ("a",)), Branch("a", "", (), ("m",))], []))
    cluster = cluster_of("", tree, lambda _: Gpus(8, "h100"), [])
    assert cluster.network is not None
    assert [branch.name for branch in branches_of(cluster)] == ["core", "a"]
    assert cluster.machines[0].gpu_type == "h100"


def test_what_is_lost_is_named() -> None:
    """Links of any kind, islands and memory are none of what branches hold."""
    link = Link(bandwidth=1e9)
    for machine, lost in [
        (Machine(name="m", gpus=4), []),
        (Machine(name="m", gpus=4, memory=1), ["memory"]),
        (Machine(name="m", gpus=4, islands=[Island(name=name, gpus=2) for name in "ab"]), ["islands"]),
        (Machine(name="m", gpus=4, gpu_link=link), ["links"]),
        (Machine(name="m", gpus=4, uplink=link), ["links"]),
    ]:
        assert losses(Cluster(network=Switch(name="s", level="network", machines=[machine]))) == lost
