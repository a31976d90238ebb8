"""Speed-ups of drawn jobs."""

from random import Random

from instances.speed_up import SpeedUp
from tests.effort import cases


def test_several_nodes_are_no_faster_than_one() -> None:
    """One GPU is 1, and as many GPUs on several nodes gain at most what they gain on one."""
    for seed in range(cases(80)):
        speed_up = SpeedUp.drawn(Random(seed))
        assert speed_up.on(1, 1) == 1
        assert all(speed_up.on(2, gpus) <= speed_up.on(1, gpus) for gpus in range(2, 17))
