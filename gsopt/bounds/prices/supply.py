"""Supply: the GPU-seconds that there are in each cell of time, of the whole cluster and of single types."""

from dataclasses import dataclass

import numpy as np

from gsopt.bounds.prices.demand import Array, types_of
from gsopt.bounds.work import first_release
from gsopt.scenario import Scenario
from gsopt.schedule.presence import Presence


@dataclass(frozen=True, eq=False)
class Supply:
    """What is there over time, on a clock that begins at the first release date.

    Attributes
    ----------
    times
        When the capacity changes, the first one at 0.
    gpus
        GPUs that are there from each of these times on, times the number of jobs that may share one.
    limits
        The same for each type of GPUs to which jobs are tied, at any time.
    """

    times: Array
    gpus: Array
    limits: Array

    @property
    def rows(self) -> int:
        """Number of rows that limit what jobs hold: the cluster and its types."""
        return 1 + len(self.limits)

    @classmethod
    def of(cls, scenario: Scenario) -> "Supply":
        """Read what is there in a scenario; machines that are asked for may stay as long as anybody likes.

        Examples
        --------
        >>> from gsopt.cluster import Cluster
        >>> from gsopt.job import Workload
        >>> from gsopt.scenario import CapacityChange
        >>> changes = [CapacityChange(time=10, gpus=2)]
        >>> given = Scenario(workload=Workload(jobs=[]), cluster=Cluster.plain(8), capacity_changes=changes)
        >>> Supply.of(given).gpu_seconds(np.array([0.0, 5.0, 20.0])).tolist()
        [[40.0, 60.0]]
        """
        origin, cluster, share = first_release(scenario.workload), scenario.cluster, scenario.share_limit
        there = {0.0: cluster.gpus}
        for step in Presence(scenario, (), float).steps:
            there[max(step.time - origin, 0.0)] = step.gpus
        return cls(
            times=np.array(list(there)),
            gpus=np.array(list(there.values()), dtype=float) * share,
            limits=np.array([cluster.room(name) for name in types_of(scenario)], dtype=float) * share,
        )

    def gpu_seconds(self, edges: Array) -> Array:
        """Give the GPU-seconds of every row, cluster first, in the cells between edges."""
        points = np.union1d(edges, self.times)
        held = self.gpus[np.searchsorted(self.times, points[:-1], side="right") - 1] * np.diff(points)
        places = np.searchsorted(edges, points[:-1], side="right") - 1
        inside = (places >= 0) & (places < len(edges) - 1)
        whole = np.bincount(places[inside], weights=held[inside], minlength=len(edges) - 1)
        parts = [limit * np.diff(edges) for limit in self.limits]
        found: Array = np.array([whole, *parts])
        return found
