"""From workload: scheduling problems made from workloads."""

from typing import get_args

from gsopt.core.errors import require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.scenario.job import Job, Workload
from instances.doublings import doublings
from instances.scheduling.counts import Counts, restricted


def from_workload(workload: Workload, *, gpus: int, counts: Counts = "all", alpha: float = 0.75) -> Scheduling:
    """Create the problem of scheduling a workload's jobs on the given number of GPUs.

    Work is counted in GPU-seconds on the demanded GPUs. A job may run on the demanded number of GPUs, and on
    those doublings of it that are in the job's menu and fit on the cluster. With ``counts="alpha"``, it may use
    only those of the doublings that elastic fair queuing may use at the threshold `alpha`.

    Raises
    ------
    InvalidInput
        There are no jobs, an argument is out of range, a job demands too many GPUs, or a job has modes or
        phases or lacks checkpoints.
    """
    require(bool(workload.jobs), "workload", workload.name, "must hold at least one job")
    most = max(job.gpus for job in workload.jobs)
    require(gpus >= most, "gpus", gpus, f"must be at least {most}, the largest demand")
    special = next((job.name for job in workload.jobs if job.modes or job.phases), None)
    require(special is None, "workload", special, "must be a job without modes and phases")
    lost = next((job.name for job in workload.jobs if not job.checkpoints), None)
    require(lost is None, "workload", lost, "must be a job with checkpoints")
    require_one_of("counts", counts, get_args(Counts))
    problem = Scheduling(
        name=workload.name,
        about=About(source=workload.source),
        gpus=gpus,
        jobs=tuple(_elastic(doublings(job, gpus)) for job in workload.jobs),
    )
    return restricted(problem, alpha) if counts == "alpha" else problem


def _elastic(job: Job) -> ElasticJob:
    rates = {count: job.gpus * job.speed(count) for count in job.counts}
    return ElasticJob(name=job.name, release=job.release_date, work=job.gpu_seconds, rates=rates)
