"""The generator of full clusters."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.colocation import full_cluster


def test_one_seed_is_one_instance() -> None:
    """The same arguments give the same instance, another seed another."""
    assert full_cluster(seed=3) == full_cluster(seed=3)
    assert full_cluster(seed=3).running != full_cluster(seed=4).running


def test_seconds_and_slowdowns_are_within_their_limits() -> None:
    """Seconds lie between the shortest and the longest, slowdowns between 1 and the worst."""
    problem = full_cluster(running=200, pending=200, worst=1.5, shortest=10, longest=1000, seed=1)
    seconds = [job.seconds for job in problem.running] + [job.seconds for job in problem.pending]
    slowdowns = [each for row in problem.interference.values() for each in row.values()]
    assert 10 <= min(seconds) < 20
    assert 500 < max(seconds) <= 1000
    assert 1 <= min(slowdowns) < 1.2
    assert 1.3 < max(slowdowns) <= 1.5
    assert len(slowdowns) == 36


def test_smaller_sub_batches_are_slower_and_need_less_memory() -> None:
    """Halving the batch again and again takes more seconds and fewer bytes; none is larger than the whole."""
    for job in full_cluster(pending=50, modes=5, seed=2).pending:
        slowdowns, memories = [mode.slowdown for mode in job.modes], [mode.memory for mode in job.modes]
        assert [mode.name for mode in job.modes] == ["16", "8", "4", "2", "1"]
        assert slowdowns[0] >= 1
        assert slowdowns == sorted(slowdowns)
        assert [job.memory, *memories] == sorted([job.memory, *memories], reverse=True)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "fewer than none run": ({"running": -1}, "running: -1: must be at least 0"),
    "fewer than none wait": ({"pending": -1}, "pending: -1: must be at least 0"),
    "no models": ({"models": 0}, "models: 0: must be at least 1"),
    "faster together": ({"worst": 0.5}, "worst: 0.5: must be at least 1"),
    "without end": ({"worst": float("inf")}, "worst: inf: must be at least 1"),
    "half a sample": ({"modes": 6}, "modes: 6: must be between 0 and 5"),
    "no time": ({"shortest": 0}, "shortest: 0: must be at least 1"),
    "longest is shorter": ({"longest": 59}, "longest: 59: must be at least the 60 of the shortest"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_named(options: dict[str, Any], line: str) -> None:
    """An argument out of its range is one line with its name, value and rule."""
    with pytest.raises(InvalidInput, match=line):
        full_cluster(**options)
