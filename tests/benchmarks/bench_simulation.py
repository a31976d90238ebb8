"""Speed of the simulator and of the bounds, side by side in one run, on the Philly trace.

Jobs that demand more GPUs than the cluster has are capped to its size. They are the last of the trace. On
64 GPUs tens of thousands of them wait; on 512 GPUs the last 10,000 hardly wait, so there growth in the number
of starts (jobs and preemptions) says more than growth in the number of jobs.
"""

import csv
import gzip
import tracemalloc
from collections.abc import Callable
from datetime import datetime
from functools import cache
from math import log
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.method import name_of
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.schedule.bounds import mean_busy_time_bound, position_bound, srpt_bound
from gsopt.schedule.fairness import fair_finish_times, gps_finish_times
from gsopt.simulation import Policy, Replay, simulate
from heuristics import policies
from heuristics.policies import elastic_las, elastic_srtf, las, srtf
from tests.benchmarks.measures import data, once, report, timed

pytestmark = pytest.mark.slow

SMALL, LARGE = 10_000, 80_000
POLICIES = [getattr(policies, name) for name in policies.__all__]

_TRACE = "philly/sia/philly.csv.gz"

#: Jobs per processor second on 512 GPUs, where it is not 8,000; it preempts four times per job.
FLOORS = {"las": 4_000}


@cache
def _rows(path: Path) -> list[tuple[float, float, int]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["num_gpus"] and float(row["duration"]) > 0]
    times = [datetime.fromisoformat(row["timestamp"]).timestamp() for row in rows]
    first = min(times)
    jobs = zip(times, rows, strict=True)
    return sorted((time - first, float(row["duration"]), int(row["num_gpus"])) for time, row in jobs)


@cache
def philly(count: int, gpus: int) -> Workload:
    """Return the last jobs of the trace, capped to the cluster."""
    rows = _rows(data(_TRACE) / _TRACE)[-count:]
    jobs = (
        Job(name=str(index), release_date=release, duration=duration, gpus=min(demand, gpus))
        for index, (release, duration, demand) in enumerate(rows)
    )
    return Workload(name=f"philly, last {count:,} jobs", jobs=tuple(jobs))


def _simulate(policy: Policy, count: int, gpus: int) -> tuple[Replay, float]:
    workload = philly(count, gpus)
    return timed(lambda: simulate(workload, policy, cluster=gpus, bound=False))


@pytest.mark.parametrize("gpus", [64, 512])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_policies_on_philly(benchmark: Any, policy: Policy, gpus: int) -> None:
    """No policy is slower than its floor on 512 GPUs, and none grows faster than n^1.1 in starts there."""
    first, short = _simulate(policy, SMALL, gpus)
    result, long = once(benchmark, lambda: _simulate(policy, LARGE, gpus))
    starts = [LARGE + result.metrics.preemptions, SMALL + first.metrics.preemptions]
    in_jobs, in_starts = (log(long / short) / log(ratio) for ratio in (LARGE / SMALL, starts[0] / starts[1]))
    name = name_of(policy)
    speeds = f"{SMALL / short:,.0f} jobs/s at {SMALL:,} jobs, {LARGE / long:,.0f} at {LARGE:,}"
    growth = f"exponent {in_jobs:.2f} in jobs, {in_starts:.2f} in starts"
    report(f"{name} on {gpus} GPUs: {speeds}; {growth}")
    assert result.metrics.completed == LARGE
    if gpus == 512:
        assert LARGE / long >= FLOORS.get(name, 8_000)
        assert in_starts <= 1.1


@pytest.mark.parametrize(("elastic", "rigid"), [(elastic_srtf, srtf), (elastic_las, las)], ids=["srtf", "las"])
def test_elastic_policies_on_rigid_jobs(benchmark: Any, elastic: Policy, rigid: Policy) -> None:
    """On rigid jobs an elastic policy gives the schedule of its rigid sister in at most 3 times its time."""
    first, short = _simulate(rigid, SMALL, 512)
    second, long = once(benchmark, lambda: _simulate(elastic, SMALL, 512))
    report(f"{name_of(elastic)}: {long / short:.2f} times {name_of(rigid)}")
    assert first.completion_times == second.completion_times
    assert long <= 3 * short


def test_racks_on_philly(benchmark: Any) -> None:
    """On 4,096 GPUs in racks a start costs what it costs on a plain cluster, but for a factor of three."""
    workload = philly(LARGE, 4096)
    racks = Cluster.uniform(racks=16, machines=32, gpus=8)
    first, plain = timed(lambda: simulate(workload, policies.fifo, cluster=4096, bound=False))
    result, seconds = once(
        benchmark, lambda: timed(lambda: simulate(workload, policies.fifo, cluster=racks, bound=False))
    )
    speeds = f"{LARGE / seconds:,.0f} jobs/s in racks, {LARGE / plain:,.0f} on a plain cluster"
    report(f"fifo on 4,096 GPUs: {speeds}")
    assert result.completion_times == first.completion_times
    assert seconds / plain < 3  # processor seconds of one run


def test_memory_on_philly(benchmark: Any) -> None:
    """The preemptive replay of the overloaded cluster, workload included, stays below 1 GiB."""

    def peak() -> int:
        philly.cache_clear()
        tracemalloc.start()
        try:
            simulate(philly(LARGE, 64), srtf, cluster=64, bound=False)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak_bytes = once(benchmark, peak)
    megabytes = peak_bytes / 2**20
    report(f"peak of srtf on 64 GPUs, {LARGE:,} jobs: {megabytes:,.0f} MiB")
    assert peak_bytes < 2**30


@pytest.mark.parametrize(
    "bound",
    [srpt_bound, position_bound, mean_busy_time_bound, gps_finish_times, fair_finish_times],
    ids=lambda bound: bound.__name__,
)
def test_bounds_on_philly(benchmark: Any, bound: Callable[[Workload, int], Any]) -> None:
    """The scalable bounds and the fluid references on the large workload."""
    assert once(benchmark, lambda: bound(philly(LARGE, 512), 512))
