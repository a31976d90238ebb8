"""What further workers save."""

import pytest

from heuristics.policies.aryl.steps import reductions, steps_of


@pytest.mark.parametrize(
    ("speeds", "extras", "alike"),
    [
        ((1.0,), (), True),
        ((1.0, 1.0), (), True),
        ((1.0, 2.0, 3.0), (1, 2), True),
        ((1.0, 1.1, 2.0), (1, 2), False),
        ((1.0, 2.0, 1.5, 2.0), (1,), True),
        ((1.0, 0.0, 2.0), (2,), False),
        ((2.0, 1.0, 3.0), (1, 2), False),
    ],
)
def test_steps(speeds: tuple[float, ...], extras: tuple[int, ...], alike: bool) -> None:
    """Steps lead to the fastest number; they are alike where each is one worker and saves no more."""
    steps = steps_of(speeds)
    assert (steps.extras, steps.are_alike, len(steps.shares)) == (extras, alike, len(extras))
    assert sum(steps.shares) == pytest.approx(1 - speeds[0] / max(speeds))


def test_reductions() -> None:
    """What a number of workers saves is a time, negative where it is slower."""
    assert reductions((2.0, 3.0, 1.0), 60.0, [1, 2]) == [20.0, -60.0]
