"""Supply: the available GPU-seconds of the cluster and of individual GPU types in each time cell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np

from gsopt.core.numbers.grid import Exact, decimal
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.capability import capability
from gsopt.schedule.bounds.prices.demand import Array, types_of
from gsopt.schedule.bounds.stock import most_there
from gsopt.schedule.bounds.work import first_release
from gsopt.schedule.presence import Presence


@dataclass(frozen=True, eq=False)
class GpuSupply:
    """The GPUs available over time, on a clock that begins at the first release date.

    Attributes
    ----------
    times
        The times at which the capacity changes, from 0 on, in the chosen unit of time.
    gpus
        For each of these times, the largest number of GPUs available from then until the next one, multiplied
        by the number of jobs that may share a GPU. There is one row for the whole cluster and one for each GPU
        type that has prices of its own. GPUs of slower types are weighted by their capability
        (`gsopt.schedule.bounds.capability`).
    """

    times: Array
    gpus: Array

    @property
    def rows(self) -> int:
        """Number of limits on the jobs' usage: one for the cluster, and one for each GPU type in `gpus`."""
        return len(self.gpus)

    @classmethod
    def of(cls, scenario: Scenario, unit: Exact = 1, types: Sequence[str] | None = None) -> "GpuSupply":
        """Return an upper bound on the supply of a scenario, whichever machines the policy gives up.

        Parameters
        ----------
        scenario
            The scenario.
        unit
            The length of the unit of time, in seconds.
        types
            The GPU types that have prices of their own; None for the types that some jobs require.
        """
        origin = decimal(first_release(scenario.workload))
        there: dict[float, Array] = {}
        for time, gpus in _steps(scenario, types_of(scenario) if types is None else types):
            since = Fraction(max(decimal(time) - origin, 0)) / unit
            after = float(since)
            if Fraction(after) != since:  # what is there before or after it is there in the doubles around it
                before = next(reversed(there.values()))
                low, high = sorted((after, nextafter(after, inf if Fraction(after) < since else -inf)))
                there[low] = np.maximum(there.get(low, before), gpus)
                after = high
            there[after] = gpus
        return cls(times=np.array(list(there)), gpus=np.array(list(there.values())).T * scenario.share_limit)

    @property
    def most(self) -> float:
        """Largest number of GPUs available at any time, counted as in `gpus`."""
        return float(self.gpus[0].max())

    def gpu_seconds(self, edges: Array) -> Array:
        """Return the available GPU time, in GPUs times units of time, by row (cluster first) and by cell."""
        points = np.union1d(edges, self.times)
        held = self.gpus[:, np.searchsorted(self.times, points[:-1], side="right") - 1] * np.diff(points)
        places = np.searchsorted(edges, points[:-1], side="right") - 1
        inside = (places >= 0) & (places < len(edges) - 1)
        found: Array = np.array(
            [np.bincount(places[inside], weights=row[inside], minlength=len(edges) - 1) for row in held]
        )
        return found


def _steps(scenario: Scenario, types: Sequence[str]) -> Iterator[tuple[float, Array]]:
    """Yield each time at which the capacity changes, and the GPUs of every row from then on."""
    cluster = scenario.cluster
    if cluster.is_plain:
        yield 0.0, np.array([float(cluster.gpus)])
        for step in Presence(scenario, (), float).steps:
            yield step.time, np.array([float(step.gpus)])
        return
    kinds = np.array([machine.gpu_type for machine in cluster.machines])
    sizes = np.array([machine.gpus for machine in cluster.machines])
    worth = np.array([capability(scenario, kind) for kind in kinds])
    worths = np.array([worth, *(worth * (kinds == name) for name in types)])
    yield 0.0, worths @ sizes
    yield from most_there(scenario, worths)
