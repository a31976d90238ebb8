"""Snapshots: the elastic jobs of a workload at the moment with the most GPUs in use."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from gsopt.core.problem import About
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.scenario.job import Job, Workload

#: GPUs that remain for extra workers, as a share of those in use.
_REMAINING = 0.25

#: Largest number of workers of a job, relative to its number in the trace.
_GROWTH = 4

#: Largest number of GPUs per worker: those of one server.
_SERVER_GPUS = 8

#: Iterations per second by number of GPUs.
Curve = Mapping[int, float]


def proportional(workload: Workload) -> Allocation:
    """Create an instance of the jobs running at the busiest moment, with linear speed-up.

    Every job starts when it is submitted. A worker has 8 GPUs, or all GPUs of a smaller job. A job's minimum
    number of workers is its number of GPUs in the trace divided by that of a worker, rounded up. The job can
    grow to four times this minimum. The number of GPUs that remain for extra workers is a quarter of the number
    in use.
    """
    time = busiest(workload.jobs)
    elastic: list[ElasticJob] = []
    for number, job in enumerate(running(workload.jobs, time), start=1):
        gpus = min(job.gpus, _SERVER_GPUS)
        workers = -(-job.gpus // gpus)
        left = job.release_date + job.duration - time
        elastic.append(
            ElasticJob(
                name=f"j{number}",
                min_workers=workers,
                max_workers=_GROWTH * workers,
                gpus_per_worker=gpus,
                remaining_work=left * workers,
            )
        )
    return _allocation(workload, time, elastic, "proportional scaling")


def measured(workload: Workload, curves: Sequence[Curve]) -> Allocation:
    """Create an instance of the jobs running at the busiest moment, with measured scaling curves.

    A worker has one GPU. Each job gets a curve that was measured on the job's number of GPUs; if there are
    several such curves, they are assigned in rotation. Between two measured numbers of GPUs, a job runs on the
    smaller one, so its values rise in steps, and fall where the curve falls. A job can grow to four times its
    GPUs, but not beyond the end of its curve. Jobs without a suitable curve are left out. The number of
    GPUs that remain for extra workers is a quarter of the number that the other jobs use.
    """
    time = busiest(workload.jobs)
    elastic: list[ElasticJob] = []
    for number, job in enumerate(running(workload.jobs, time), start=1):
        fitting = [curve for curve in curves if job.gpus in curve]
        if not fitting:
            continue
        curve = fitting[number % len(fitting)]
        most = min(_GROWTH * job.gpus, max(curve))
        left = job.release_date + job.duration - time
        elastic.append(
            ElasticJob(
                name=f"j{number}",
                min_workers=job.gpus,
                max_workers=most,
                values=tuple(_saved(left, curve, job.gpus, most)),
            )
        )
    return _allocation(workload, time, elastic, "measured scaling")


def busiest(jobs: Sequence[Job]) -> float:
    """Return the moment with the most GPUs in use if every job starts when it is submitted; 0 without jobs."""
    starts = [(job.release_date, 1, job.gpus) for job in jobs]
    ends = [(job.release_date + job.duration, 0, -job.gpus) for job in jobs]
    events = sorted(starts + ends)
    in_use = list(accumulate(change for _, _, change in events))
    return events[max(range(len(events)), key=in_use.__getitem__)][0] if events else 0.0


def running(jobs: Iterable[Job], time: float) -> Iterator[Job]:
    """Yield the jobs that run at a moment if every job starts when it is submitted."""
    return (job for job in jobs if job.release_date <= time < job.release_date + job.duration)


def _saved(left: float, curve: Curve, least: int, most: int) -> Iterator[float]:
    for gpus in range(least + 1, most + 1):
        used = max(count for count in curve if count <= gpus)
        yield left - left * curve[least] / curve[used]


def _allocation(workload: Workload, time: float, jobs: Sequence[ElasticJob], scaling: str) -> Allocation:
    in_use = sum(job.base_gpus for job in jobs)
    return Allocation(
        name=workload.name,
        about=About(source=f"{workload.source}, jobs running at second {time:.0f}, {scaling}"),
        capacity=round(_REMAINING * in_use),
        jobs=tuple(jobs),
    )
