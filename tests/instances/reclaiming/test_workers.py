"""How jobs are split into workers."""

from random import Random
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.reclaiming.workers import Mode, draw_worker_size, split


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(1, 8))
def test_a_split_keeps_every_gpu(gpus: int, size: int) -> None:
    """The workers add up to the job, all have the size but perhaps a smaller last one."""
    workers = split(gpus, size)

    assert sum(workers) == gpus
    assert all(worker == size for worker in workers[:-1])
    assert 1 <= workers[-1] <= size


@pytest.mark.parametrize(
    ("mode", "sizes"),
    [("packed", {8}), ("mixed", {1, 2, 4, 8}), ("worker", {1, 2, 4, 8})],
)
def test_worker_sizes_of_a_large_job(mode: Mode, sizes: set[int]) -> None:
    """A large job has workers of 8 GPUs when packed, and of every size otherwise."""
    random = Random(0)

    assert {draw_worker_size(64, mode, random) for _ in range(200)} == sizes


@pytest.mark.parametrize("mode", get_args(Mode))
def test_no_worker_is_larger_than_its_job(mode: Mode) -> None:
    """A worker never has more GPUs than its job."""
    random = Random(0)

    assert all(draw_worker_size(gpus, mode, random) <= gpus for gpus in range(1, 9) for _ in range(20))


def test_a_mixed_workload_packs_four_jobs_of_five() -> None:
    """In mode mixed, 80 % of the jobs are packed, and a quarter of the others happen to be."""
    random = Random(0)
    packed = sum(draw_worker_size(8, "mixed", random) == 8 for _ in range(10_000))

    assert abs(packed - 8500) < 200
