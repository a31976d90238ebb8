"""Jobs and workloads."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.files import first_error
from gsopt.job import Job, Workload

GOOD: dict[str, Any] = {"name": "a", "release_date": 0, "duration": 60, "gpus": 1}


def job(name: str, release_date: float = 0.0) -> Job:
    """Give a job of one GPU and one minute."""
    return Job(name=name, release_date=release_date, duration=60, gpus=1)


BAD_JOBS = {
    "no name": ({"name": ""}, "name: ''"),
    "released before the beginning": ({"release_date": -1}, "release_date: -1"),
    "released at no time": ({"release_date": float("nan")}, "release_date: nan"),
    "released never": ({"release_date": float("inf")}, "release_date: inf"),
    "no duration": ({"duration": 0}, "duration: 0"),
    "negative duration": ({"duration": -5.0}, "duration: -5.0"),
    "no end": ({"duration": 1e13}, "duration: 1"),
    "text for a number": ({"duration": "60"}, "duration: '60'"),
    "no GPUs": ({"gpus": 0}, "gpus: 0"),
    "half a GPU": ({"gpus": 0.5}, "gpus: 0.5"),
    "more GPUs than there are": ({"gpus": 10**7}, "gpus: 10000000"),
    "unknown key": ({"colour": "red"}, "colour: 'red': is not a known key"),
}


@pytest.mark.parametrize(("change", "line"), BAD_JOBS.values(), ids=BAD_JOBS.keys())
def test_bad_jobs_are_refused(change: dict[str, Any], line: str) -> None:
    """A job that breaks a rule is refused with its field and value."""
    with pytest.raises(ValidationError) as caught:
        Job(**GOOD | change)

    assert str(first_error("", caught.value)).startswith(line)


def test_names_differ() -> None:
    """Two jobs of one name are refused, and the second one is named."""
    with pytest.raises(ValidationError) as caught:
        Workload(jobs=(job("a"), job("b"), job("a")))

    assert str(first_error("", caught.value)) == "jobs[2].name: 'a': must differ from every other name"


def test_data_are_frozen() -> None:
    """Neither a job nor a workload can be changed."""
    with pytest.raises(ValidationError):
        job("a").gpus = 2  # type: ignore[misc]  # the point of the test
    with pytest.raises(ValidationError):
        Workload(jobs=()).jobs = (job("a"),)  # type: ignore[misc]  # the point of the test


@settings(deadline=None)
@given(st.lists(st.integers(0, 5)))
def test_jobs_are_sorted_by_release_date(dates: list[int]) -> None:
    """Jobs are sorted by release date, and equal dates keep the order in which they were given."""
    workload = Workload(jobs=tuple(job(str(number), date) for number, date in enumerate(dates)))

    expected = sorted(range(len(dates)), key=lambda number: (dates[number], number))
    assert expected == [int(job.name) for job in workload.jobs]


def test_gpu_hours() -> None:
    """GPU time is duration times GPUs, over all jobs."""
    jobs = (
        Job(name="a", release_date=0, duration=1800, gpus=4),
        Job(name="b", release_date=9, duration=3600, gpus=3),
    )

    assert [job.gpu_seconds for job in jobs] == [7200.0, 10800.0]
    assert Workload(jobs=jobs).gpu_hours == 5.0


def test_a_workload_survives_json() -> None:
    """A workload written as JSON and read again is the same."""
    workload = Workload(name="two", source="here", jobs=(job("a", 3), job("b", 1)))

    assert Workload.model_validate_json(workload.model_dump_json()) == workload
