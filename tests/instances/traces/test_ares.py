"""The setting of Ares, on made-up files and on the real ones."""

from collections import Counter
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.scenario import RELAUNCH_OVERHEADS
from gsopt.scenario.speed import efficient_counts
from instances.traces import ares, sia
from instances.traces.ares import GPUS, NUMBERS, scaled
from tests.instances.traces.samples import SIA, sia_folder


def test_menus_are_doublings_on_nodes_of_four(tmp_path: Path) -> None:
    """Eight GPUs on one node do not stand for two nodes of four, and halves of the demand are gone."""
    first, second, deep = ares(sia_folder(tmp_path)).workload.jobs

    assert (first.counts, second.counts, deep.counts) == ((1, 2), (2,), (4,))


def test_measurements_by_nodes_extend_menus(tmp_path: Path) -> None:
    """Eight GPUs on two nodes are in the menu where they were measured."""
    path = sia_folder(tmp_path)
    header = "local_bsz,step_time,sync_time,num_nodes,num_replicas\n"
    (tmp_path / "profiles" / "deep" / "scalability-rtx.csv").write_text(header + "8,0.75,0.2,2,8\n8,1,9,0,8\n")
    reading = ares(path)
    deep = reading.workload.jobs[2]
    (issue,) = reading.issues

    assert deep.counts == (4, 8)
    assert deep.speed(8) == pytest.approx((0.5 + 0.5 / 3) / 0.75)
    assert (issue.file, issue.row) == ("deep/scalability-rtx.csv", 3)
    assert issue.reason == "num_replicas: 8: must be between num_nodes, which is at least 1, and 1000"


def test_jobs_larger_than_the_cluster_are_dropped(tmp_path: Path) -> None:
    """A job that demands more GPUs than there are is reported, and the lower of two caps holds."""
    path = sia_folder(tmp_path)

    assert [issue.row for issue in ares(path, gpus=2).dropped] == [4]
    assert len(ares(path, gpus=2, max_gpus=1).dropped) == 2
    with pytest.raises(InvalidInput, match="gpus: 0: must be at least 1"):
        ares(path, gpus=0)


def test_demands_can_be_halved(tmp_path: Path) -> None:
    """The demand is a smaller power of two, where it was measured; the iterations are the same."""
    path = sia_folder(tmp_path)
    rows, halved = ares(path).workload.jobs, ares(path, halvings=1).workload.jobs

    assert [job.gpus for job in halved] == [1, 1, 4]
    assert halved[1].menu == ((1, 1.0), (2, pytest.approx(1.6)))
    assert halved[1].duration == pytest.approx(1.6 * rows[1].duration)
    with pytest.raises(InvalidInput, match="halvings: -1: must be a whole number, at least 0"):
        ares(path, halvings=-1)


def test_the_file_is_that_of_sia(tmp_path: Path) -> None:
    """The same jobs at the same release dates as Sia's reader gives."""
    path = sia_folder(tmp_path, SIA)

    assert [(job.name, job.release_date, job.model) for job in ares(path).workload.jobs] == [
        (job.name, job.release_date, job.model) for job in sia(path).workload.jobs
    ]


FACTS = {
    "philly": (1280, 1.43, {4: 59, 6: 309, 8: 296, 10: 15, 12: 336, 14: 7, 16: 258}, 88, 8),
    "saturn": (1600, 1.64, {4: 217, 6: 335, 8: 304, 10: 193, 12: 342, 14: 23, 16: 186}, 79, 8),
    "newtrace": (9600, 1.19, {4: 835, 6: 2279, 8: 2313, 10: 562, 12: 2435, 14: 24, 16: 1152}, 1712, 48),
}


@pytest.mark.parametrize("trace", FACTS)
def test_the_real_workloads(traces: Path, trace: str) -> None:
    """No job is dropped; jobs, load on 64 GPUs, demands and jobs that may grow are as counted."""
    jobs, load, demands, growing, hours = FACTS[trace]
    readings = [ares(traces, trace=trace, number=number) for number in range(1, NUMBERS[trace] + 1)]
    all_jobs = [job for reading in readings for job in reading.workload.jobs]

    assert all(reading.issues == () for reading in readings)
    assert len(all_jobs) == jobs
    assert round(sum(r.workload.gpu_hours for r in readings) / len(readings) / GPUS / hours, 2) == load
    assert Counter(job.gpus for job in all_jobs) == demands
    assert sum(len(efficient_counts(job, 0.75)) > 1 for job in all_jobs) == growing
    assert all(count in (job.gpus, 2 * job.gpus, 4 * job.gpus) for job in all_jobs for count in job.counts)
    assert {job.model for job in all_jobs} <= set(RELAUNCH_OVERHEADS)


def test_halved_demands_let_most_jobs_grow(traces: Path) -> None:
    """With one halving all demands are powers of two, and most jobs may grow at a threshold of 0.75."""
    readings = [ares(traces, number=number, halvings=1) for number in range(1, NUMBERS["philly"] + 1)]
    jobs = [job for reading in readings for job in reading.workload.jobs]

    assert Counter(job.gpus for job in jobs) == {2: 368, 4: 654, 8: 258}
    assert round(sum(len(efficient_counts(job, 0.75)) > 1 for job in jobs) / len(jobs), 2) == 0.63


@pytest.mark.parametrize(("gpus", "jobs"), [(64, 160), (2048, 5120)])
def test_scaled_workloads_keep_the_load(traces: Path, gpus: int, jobs: int) -> None:
    """At 64 GPUs there are as many jobs as in the workloads drawn from; 640 an hour at 2,048."""
    workload = scaled(traces, gpus=gpus, seed=1)

    assert len(workload.jobs) == jobs
    assert workload.jobs[-1].release_date <= 8 * 3600
    assert 1 < workload.gpu_hours / gpus / 8 < 2.2


def test_a_scaled_workload_needs_a_job(traces: Path) -> None:
    """Too short a time for a single job is refused in one line."""
    with pytest.raises(InvalidInput, match=r"hours: 0\.01: must be long enough for a job on 64 GPUs"):
        scaled(traces, gpus=64, hours=0.01)
