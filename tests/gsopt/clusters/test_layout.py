"""Where a picture of a cluster has its boxes."""

import pytest

from gsopt.cluster import Cluster, Machine, Switch
from gsopt.clusters.layout import laid_out

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
        Cluster.uniform(racks=16, machines=8, gpus=8),
        _MIXED,
    ],
    ids=["plain", "one", "small", "large", "mixed"],
)
def test_nothing_overlaps(cluster: Cluster) -> None:
    """There is a cell for every GPU, no two cells touch the same place, and all are within their boxes."""
    root = laid_out(cluster)
    cells = []
    for x, y, box in root.walk():
        assert x + box.width <= root.width + 1e-9
        assert y + box.height <= root.height + 1e-9
        for right, down in box.cells:
            assert 0 <= right <= box.width - 1
            assert 0 <= down <= box.height - 1
            cells.append((x + right, y + down))
    assert len(cells) == cluster.gpus
    ordered = sorted(cells)
    assert all(
        abs(one[0] - other[0]) >= 1 - 1e-9 or abs(one[1] - other[1]) >= 1 - 1e-9
        for index, one in enumerate(ordered)
        for other in ordered[index + 1 : index + 60]
    )


def test_cells_are_in_the_order_of_gpus() -> None:
    """The cells of a machine follow those of the machine before it, also where it stands beside it."""
    cluster = _MIXED
    sizes = [len(box.cells) for _, _, box in laid_out(cluster).walk() if box.cells]
    assert sizes == [machine.gpus for machine in cluster.machines]


def test_names_only_where_there_is_room() -> None:
    """Machines of large clusters have none."""
    few, many = (laid_out(Cluster.uniform(racks=4, machines=count, gpus=8)) for count in (4, 40))
    assert [sum(bool(box.name) for _, _, box in root.walk()) for root in (few, many)] == [21, 5]
