"""Real: instances from public traces, if these are available."""

from collections.abc import Iterator
from pathlib import Path

from gsopt.problems.allocation import Allocation
from instances.allocation.profiles import FOLDER, curves
from instances.allocation.snapshots import measured, proportional
from instances.traces.itp import FILE, itp

#: Clusters with 25 to 500 jobs at their busiest moment.
_CLUSTERS = (1, 4, 7, 8, 9, 10)


def from_data(folder: Path) -> Iterator[Allocation]:
    """Yield instances from the ITP trace in a folder: the busiest moment of each of six clusters.

    For each cluster, one instance has jobs with linear speed-up. Another has ElasticFlow's measured curves, if
    the folder contains them. Without the trace there are no instances.
    """
    if not (folder / FILE).exists():
        return
    profiles = list(curves(folder / FOLDER).values())
    for cluster in _CLUSTERS:
        workload = itp(folder, clusters=[cluster]).workload
        name = f"itp-{cluster:02}"
        yield proportional(workload).model_copy(update={"name": f"allocation/real/proportional/{name}"})
        if profiles:
            yield measured(workload, profiles).model_copy(update={"name": f"allocation/real/measured/{name}"})
