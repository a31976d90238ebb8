"""Real: instances from public traces, if these are available."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from gsopt.problems.reclaiming import Reclaiming
from gsopt.scenario.job import Workload
from instances.reclaiming.snapshots import snapshots
from instances.reclaiming.workers import Mode
from instances.traces.itp import FILE as ITP
from instances.traces.itp import itp
from instances.traces.philly import FILE as PHILLY
from instances.traces.philly import philly

#: Beginning and end of the months in which the Philly trace is dense.
_PHILLY_DATES = datetime(2017, 10, 1), datetime(2017, 12, 1)  # noqa: DTZ001 - the trace has no time zone

#: Number of servers, few enough that the trace keeps more than half of the GPUs busy. A fifth must be returned.
_PHILLY_SERVERS, _PHILLY_DEMAND = 80, 16
_ITP_SERVERS, _ITP_DEMAND = 150, 30

_MODES: tuple[Mode, ...] = ("packed", "worker")


def from_data(folder: Path) -> Iterator[Reclaiming]:
    """Yield instances from three moments each of Philly and ITP, in the modes ``packed`` and ``worker``.

    A trace that is not in the folder is skipped.
    """
    if (folder / PHILLY).exists():
        workload = philly(folder, dates=_PHILLY_DATES).workload
        yield from _snapshots(workload, _PHILLY_SERVERS, _PHILLY_DEMAND)
    if (folder / ITP).exists():
        yield from _snapshots(itp(folder).workload, _ITP_SERVERS, _ITP_DEMAND)


def _snapshots(workload: Workload, servers: int, demand: int) -> Iterator[Reclaiming]:
    for mode in _MODES:
        for problem in snapshots(workload, servers=servers, demand=demand, count=3, mode=mode):
            number = problem.name.rpartition("-")[2]
            name = f"reclaiming/real/{workload.name}-{mode}-{number}"
            yield problem.model_copy(update={"name": name})
