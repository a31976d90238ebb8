"""Jobs of one GPU that wait for GPUs of several types."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.sequencing import unit_jobs


def test_older_types_are_slower() -> None:
    """Seconds rise from type to type, by no more than the largest speed-up in all."""
    for job in unit_jobs(jobs=50, types=4, speedup=5.0, seed=1).jobs:
        seconds = list(job.seconds.values())
        assert seconds == sorted(seconds)
        assert seconds[-1] <= 5.01 * (seconds[0] + 1)


def test_busy_gpus_are_free_later() -> None:
    """All, none or some of the GPUs are busy, as asked."""
    for busy, count in ((0.0, 0), (1.0, 12)):
        machines = unit_jobs(busy=busy, seed=1).machines
        assert sum(machine.available > 0 for machine in machines) == count
    assert unit_jobs(seed=3) == unit_jobs(seed=3) != unit_jobs(seed=4)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "fewer than no jobs": ({"jobs": -1}, "jobs: -1: must be at least 0"),
    "no GPUs": ({"gpus": 0}, "gpus: 0: must be at least 1"),
    "many types": ({"types": 5}, "types: 5: must be between 1 and 4"),
    "faster": ({"speedup": 0.5}, "speedup: 0.5: must be between 1 and 1000"),
    "more than all": ({"busy": 2}, "busy: 2: must be between 0 and 1"),
    "no time": ({"shortest": 0}, "shortest: 0: must be at least 1"),
    "shorter than the shortest": ({"longest": 10}, "longest: 10: must be at least the 60 of the shortest"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_refused(options: dict[str, Any], line: str) -> None:
    """Each argument out of its range is one line."""
    with pytest.raises(InvalidInput, match=line):
        unit_jobs(**options)
