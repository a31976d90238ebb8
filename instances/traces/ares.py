"""Ares: the available workloads of its evaluation, on nodes of four RTX 2080 Ti."""

from pathlib import Path
from typing import Unpack

from gsopt.core.errors import require
from gsopt.scenario.job import Job, Workload
from instances.arguments import at_least
from instances.doublings import check_halvings, doublings, halved
from instances.traces.reading import Reading
from instances.traces.selection import Selection
from instances.traces.sia import sia
from instances.workloads.resampled import resampled

#: GPUs of the simulated cluster, and GPUs per node. Source: Ares, section 5.1.
GPUS, GPUS_PER_NODE = 64, 4

#: Arrivals per hour and GPU, on clusters of every size. Source: Ares, section 5.6.
_JOBS_PER_GPU_HOUR = 640 / 2_048

#: Number of available workloads of each trace, of which Ares uses eight. Helios is called Saturn here, after
#: the cluster that was sampled.
NUMBERS = {"philly": 8, "saturn": 10, "newtrace": 10}

#: Assumptions where the paper is silent or its data are not public, for printing with results.
ASSUMPTIONS = (
    "Jobs and release dates are those of Sia's public samples; Ares does not say which eight it used.",
    "Models and demanded GPUs are those of Sia's rows: 4 to 16 GPUs, tuned by Sia, not always powers of two.",
    "At these demands 5 to 18 % of the jobs may grow; with `halvings`, more of them, as demands are smaller.",
    "Batch sizes are Sia's: Ares' are 4 to 8 times as large for ResNet-50 and YOLOv3. No row has NeuMF.",
    "Speeds were measured by Sia on RTX 2080 Ti in nodes of eight; Ares' own measurements are not public.",
    "Up to 8 GPUs the placement on nodes of four was measured; 9 to 12 GPUs were measured on three nodes.",
    "13 to 24 GPUs take the times on three nodes, the most measured; 14 lie on the line between 12 and 16.",
    "More than 24 GPUs were not measured and are not allowed.",
    "A job keeps its batch size on any number of GPUs, by gradient accumulation where a share is too large.",
    "A job is not allowed on more GPUs than its batch size was measured on.",
    "The work of a job is all its iterations on the demanded GPUs, without Sia's factors for real runs.",
    "A job may run on its demanded GPUs and on doublings of these.",
    "Stopping and relaunching takes the times of Ares' section 5.2; NeuMF, never preempted there, takes none.",
)


def ares(
    path: str | Path,
    *,
    trace: str = "philly",
    number: int = 1,
    gpus: int = GPUS,
    halvings: int | None = None,
    profiles: str | Path | None = None,
    **selection: Unpack[Selection],
) -> Reading:
    """Read a workload of Sia for the cluster of Ares, with nodes of four RTX 2080 Ti.

    Jobs run on the GPUs that they demand, or on twice, four times, ... as many. A row is dropped for the same
    reasons as in the reader `sia` or, unless `cap` is set, if its job demands more than `gpus`. `ASSUMPTIONS`
    lists what is unknown or differs from the paper.

    Parameters
    ----------
    path
        A workload file, plain or gzipped, or the folder of Sia's workloads and profiles or of all traces.
    trace
        If `path` is a folder: ``philly``, ``saturn`` (Helios), ``newtrace``, or another trace of `sia`.
    number
        If `path` is a folder: number of the workload, from 1.
    gpus
        Number of GPUs of the cluster.
    halvings
        How many times to halve a job's demand, after rounding it down to a power of two. If the job cannot run
        on the result, it demands the next smaller number on which it can or, if there is none, the smallest
        such number. The number of iterations stays the same. By default, the demand is the one in the trace.
    profiles
        Folder of the profiles; see `sia`.
    selection
        Window, GPU cap and sample; see `Selection`. `max_gpus` is at most `gpus`, which is also its default.

    Raises
    ------
    InvalidInput
        A file cannot be read or has a wrong header, there are no profiles, or an option is out of range.

    Notes
    -----
    Ares, sections 3.3 and 5.1. The workloads come from S. Jayaram Subramanya et al., Sia, SOSP 2023.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(ares(folder, number=8).workload.jobs) == 160
    True
    """
    at_least(1, gpus=gpus)
    limit = selection.get("max_gpus")
    selection["max_gpus"] = gpus if limit is None else min(limit, gpus)
    reading = sia(path, trace=trace, number=number, gpus_per_node=GPUS_PER_NODE, profiles=profiles, **selection)
    check_halvings(halvings)
    jobs = reading.workload.jobs
    asked = jobs if halvings is None else [_halved(job, halvings) for job in jobs]
    jobs = tuple(doublings(job, gpus) for job in asked)
    return reading.model_copy(
        update={"workload": reading.workload.model_copy(update={"name": "ares", "jobs": jobs})}
    )


def scaled(
    folder: str | Path,
    *,
    gpus: int = 2_048,
    hours: float = 8,
    halvings: int | None = None,
    seed: int = 0,
) -> Workload:
    """Draw a workload for a cluster of any size, with arrivals in proportion to the number of GPUs.

    The jobs are drawn with replacement from the ten workloads that Sia sampled from Saturn, a cluster of
    Helios. There are 20 jobs per hour for 64 GPUs, or 640 jobs per hour for 2,048 GPUs. Jobs that demand more
    than `gpus` are never drawn. Release dates are drawn uniformly.
    `halvings` is as in `ares`. Source: Ares, section 5.6 (Figure 11), which does not say how the traces were
    scaled.
    """
    jobs = round(gpus * hours * _JOBS_PER_GPU_HOUR)
    require(jobs >= 1, "hours", hours, f"must be long enough for a job on {gpus} GPUs")
    pool = [
        ares(folder, trace="saturn", number=number, gpus=gpus, halvings=halvings).workload
        for number in range(1, NUMBERS["saturn"] + 1)
    ]
    return resampled(pool, jobs=jobs, seconds=hours * 3600, seed=seed)


def _halved(job: Job, halvings: int) -> Job:
    """Return a job with a halved demand, the next smaller number in its menu, or else its smallest."""
    wanted = halved(job.gpus, halvings)
    demand = max((count for count in job.counts if count <= wanted), default=job.counts[0])
    base = job.speed(demand)
    menu = tuple((count, speed / base) for count, speed in job.menu)
    return job.model_copy(update={"gpus": demand, "duration": job.duration / base, "menu": menu})
