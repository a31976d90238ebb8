"""Workloads as scheduling problems."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Mode, Phase, Workload
from instances.scheduling.from_workload import from_workload

MENU = [(1, 0.3), (2, 0.6), (3, 1.0), (6, 1.8), (8, 2.0), (12, 2.2), (24, 3.0)]
ELASTIC = Job(name="a", release_date=5, duration=60, gpus=3, menu=MENU)
RIGID = Job(name="b", release_date=0, duration=30, gpus=4)
WORKLOAD = Workload(name="two", source="made up", jobs=[ELASTIC, RIGID])


def test_jobs_keep_what_they_are() -> None:
    """Names, release dates, durations and speeds of the problem's workload are those of the workload given."""
    problem = from_workload(WORKLOAD, gpus=16)
    rigid, elastic = problem.workload.jobs

    assert (problem.name, problem.about and problem.about.source) == ("two", "made up")
    assert [(job.name, job.release_date, job.duration) for job in (rigid, elastic)] == [
        ("b", 0, 30),
        ("a", 5, 60),
    ]
    assert rigid.counts == (4,)
    assert elastic.menu == ((3, 1.0), (6, pytest.approx(1.8)), (12, pytest.approx(2.2)))
    assert problem.jobs[1].work == 180


@pytest.mark.parametrize(("alpha", "counts"), [(0.75, [3, 6]), (0.5, [3, 6, 12]), (1.0, [3])])
def test_the_threshold_restricts_counts(alpha: float, counts: list[int]) -> None:
    """Efficiencies are 0.9 on 6 GPUs and 0.55 on 12."""
    problem = from_workload(WORKLOAD, gpus=16, counts="alpha", alpha=alpha)

    assert sorted(problem.jobs[1].rates) == counts


def test_arguments_are_checked() -> None:
    """A job that does not fit, no jobs, and unknown counts are refused in one line."""
    with pytest.raises(InvalidInput, match="gpus: 3: must be at least 4, the largest demand"):
        from_workload(WORKLOAD, gpus=3)
    with pytest.raises(InvalidInput, match=r"workload: .*: must hold at least one job"):
        from_workload(Workload(jobs=[]), gpus=3)
    special_fields: tuple[dict[str, Any], ...] = (
        {"modes": [Mode(name="m", menu=[(1, 0.5)])]},
        {"phases": [Phase(until=1)]},
    )
    for fields in special_fields:
        special = Job(name="s", release_date=0, duration=1, gpus=1, **fields)
        with pytest.raises(InvalidInput, match="workload: 's': must be a job without modes and phases"):
            from_workload(Workload(jobs=[special]), gpus=3)
    with pytest.raises(InvalidInput, match="counts: 'some': must be one of alpha, all"):
        from_workload(WORKLOAD, gpus=4, counts="some")  # type: ignore[arg-type]


def test_a_job_without_checkpoints_is_refused() -> None:
    """The problem lets jobs that stop keep what they have done."""
    job = Job(name="s", release_date=0, duration=1, gpus=1, checkpoints=False)
    with pytest.raises(InvalidInput, match="workload: 's': must be a job with checkpoints"):
        from_workload(Workload(jobs=[job]), gpus=3)
