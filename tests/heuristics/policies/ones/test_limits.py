"""Batch limits over the life of jobs."""

from typing import Any

import pytest

from gsopt.scenario.job import Job, Mode
from heuristics.policies.ones.limits import BatchLimits, Penalty

_MODES = [Mode(name=str(k), menu=[(k, 1.5)], batch_size=32 * k) for k in (2, 4, 8)]
_JOB = Job(name="a", release_date=0, duration=9, gpus=1, batch_size=32, modes=_MODES)


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        ("never", [64, 128, 256, 256]),
        ("current", [64, 128, 128, 64]),  # of 256: ceil(512 / 4) after 25 s at 0.1/s, ceil(512 / 8) after 61 s
        ("compound", [64, 128, 64, 16]),  # ceil(256 / 4), ceil(128 / 8)
    ],
)
def test_epochs_by_hand(penalty: Penalty, expected: list[int]) -> None:
    """Limits double up to the largest batch, and long jobs are scaled down as the reading has it."""
    limits = BatchLimits(penalty, rate=0.1)
    limits.arrive({0: _JOB}, now=0)
    assert limits.of(0) == 32
    found = []
    for elapsed in (4, 9, 25, 61):
        limits.finish_epochs(0, 1, elapsed)
        found.append(limits.of(0))
    assert found == expected


def test_several_epochs_at_once_are_several_steps() -> None:
    """Two epochs double the limit twice."""
    limits = BatchLimits("never")
    limits.arrive({0: _JOB}, now=0)
    limits.finish_epochs(0, 2, 5)
    assert limits.of(0) == 128


def test_rejection_halves_down_to_one() -> None:
    """Each rejection halves what is used and what it doubles from, and 1 stays 1."""
    limits = BatchLimits("current", rate=0.1)
    limits.arrive({0: _JOB}, now=0)
    for expected in (16, 8, 4, 2, 1, 1):
        limits.reject([0])
        assert limits.of(0) == expected
    limits.finish_epochs(0, 1, 1)
    assert limits.of(0) == 2


def test_the_rate_is_that_of_arrivals() -> None:
    """Without a rate sigma is that of the arrivals so far; it needs two, at different times."""
    limits = BatchLimits()
    assert limits.rate == 0
    limits.arrive({0: _JOB}, now=10)
    assert limits.rate == 0
    limits.arrive({1: _JOB, 2: _JOB}, now=14)
    assert limits.rate == 0.5
    assert BatchLimits(rate=3).rate == 3


def test_rejection_may_end_at_what_one_gpu_holds() -> None:
    """With that floor a limit above it is halved down to it, and one below it by a penalty stays."""
    limits = BatchLimits("compound", rate=0.1, floor="gpu")
    limits.arrive({0: _JOB}, now=0)
    limits.finish_epochs(0, 2, 5)
    found = []
    for _ in range(3):
        limits.reject([0])
        found.append(limits.of(0))
    assert found == [64, 32, 32]
    limits.finish_epochs(0, 1, 61)
    limits.reject([0])
    assert limits.of(0) == 8


@pytest.mark.parametrize("step", ["arrive", "forget"])
def test_jobs_without_batch_sizes_have_no_limit(step: Any) -> None:
    """A job that has none, or has gone, may have any batch; rules pass over it."""
    limits = BatchLimits("compound", rate=1)
    rigid = Job(name="a", release_date=0, duration=9, gpus=1)
    limits.arrive({0: rigid if step == "arrive" else _JOB}, now=0)
    if step == "forget":
        limits.forget([0])
    limits.finish_epochs(0, 1, 5)
    limits.reject([0])
    assert limits.of(0) is None
