"""The workloads of Castor, of made-up files and of the real traces."""

from collections import Counter
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.interference import gavel
from instances.traces import castor, helios, philly
from instances.traces.castor import JOBS, LARGE, LARGE_DEMANDS, MODELS
from tests.instances.traces.samples import write_sample


def made_up(folder: Path, jobs: int = 200) -> Path:
    """Write jobs on four GPUs for 800 s as Philly has them, one a minute."""
    rows = (f"2017-10-09 {7 + at // 60:02d}:{at % 60:02d}:00,800.0,4,3200.0,a\n" for at in range(jobs))
    path = folder / "philly.csv"
    path.write_text("timestamp,duration,num_gpus,gpu_time,cluster\n" + "".join(rows))
    return path


def test_jobs_are_those_of_the_trace(tmp_path: Path) -> None:
    """But for the models nothing differs from the reader of the trace, whose seed draws the same jobs."""
    path = made_up(tmp_path)
    drawn = castor(path, sample=50, seed=3).workload.jobs

    assert [job.model_copy(update={"model": ""}) for job in drawn] == [
        *philly(path, sample=50, seed=3).workload.jobs
    ]
    assert {job.model for job in drawn} == set(MODELS)


def test_large_jobs_keep_their_gpu_time(tmp_path: Path) -> None:
    """All jobs, some, or none demand 16 or 32 GPUs, for as many GPU-seconds as before."""
    path = made_up(tmp_path)
    shares = {}
    for large in (0.0, 0.34, 1.0):
        jobs = castor(path, large=large).workload.jobs
        shares[large] = sum(job.gpus > 8 for job in jobs) / len(jobs)
        assert {job.gpu_seconds for job in jobs} == {3200}
        assert {job.gpus for job in jobs} <= {4, *LARGE_DEMANDS}

    sizes = Counter(job.gpus for job in castor(path, large=1.0).workload.jobs)
    assert all(abs(count - 100) < 40 for count in sizes.values())
    assert sizes.keys() == set(LARGE_DEMANDS)
    assert (shares[0.0], shares[1.0]) == (0, 1)
    assert 0.25 < shares[0.34] < 0.45


def test_no_demand_exceeds_the_cap(tmp_path: Path) -> None:
    """Where 32 GPUs are too many all large jobs have 16, and where these are too many there are none."""
    path = made_up(tmp_path)

    assert Counter(job.gpus for job in castor(path, large=1, max_gpus=31).workload.jobs).keys() == {16}
    assert Counter(job.gpus for job in castor(path, large=1, max_gpus=15).workload.jobs).keys() == {4}


def test_the_period_is_the_busiest_unless_another_is_given(tmp_path: Path) -> None:
    """Eight hours of a longer file are read, or the window or the period that is asked for."""
    path = made_up(tmp_path, jobs=600)

    assert len(castor(path, sample=None).workload.jobs) == 480
    assert len(castor(path, sample=None, busiest=7200).workload.jobs) == 120
    assert len(castor(path, sample=None, window=(0, 1e6)).workload.jobs) == 600
    assert len(castor(path).workload.jobs) == JOBS


def test_venus_is_read_as_helios(tmp_path: Path) -> None:
    """The other trace has its own form."""
    path = write_sample("helios", tmp_path)

    assert [job.gpus for job in castor(path, trace="venus").workload.jobs] == [
        job.gpus for job in helios(path).workload.jobs
    ]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"trace": "saturn"}, "trace: 'saturn': must be one of philly, venus"),
        ({"large": 1.5}, "large: 1.5: must be between 0 and 1"),
        ({"busiest": 60, "window": (0, 60)}, "busiest: 60: must not be given beside a window"),
    ],
)
def test_bad_options_are_refused(tmp_path: Path, options: dict[str, object], line: str) -> None:
    """An option out of its range is named in one line."""
    with pytest.raises(InvalidInput, match=line):
        castor(made_up(tmp_path), **options)  # type: ignore[arg-type]


def test_every_pair_of_models_was_measured(traces: Path) -> None:
    """Gavel's table has the six configurations and all their pairs on a V100, so that each two fit it."""
    slowdowns = gavel(traces).table.slowdowns

    assert all(other in slowdowns[one] for one in MODELS for other in MODELS)


@pytest.mark.parametrize(("trace", "jobs", "large"), [("philly", 2332, 0.0), ("venus", 489, 0.42)])
def test_the_real_traces(traces: Path, trace: str, jobs: int, large: float) -> None:
    """The busiest period of Philly has no job on more than 8 GPUs, that of Venus many; 480 jobs are there."""
    found = castor(traces, trace=trace, sample=None, max_gpus=128).workload.jobs  # type: ignore[arg-type]

    assert len(found) == jobs
    assert round(sum(job.gpus > 8 for job in found) / jobs, 2) == large
    assert LARGE == 0.34
