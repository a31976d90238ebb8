"""Jobs that are faster on newer GPUs."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.shares import typed_jobs


def test_newer_types_are_faster() -> None:
    """Throughputs fall from type to type, by no more than the largest speed-up in all."""
    for job in typed_jobs(jobs=50, types=4, speedup=5.0, seed=1).jobs:
        rates = list(job.throughputs.values())
        assert list(job.throughputs) == ["v100", "p100", "k80", "m60"]
        assert rates == sorted(rates, reverse=True)
        assert rates[0] <= 5.01 * rates[-1]
        assert job.isolated <= job.age <= 2 * job.isolated + 1


def test_a_seed_is_an_instance() -> None:
    """The same seed gives the same jobs, another one others."""
    assert typed_jobs(seed=3) == typed_jobs(seed=3)
    assert typed_jobs(seed=3).jobs != typed_jobs(seed=4).jobs


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no jobs": ({"jobs": 0}, "jobs: 0: must be at least 1"),
    "few GPUs": ({"gpus": 7}, "gpus: 7: must be at least 8"),
    "many types": ({"types": 5}, "types: 5: must be between 1 and 4"),
    "slower": ({"speedup": 0.5}, "speedup: 0.5: must be between 1 and 1000"),
    "no time": ({"shortest": 0}, "shortest: 0: must be at least 1"),
    "shorter than the shortest": ({"longest": 10}, "longest: 10: must be at least the 600 of the shortest"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_refused(options: dict[str, Any], line: str) -> None:
    """Each argument out of its range is one line."""
    with pytest.raises(InvalidInput, match=line):
        typed_jobs(**options)
