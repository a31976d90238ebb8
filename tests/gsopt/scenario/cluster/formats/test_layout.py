"""Where a picture of a cluster has its boxes."""

from itertools import combinations

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Switch
from gsopt.scenario.cluster.formats.layout import laid_out

_MIXED = Cluster(
    network=Switch(
        name="core",
        level="network",
        machines=[Machine(name="m", gpus=11)],
        switches=[
            Switch(name=f"r{number}", level="rack", machines=[Machine(name=f"n{number}", gpus=number + 1)])
            for number in range(5)
        ],
    )
)


@pytest.mark.parametrize(
    "cluster",
    [
        Cluster.plain(100),
        Cluster.plain(1),
        Cluster.uniform(racks=2, machines=2, gpus=4),
        Cluster.uniform(racks=6, machines=8, gpus=8),
        _MIXED,
    ],
    ids=["plain", "one", "small", "large", "mixed"],
)
def test_nothing_overlaps(cluster: Cluster) -> None:
    """There is a cell for every GPU, no two cells touch the same place, and all are within their boxes."""
    root = laid_out(cluster)
    cells = []
    for x, y, box in root.walk():
        assert round(x + box.width, 6) <= round(root.width, 6)
        assert round(y + box.height, 6) <= round(root.height, 6)
        for right, down in box.cells:
            assert 0 <= right <= round(box.width - 1, 6)
            assert 0 <= down <= round(box.height - 1, 6)
            cells.append((x + right, y + down))
    assert len(cells) == cluster.gpus
    assert all(
        round(max(abs(one[0] - other[0]), abs(one[1] - other[1])), 6) >= 1
        for one, other in combinations(cells, 2)
    )


def test_cells_are_in_the_order_of_gpus() -> None:
    """The cells of a machine follow those of the machine before it, also where it stands beside it."""
    sizes = [len(box.cells) for _, _, box in laid_out(_MIXED).walk() if box.cells]
    assert sizes == [machine.gpus for machine in _MIXED.machines]


def test_names_only_where_there_is_room() -> None:
    """Machines of large clusters have none."""
    few, many = (laid_out(Cluster.uniform(racks=4, machines=count, gpus=8)) for count in (4, 40))
    assert [sum(bool(box.name) for _, _, box in root.walk()) for root in (few, many)] == [21, 5]
