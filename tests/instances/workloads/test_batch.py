"""Jobs in a batch."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.workloads import batch
from instances.workloads.shape import ITP


def test_all_jobs_are_released_at_once() -> None:
    """Every job is released at second 0, under its own name."""
    workload = batch(jobs=300, gpus=8, shape=ITP)

    assert [job.name for job in workload.jobs] == [f"j{number}" for number in range(1, 301)]
    assert {job.release_date for job in workload.jobs} == {0}
    assert {job.gpus for job in workload.jobs} == {1, 2, 4, 8}
    assert workload.source == "300 jobs in a batch, shaped like: Microsoft ITP trace, spring 2021; seed 0"


def test_the_seed_decides() -> None:
    """The same seed gives the same batch, another seed another."""
    assert batch(seed=1) == batch(seed=1) != batch(seed=2)


@pytest.mark.parametrize("argument", ["jobs", "gpus"])
def test_bad_arguments_are_refused(argument: str) -> None:
    """No jobs and no GPUs are refused in one line."""
    arguments: dict[str, Any] = {argument: 0}
    with pytest.raises(InvalidInput, match=f"^{argument}: 0: must be at least 1"):
        batch(**arguments)
