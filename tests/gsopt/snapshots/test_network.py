"""Networks: clusters of machines whose places are known by level."""

from gsopt.scenario.cluster import Machine
from gsopt.snapshots.network import NodePlace, network_of
from tests.unwrap import unwrap


def _stand(name: str, *path: tuple[str, str]) -> NodePlace:
    return NodePlace(Machine(name=name, gpus=8), path)


def test_nothing_and_no_place() -> None:
    """No machine is no cluster, and machines without a place are below one switch, in no rack."""
    assert network_of([]) is None
    cluster = unwrap(network_of([_stand("a"), _stand("b")]))
    assert (cluster.levels, len(cluster.machines)) == (("machine", "network"), 2)


def test_names_that_others_have() -> None:
    """Switches of one name at different places are two, and one that is named as a machine has another name."""
    paths = [("zone", "a"), ("zone", "b")]
    cluster = unwrap(network_of([_stand(f"n{index}", path, ("rack", "r")) for index, path in enumerate(paths)]))
    assert [group.name for group in cluster.groups["rack"]] == ["r", "rack r"]
    racks = unwrap(network_of([_stand("r", ("rack", "r")), _stand("s", ("rack", "r"))]))
    assert [rack.name for rack in racks.racks] == ["rack r"]


def test_places_of_different_depth() -> None:
    """A machine that tells fewer levels stands right below the last of them."""
    zone = ("zone", "a")
    cluster = unwrap(network_of([_stand("deep", zone, ("rack", "r")), _stand("flat", zone), _stand("bare")]))
    (below,) = cluster.root.switches
    assert [machine.name for machine in cluster.root.machines] == ["bare"]
    assert [machine.name for machine in below.machines] == ["flat"]
    assert cluster.levels == ("machine", "rack", "zone", "network")
