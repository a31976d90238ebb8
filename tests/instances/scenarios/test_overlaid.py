"""Workloads of two windows, and made-up ones."""

from statistics import fmean
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from instances.scenarios.overlaid import LOAD, made_up_workload, overlaid_workload
from instances.traces.reading import Reading

DAY = 86_400


#: A job a day for twenty days, of 1, 2 and 8 GPUs in turn.
TRACE = Workload(
    source="a made-up trace",
    jobs=[
        Job(name=f"j{day}", release_date=day * DAY, duration=1000 + day, gpus=(1, 2, 8)[day % 3])
        for day in range(20)
    ],
)


def test_windows_lie_over_each_other() -> None:
    """Jobs of both windows begin at second 0 of their own, and one of both is there twice."""
    workload = overlaid_workload(TRACE, days=3, gpus=16, jobs=99, load=None, first_days=(4, 6))

    assert [(job.name, job.release_date / DAY, job.duration, job.gpus) for job in workload.jobs] == [
        ("a-j4", 0, 1004, 2),
        ("b-j6", 0, 1006, 1),
        ("a-j5", 1, 1005, 8),
        ("b-j7", 1, 1007, 2),
        ("a-j6", 2, 1006, 1),
        ("b-j8", 2, 1008, 8),
    ]


def test_jobs_larger_than_half_of_the_cluster_are_left_out() -> None:
    """On 15 GPUs no job has 8, and a sample has as many jobs as asked for."""
    workload = overlaid_workload(TRACE, days=9, gpus=15, jobs=7, first_days=(0, 9))

    assert len(workload.jobs) == 7
    assert {job.gpus for job in workload.jobs} == {1, 2}


def test_durations_are_stretched_to_the_load() -> None:
    """All durations grow by one factor, to the GPU time that the load is of what is there."""
    recorded = overlaid_workload(TRACE, days=3, gpus=16, jobs=99, load=None, first_days=(4, 6))
    stretched = overlaid_workload(TRACE, days=3, gpus=16, jobs=99, load=0.5, first_days=(4, 6))
    pairs = zip(stretched.jobs, recorded.jobs, strict=True)
    factors = [long.duration / short.duration for long, short in pairs]

    assert stretched.gpu_hours == pytest.approx(0.5 * 16 * 3 * 24)
    assert factors == pytest.approx([factors[0]] * len(factors))
    assert "to load 0.5 of 16 GPUs" in stretched.source


def test_the_paper_s_size_comes_of_the_real_trace(whole_itp: Reading) -> None:
    """The default windows have about the jobs, GPU time per job, and durations of Aryl's trace."""
    workload = overlaid_workload(whole_itp.workload, load=None)
    per_job = workload.gpu_hours * 3600 / len(workload.jobs)

    assert abs(len(workload.jobs) - 50_390) < 300
    assert workload.jobs[-1].release_date <= 15 * DAY
    assert per_job == pytest.approx(0.72 * 3544 * 15 * DAY / 50_390, rel=0.1)  # by the paper's Table 5
    assert fmean(job.duration for job in workload.jobs) == pytest.approx(16_610 - 3_072, rel=0.15)


def test_made_up_workloads_have_the_size_and_the_load() -> None:
    """As many jobs per GPU and day as in the paper arrive within the days, the same for the same seed."""
    workload = made_up_workload(days=2, gpus=64, seed=4)

    assert len(workload.jobs) == round(50_390 / (15 * 443) * 2 * 8)
    assert all(0 <= job.release_date <= 2 * DAY for job in workload.jobs)
    assert max(job.gpus for job in workload.jobs) <= 32
    assert workload.gpu_hours == pytest.approx(LOAD * 64 * 48)
    assert workload == made_up_workload(days=2, gpus=64, seed=4)
    assert workload != made_up_workload(days=2, gpus=64, seed=5)


def test_durations_are_limited_before_they_are_stretched() -> None:
    """Without a load, no duration is outside of its limits."""
    workload = made_up_workload(days=1, gpus=64, load=None, shortest=900, longest=7200)
    durations = [job.duration for job in workload.jobs]

    assert (min(durations), max(durations)) == (900, 7200)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"days": 32}, "days: 32: must be more than 0 and at most 31"),
        ({"gpus": 0}, "gpus: 0: must be at least 1"),
        ({"jobs": 0}, "jobs: 0: must be at least 1"),
        ({"jobs": 10**12}, "jobs: 1000000000000: must be at least 1 and at most 1,000,000"),
        ({"longest": 0}, "longest: 0: must be between 1e-09 and 1e+12"),
        ({"load": 0}, "load: 0: must be between 0.001 and 1000"),
        ({"shortest": 9, "longest": 8}, "shortest: 9: must be more than 0 and at most longest, 8 s"),
    ],
)
def test_an_option_out_of_its_range_is_one_line(options: dict[str, Any], line: str) -> None:
    """Every option is refused by name, value and rule."""
    with pytest.raises(InvalidInput) as refused:
        made_up_workload(**options)
    assert line in str(refused.value)


def test_windows_without_jobs_are_refused() -> None:
    """A trace that ends before the windows begin has no workload to give, and no window begins before it."""
    with pytest.raises(InvalidInput, match="jobs: 0: must be at least 1"):
        overlaid_workload(TRACE, first_days=(40, 50))
    with pytest.raises(InvalidInput, match="first_days"):
        overlaid_workload(TRACE, first_days=(-1, 5))
