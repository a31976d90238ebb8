"""Shapes of placements."""

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.simulation.shapes import Shapes

_UNEVEN = Cluster(
    racks=(Rack(name="r", machines=tuple(Machine(name=f"m{size}", gpus=size) for size in (2, 4, 1))),)
)


@pytest.mark.parametrize(
    ("count", "tier", "shape"),
    [
        (1, "machine", (1,)),
        (1, "network", (1,)),
        (4, "machine", (4,)),
        (5, "machine", (4, 1)),
        (7, "machine", (4, 2, 1)),
        (2, "rack", (1, 1)),
        (4, "rack", (3, 1)),
        (5, "rack", (4, 1)),
        (6, "network", (4, 2)),
    ],
)
def test_a_number_of_gpus_is_on_the_fewest_machines(count: int, tier: str, shape: tuple[int, ...]) -> None:
    """The largest machines come first, and a tier that joins machines makes them two at least."""
    assert Shapes(_UNEVEN).closest(count, tier) == shape


def test_gpus_count_by_machine() -> None:
    """The shape of numbered GPUs follows the order of the machines."""
    assert Shapes(_UNEVEN).of([0, 2, 3, 4, 6]) == (1, 3, 1)
