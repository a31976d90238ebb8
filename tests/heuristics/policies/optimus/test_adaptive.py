"""Adaptive: iterations of a batch that is divided, and those that are left."""

import pytest

from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.placement import Placement
from gsopt.scenario.adaptive.validation import Epoch, Validation
from heuristics.policies.optimus.adaptive import iterations_left, seconds_per_iteration

APPLICATION = Application(
    name="resnet18",
    placements=[
        Placement(shape=[1], points=[(8, 0.1, 0.0), (16, 0.2, 0.0)]),
        Placement(shape=[2], points=[(8, 0.15, 0.05), (16, 0.25, 0.05)]),
        Placement(shape=[1, 2], points=[(8, 0.3, 0.2), (16, 0.4, 0.2)]),
    ],
    validations=[
        Validation(batch=16, epochs=[Epoch(progress=n, iterations=10 * n, sqr=1, var=1) for n in (1, 2, 3)]),
        Validation(batch=96, epochs=[Epoch(progress=n, iterations=2 * n, sqr=1, var=1) for n in (1, 2, 3)]),
    ],
    limits=Limits(initial_batch=16, most_batch=64, least_local=8, most_local=16),
    epochs=3,
)


@pytest.mark.parametrize(
    ("batch", "shape", "doubled", "expected"),
    [
        (16, (1,), True, 0.2),  # twice 8 samples
        (16, (1,), False, 0.2),  # once 16 samples
        (32, (1,), False, 0.4),  # above the initial batch two are taken in any case
        (48, (1,), True, 0.6),
        (24, (2,), True, 0.2),  # two GPUs need not divide 12 samples
        (48, (2,), True, 0.2 + 0.15),  # twice 12 samples, of which only the second is exchanged
        (48, (2, 1), True, 0.4),
        (48, (3,), True, None),
    ],
)
def test_by_hand(batch: int, shape: tuple[int, ...], doubled: bool, expected: float | None) -> None:
    """Each GPU takes its part in as few sub-batches as fit, and only the last of them is exchanged."""
    found = seconds_per_iteration(APPLICATION, batch, shape, doubled=doubled)
    assert found == (None if expected is None else pytest.approx(expected))


def test_whole_epochs_count() -> None:
    """What is left are the iterations behind the epoch in which the job is, and one in the last epoch."""
    assert [iterations_left(APPLICATION, 16, epoch) for epoch in range(3)] == [20, 10, 1]
