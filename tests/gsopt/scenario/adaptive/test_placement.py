"""Measured steps."""

import pytest
from pydantic import ValidationError

from gsopt.scenario.adaptive.placement import Placement, Spread


@pytest.mark.parametrize(
    ("points", "field", "rule"),
    [
        ([(8, 0.1, 0.0), (8, 0.2, 0.0)], r"points\[1\]\[0\]: 8", "must rise"),
        ([(8, 0.1, 0.1)], r"points\[0\]\[2\]: 0.1", "must be below the 0.1 s of the step"),
    ],
)
def test_points_rise_and_compute(points: list[tuple[int, float, float]], field: str, rule: str) -> None:
    """Local batches that do not rise, and steps without any computation, are refused."""
    with pytest.raises(ValidationError, match=f"{field}: {rule}"):
        Placement(shape=[1], points=points)
    with pytest.raises(ValidationError, match=f"{field}: {rule}"):
        Spread(nodes=1, gpus=2, points=points)
