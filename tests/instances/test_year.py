"""The synthetic year, made of small traces in the formats of the public ones."""

import sys
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from instances.scenarios import year
from tests.refusals import assert_refused

_MODULE = sys.modules["instances.scenarios.year"]
_DAY, _HOUR = 86_400, 3_600

#: Jobs and GPUs of the small year, and the days and the largest demand of each trace.
_JOBS, _GPUS = 6_000, 512
_TRACES = {"philly": (130, 8), "helios": (40, 4), "crux": (16, 2)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with small traces, of which a small year is made."""
    random = Random(7)
    heads = {
        "philly": "#job id,arrival time (sec),topology,shape,size,duration (sec)",
        "helios": "job_id,arrival_s,service_sec,gpu_count",
        "crux": "#job id,arrival time (sec),topology,shape,size,duration (sec)",
    }
    traces = []
    for reader, name in zip((_MODULE.philly, _MODULE.helios, _MODULE.crux), _TRACES, strict=True):
        days, most = _TRACES[name]
        lines = [heads[name]]
        for number in range(200):
            begin, length = random.uniform(0, days * _DAY), random.randint(60, 90_000)
            gpus = 2 ** random.randrange(most.bit_length())
            middle = f"{length}.0,{gpus}" if name == "helios" else f"CLOS,{gpus},{gpus},{length}.0"
            lines.append(f"{number},{begin:.1f},{middle}")
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
        traces.append((reader, f"{name}.csv"))
    monkeypatch.setattr(_MODULE, "TRACES", tuple(traces))
    monkeypatch.setattr(_MODULE, "JOBS", _JOBS)
    monkeypatch.setattr(_MODULE, "GPUS", _GPUS)
    return tmp_path


def test_a_seed_is_a_year(folder: Path) -> None:
    """Equal seeds give equal jobs, other seeds others, and fewer jobs are the first ones."""
    whole = year(folder, jobs=_JOBS, seed=3).workload.jobs
    assert whole == year(folder, jobs=_JOBS, seed=3).workload.jobs
    assert whole[:500] == year(folder, jobs=500, seed=3).workload.jobs
    other = year(folder, jobs=_JOBS, seed=4).workload.jobs
    assert [job.release_date for job in other] != [job.release_date for job in whole]


def test_a_year_has_the_load_and_a_third_of_each_trace(folder: Path) -> None:
    """The counts are exact, the load is as asked up to the draws, and all jobs are released within the year."""
    for load in (0.2, 0.7):
        found = year(folder, jobs=_JOBS, load=load)
        jobs = found.workload.jobs
        assert Counter(job.name.partition("-")[0] for job in jobs) == dict.fromkeys(_TRACES, _JOBS // 3)
        assert len({job.name for job in jobs}) == _JOBS
        asked = load * _GPUS * 365 * _DAY
        assert sum(job.gpu_seconds for job in jobs) == pytest.approx(asked, rel=0.05)
        assert jobs[0].release_date == 0
        assert 360 * _DAY < jobs[-1].release_date < 365 * _DAY
        assert found.cluster.gpus == _GPUS
        assert max(job.gpus for job in jobs) <= _GPUS


def test_jobs_need_one_of_two_multiples_of_their_gpus(folder: Path) -> None:
    """Durations are those of the trace; GPUs are multiplied by a power of two or its double."""
    jobs = [job for job in year(folder, jobs=_JOBS, load=0.5).workload.jobs if job.name.startswith("crux")]
    trace = _MODULE.crux(folder / "crux.csv").workload.jobs
    demands: dict[float, set[int]] = {}
    for job in trace:
        demands.setdefault(job.duration, set()).add(job.gpus)
    factors = Counter(min(job.gpus / gpus for gpus in demands[job.duration]) for job in jobs)
    smaller, larger = sorted(factors)[:2]
    assert larger == 2 * smaller
    assert all(job.release_date == int(job.release_date) for job in jobs)


def test_a_tile_keeps_the_days_of_its_trace() -> None:
    """A tile has all jobs of the trace once, at their times of day and up to an hour later, in its own days."""
    random = np.random.default_rng(1)
    release = np.sort(random.integers(0, 20 * _DAY, size=400))
    columns = np.stack([release, random.integers(1, 9_000, size=400), random.integers(1, 9, size=400)])
    first, second = (_MODULE._tile(columns, 40, 20, np.random.default_rng(seed)) for seed in (5, 6))  # noqa: SLF001
    assert (first[1:] == columns[1:]).all()
    assert ((first[0] >= 40 * _DAY) & (first[0] < 60 * _DAY + _HOUR)).all()
    assert ((first[0] - release) % _DAY < _HOUR).all()
    assert len(set((first[0] - release) // _DAY)) == 2  # it wraps around once
    assert set((first[0] - release) // _DAY) != set((second[0] - release) // _DAY)
    last = _MODULE._tile(columns, 360, 20, np.random.default_rng(5))  # noqa: SLF001
    assert 0 < last.shape[1] < 400
    assert (last[0] < 365 * _DAY).all()


def test_what_cannot_be_made_is_refused(folder: Path) -> None:
    """Jobs cannot shrink, nor outgrow the cluster, and there are only so many."""
    assert_refused("jobs: 0: must be from 1 to", year, folder, jobs=0)
    assert_refused("jobs: 6001: must be from 1 to", year, folder, jobs=6_001)
    for load in (0.001, 1e9, 0.0, -1.0, float("nan"), float("inf")):
        assert_refused("load: .*must multiply the GPUs of jobs by 1 to 32", year, folder, jobs=9, load=load)
    assert_refused("path: .*is required", year, jobs=9)
