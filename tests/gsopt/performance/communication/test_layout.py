"""Dimensions of GPUs on a cluster."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.communication import DALLY_WIRES, Wire, layout
from gsopt.scenario.cluster import Cluster

CLUSTER = Cluster.uniform(racks=2, machines=2, gpus=4)

BALANCED = {
    "a GPU": ([3], []),
    "a machine": (range(4, 8), [(4, "machine")]),
    "two machines of a rack": ([0, 1, 5, 6], [(2, "machine"), (2, "rack")]),
    "a machine of each rack": ([0, 1, 2, 8, 9, 10], [(3, "machine"), (2, "network")]),
    "everything": (range(16), [(4, "machine"), (2, "rack"), (2, "network")]),
}


@pytest.mark.parametrize(("gpus", "expected"), BALANCED.values(), ids=BALANCED.keys())
def test_balanced_gpus_have_a_hierarchy(gpus: list[int], expected: list[tuple[int, str]]) -> None:
    """Equal numbers of GPUs and of machines make a dimension of each level that has several."""
    found = layout(CLUSTER, gpus)

    assert [(each.units, each.wire) for each in found.dimensions] == [
        (units, DALLY_WIRES[level]) for units, level in expected
    ]
    assert found.reason == ""


UNBALANCED = {
    "3 + 1": ([0, 1, 2, 4], "rack", "the groups of level machine hold [3, 1] units"),
    "1 + 1": ([0, 4], "rack", "every machine holds one GPU"),
    "1 + 1 + 1": ([0, 4, 8], "network", "every machine holds one GPU"),
    "2 + 2 and 2": ([0, 1, 4, 5, 8, 9], "network", "the groups of level rack hold [2, 1] units"),
}


@pytest.mark.parametrize(("gpus", "tier", "reason"), UNBALANCED.values(), ids=UNBALANCED.keys())
def test_other_gpus_make_one_ring_over_the_slowest_tier(gpus: list[int], tier: str, reason: str) -> None:
    """Where there is no hierarchy, all GPUs make one ring over the outermost tier, and the layout says why."""
    found = layout(CLUSTER, gpus)

    assert [(each.units, each.wire) for each in found.dimensions] == [(len(gpus), DALLY_WIRES[tier])]
    assert found.reason == reason


def test_seven_and_one_may_take_longer_than_four_and_four() -> None:
    """The flat ring of 7 + 1 GPUs takes longer than the hierarchy of 4 + 4."""
    cluster = Cluster.uniform(machines=2, gpus=8)
    uneven, even = (layout(cluster, [*range(first), *range(8, 16 - first)]) for first in (7, 4))

    assert uneven.collective.seconds(1e6) > even.collective.seconds(1e6)


def test_plain_gpus_are_one_machine() -> None:
    """The GPUs of a plain cluster are all alike: one ring."""
    assert [each.units for each in layout(Cluster.plain(64), range(8)).dimensions] == [8]


def test_bad_gpus_and_missing_wires_are_refused() -> None:
    """GPUs are there and given once, and every level that they need has wires."""
    near = {"machine": Wire(bandwidth=1)}

    assert layout(CLUSTER, range(4), near).collective.per_byte == 1.5
    with pytest.raises(InvalidInput, match=r"^wires: \['machine'\]: must hold the level rack$"):
        layout(CLUSTER, range(8), near)
    with pytest.raises(InvalidInput, match=r"^gpus: 16: must be below 16$"):
        layout(CLUSTER, [0, 16])
    with pytest.raises(InvalidInput, match=r"^gpus: -1: must be below 16$"):
        layout(CLUSTER, [-1])
    with pytest.raises(InvalidInput, match=r"^gpus: 3: must be given once$"):
        layout(CLUSTER, [3, 3])
