"""Real: instances from public traces, if these are available."""

from collections.abc import Iterator
from pathlib import Path

from gsopt.problems.scheduling import Scheduling
from gsopt.scenario.job import Workload
from instances.scheduling.from_workload import from_workload
from instances.suites import renamed
from instances.traces.ares import ares
from instances.traces.sia import FOLDER

#: Trace, index of the first job, number of jobs, and number of GPUs of each instance. The jobs overlap.
_CUTS = (("philly", 149, 6, 16), ("saturn", 121, 7, 16), ("newtrace", 53, 6, 16), ("newtrace", 51, 8, 32))


def from_data(folder: Path) -> Iterator[Scheduling]:
    """Yield four instances from the Sia workloads in a folder: consecutive jobs on 16 or 32 GPUs.

    A job may run on its demanded number of GPUs, and on all measured doublings of it. Without the workloads
    there are no instances.
    """
    if not (folder / FOLDER).is_dir():
        return
    for trace, first, jobs, gpus in _CUTS:
        workload = _consecutive(ares(folder, trace=trace).workload, first, jobs)
        yield renamed(from_workload(workload, gpus=gpus), f"real/{trace}-{first:03}")


def _consecutive(workload: Workload, first: int, jobs: int) -> Workload:
    """Return consecutive jobs in order of release date, with all dates shifted so that the first is 0."""
    chosen = workload.jobs[first : first + jobs]
    begin = chosen[0].release_date
    return Workload(
        name=workload.name,
        source=f"{workload.source}, jobs {first + 1} to {first + jobs}",
        jobs=tuple(
            job.model_copy(update={"release_date": round(job.release_date - begin, 3)}) for job in chosen
        ),
    )
