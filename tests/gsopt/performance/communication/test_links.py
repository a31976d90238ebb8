"""Wires of clusters whose links are known."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.communication import Wire, Wiring, layout, wires_of
from gsopt.scenario.cluster import Cluster, Link, Machine, Switch
from gsopt.scenario.cluster.machine import Island

NEAR, FAR, FARTHEST = (
    Link(bandwidth=rate, latency=late) for rate, late in ((8.0, 1.0), (4.0, 2.0), (2.0, 3.0))
)


def cluster() -> Cluster:
    """Return two pods of two machines of four GPUs, with links of each kind."""
    pods = [
        Switch(
            name=f"pod {pod}",
            level="pod",
            uplink=FARTHEST,
            machines=[Machine(name=f"m{pod}.{each}", gpus=4, gpu_link=NEAR, uplink=FAR) for each in range(2)],
        )
        for pod in range(2)
    ]
    return Cluster(network=Switch(name="spine", level="network", switches=pods))


def test_a_level_has_the_links_of_what_stands_below() -> None:
    """GPUs lead to machines, machines to pods and pods to the network."""
    assert wires_of(cluster(), rings=("machine",)) == {
        "machine": Wire(bandwidth=8, latency=1, wiring=Wiring.RING),
        "pod": Wire(bandwidth=4, latency=2),
        "network": Wire(bandwidth=2, latency=3),
    }


def test_a_level_is_as_slow_as_its_slowest_links() -> None:
    """Least rate and longest latency may be those of different links; a capacity limits the rate."""
    one = Machine(name="a", gpus=4, gpu_link=Link(bandwidth=8.0, latency=5.0), uplink=FAR)
    other = Machine(name="b", gpus=4, gpu_link=Link(bandwidth=9.0, capacity=3.0), uplink=FAR)
    network = Switch(name="spine", level="network", machines=[one, other])

    assert wires_of(Cluster(network=network))["machine"] == Wire(bandwidth=3, latency=5)


def test_islands_stand_between_gpus_and_machine() -> None:
    """GPUs lead to islands, and islands to the machine; a job on two islands has both dimensions."""
    islands = [Island(name=name, gpus=2, uplink=FAR) for name in ("left", "right")]
    machine = Machine(name="m", gpus=4, islands=islands, gpu_link=NEAR, uplink=FARTHEST)
    one = Cluster(network=Switch(name="all", level="network", machines=[machine]))
    wires = wires_of(one)

    assert [(level, wire.bandwidth) for level, wire in wires.items()] == [
        ("island", 8.0),
        ("machine", 4.0),
        ("network", 2.0),
    ]
    assert [(each.units, each.wire) for each in layout(one, range(4), wires).dimensions] == [
        (2, wires["island"]),
        (2, wires["machine"]),
    ]


def test_one_island_of_each_machine_is_no_single_gpu() -> None:
    """Four GPUs on one island of each of two machines are a hierarchy of islands and machines."""
    machines = [
        Machine(
            name=name,
            gpus=8,
            islands=[Island(name=f"{name}{side}", gpus=4, uplink=FAR) for side in range(2)],
            gpu_link=NEAR,
            uplink=FAR,
        )
        for name in "ab"
    ]
    both = Cluster(network=Switch(name="all", level="network", machines=machines))
    found = layout(both, [*range(4), *range(8, 12)], wires_of(both))

    assert ([each.units for each in found.dimensions], found.reason) == ([4, 2], "")


def test_levels_of_their_own_have_a_layout() -> None:
    """Four GPUs on each machine of two pods are a hierarchy of three dimensions."""
    found = layout(cluster(), range(16), wires_of(cluster()))

    assert [each.units for each in found.dimensions] == [4, 2, 2]
    assert found.collective.latency == 6 * 2 * 1 + 2 * 2 * 2 + 2 * 2 * 3


def test_unknown_links_and_levels_are_refused() -> None:
    """A cluster without links has no wires, and a ring is one of the levels."""
    with pytest.raises(InvalidInput, match=r"^link of 'rack 0': must be known for the wires of level network$"):
        wires_of(Cluster.uniform(racks=2, machines=2, gpus=4))
    with pytest.raises(InvalidInput, match=r"^rings: 'rack': must be levels: machine, pod, network$"):
        wires_of(cluster(), rings=("rack",))
