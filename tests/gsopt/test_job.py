"""Jobs and workloads check what they are given."""

from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.job import Job, Workload

_FINE: dict[str, Any] = {"name": "a", "release_date": 0, "duration": 1, "gpus": 2}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": ""}, "name"),
        ({"release_date": -1}, "release_date"),
        ({"release_date": float("nan")}, "release_date"),
        ({"duration": 0}, "duration"),
        ({"duration": float("inf")}, "duration"),
        ({"gpus": 0}, "gpus"),
        ({"gpus": 1.5}, "gpus"),
        ({"gpus": "2"}, "gpus"),
        ({"memory": -1}, "memory"),
        ({"batch_size": 0}, "batch_size"),
        ({"menu": ((1, 0.5),)}, "must hold the demanded 2 GPUs at speed 1"),
        ({"menu": ((2, 0.9),)}, "must hold the demanded 2 GPUs at speed 1"),
        ({"menu": ((2, 1.0), (2, 1.0))}, "must differ"),
        ({"menu": ((2, 1.0), (4, 0.0))}, "menu"),
        ({"menu": ((2, 1.0), (0, 1.0))}, "menu"),
        ({"extra": 1}, "extra"),
    ],
)
def test_bad_jobs(change: dict[str, Any], reason: str) -> None:
    """A job that breaks a rule is refused, and the message says which."""
    with pytest.raises(ValidationError, match=reason):
        Job(**{**_FINE, **change})


def test_rigid_jobs_run_on_their_demand_only() -> None:
    """Without a menu there is one count, at speed 1."""
    job = Job(**_FINE)
    assert (job.counts, job.speed(2), job.gpu_seconds) == ((2,), 1.0, 2.0)
    with pytest.raises(KeyError):
        job.speed(1)


def test_equal_names_are_refused() -> None:
    """Names tell the jobs of a workload apart."""
    with pytest.raises(ValidationError, match="must differ"):
        Workload(jobs=(Job(**_FINE), Job(**_FINE)))


def test_json_there_and_back() -> None:
    """A workload survives its JSON."""
    workload = Workload(name="w", jobs=(Job(**_FINE, menu=((1, 0.5), (2, 1.0)), model="m"),))
    assert Workload.model_validate_json(workload.model_dump_json()) == workload
