"""Jobs with elastic batches, and what is left of them."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.performance.batching import BatchingJob, Progress, Rate, StepTime, Tabulated


def job(**changes: Any) -> BatchingJob:
    """Return a job with a limit of 10 samples, of which 4 fit on a GPU."""
    fields: dict[str, Any] = {
        "name": "a",
        "batch_limit": 10,
        "local_limit": 4,
        "throughput": StepTime(fixed=1, per_sample=1),
        "remaining": 60.5,
    }
    return BatchingJob(**{**fields, **changes})


def test_what_is_left_by_hand() -> None:
    """Samples are read as written; the mean is Y beta / (alpha - 1), and Y beta / alpha at mean progress."""
    believed = Progress(alpha=1.5, beta=3, processed=10)
    assert job().left() == Fraction(121, 2)
    known = job(remaining=None, progress=believed)
    assert (known.left("mean"), known.left("mean_progress")) == (60, 20)


def test_draws_follow_the_distribution() -> None:
    """The mean of draws is that of the distribution, within four standard errors."""
    believed, random = Progress(alpha=6, beta=4, processed=100), Random(3)
    draws = [believed.draw(random) for _ in range(4000)]
    mean = sum(draws) / len(draws)
    spread = (sum((each - mean) ** 2 for each in draws) / len(draws)) ** 0.5
    assert abs(mean - float(believed.left())) < 4 * spread / len(draws) ** 0.5
    assert believed.draw(Random(5)) == believed.draw(Random(5))


def test_limits_by_hand() -> None:
    """A batch is within both limits, and has a sample on each GPU."""
    assert [job().largest(gpus) for gpus in (1, 2, 3, 4)] == [4, 8, 10, 10]
    assert job().allows(8, 2)
    assert not job().allows(9, 2)
    assert not job().allows(1, 2)
    assert [job().runs_on(gpus) for gpus in (1, 10, 11)] == [True, True, False]
    assert job().fastest(11) is None


def test_who_is_reconfigured() -> None:
    """A job is that starts, stops, or has other GPUs, or another batch where that is told."""
    waited, ran = job(), job(previous_gpus=2, previous_batch=8)
    assert (waited.changes(0, 0), waited.changes(4, 1)) == (False, True)
    assert [ran.changes(*kept) for kept in ((0, 0), (8, 2), (7, 2), (8, 3))] == [True, False, True, True]
    assert not job(previous_gpus=2).changes(7, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"remaining": None}, "remaining: None: must be given, or progress"),
        ({"remaining": 1e-10}, "remaining: 1e-10: must be 0, or at least 1e-09"),
        ({"progress": Progress(alpha=2, beta=2, processed=1)}, "must not be given together with progress"),
        ({"new": True, "previous_gpus": 1}, "previous_gpus: 1: must be 0 for a new job"),
        ({"previous_batch": 4}, "previous_batch: 4: must not be given for a job that waited"),
        ({"previous_batch": 1, "previous_gpus": 2}, "previous_batch: 1: must be at least the 2 GPUs"),
    ],
)
def test_bad_jobs_are_refused(changes: dict[str, Any], message: str) -> None:
    """Each rule across fields names field, value and rule."""
    with pytest.raises(ValidationError, match=message):
        job(**changes)


def test_nothing_processed_is_refused() -> None:
    """By Equation 7 a job that has processed nothing would have nothing left."""
    with pytest.raises(ValidationError, match="processed"):
        Progress(alpha=1, beta=1, processed=0)


def test_files_need_not_say_what_throughput_is() -> None:
    """A model and a table come back from JSON as they were, and a mistake is told of the one that is meant."""
    table = Tabulated(rates=[Rate(batch_size=4, gpus=1, samples_per_second=2.5)])
    for each in (job(), job(throughput=table)):
        assert BatchingJob.model_validate_json(each.model_dump_json(exclude_defaults=True)) == each
    with pytest.raises(ValidationError, match=r"throughput\.model\.fixed"):
        BatchingJob.model_validate_json('{"throughput": {"per_sample": 1}}')
