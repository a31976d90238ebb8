"""Profiles: the share of instances that each method solves within a multiple of the shortest time.

A performance profile (Dolan and More, Mathematical Programming 91, 2002) compares run times instance by
instance. Each time is divided by the shortest time of any method on the same instance. The profile of a method
maps a ratio to the share of instances on which the quotient is at most that ratio. At a ratio of 1, it is the
share of instances that the method solves and no other method solves faster. At the largest ratio, it is the
share of instances that the method solves at all.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from gsopt.core.drawing import COLUMN, legend_beside, looks, tick_shares, titled
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from gsopt.studies.results import Results
from gsopt.studies.rows import CellRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Seconds below which times are not distinguished, as it takes that long to start a process and read a clock.
SHORTEST = 0.01

#: Factor by which lines extend beyond the largest ratio, so that their ends are visible.
_BEYOND = 1.5


@dataclass(frozen=True)
class PerformanceProfile:
    """The performance profile of one method."""

    method: str
    ratios: tuple[float, ...]  # time / shortest time on each solved instance, in ascending order
    instances: int  # number of all instances, solved or not

    def share(self, ratio: float) -> float:
        """Return the share of instances that the method solves within `ratio` times the shortest time."""
        return bisect_right(self.ratios, ratio) / self.instances if self.instances else 0.0

    @property
    def solved(self) -> float:
        """The share of instances that the method solves at all."""
        return self.share(inf)


def profiles(times: Mapping[str, Mapping[str, float | None]]) -> list[PerformanceProfile]:
    """Return the performance profile of each method.

    `times` are in seconds, keyed by method and then by instance; None if the method does not solve the
    instance. Times below `SHORTEST` count as `SHORTEST`.
    """
    everyone = {instance for found in times.values() for instance in found}
    shortest: dict[str, float] = {}
    for found in times.values():
        for instance, seconds in found.items():
            if seconds is not None:
                shortest[instance] = max(min(seconds, shortest.get(instance, inf)), SHORTEST)
    return [
        PerformanceProfile(
            method,
            tuple(sorted(max(seconds, SHORTEST) / shortest[name] for name, seconds in _solved(found))),
            len(everyone),
        )
        for method, found in times.items()
    ]


def profiles_of(found: Results) -> list[PerformanceProfile]:
    """Return the profiles of the methods in a study that prove a bound on at least one instance.

    An instance is solved if its optimum or its infeasibility is proven. Instances on which one of these methods
    has no finished cell are left out, so that the shares are comparable.
    """
    exact = {str(row.labels.method) for row in found.rows if row.figures.get("bound") is not None}
    times: dict[str, dict[str, float | None]] = {}
    for row in found.rows:
        if str(row.labels.method) in exact:
            times.setdefault(str(row.labels.method), {})[row.instance_key] = _seconds(row)
    if not times:
        raise InvalidInput("profile", "", "the study has no cell of an exact method")
    asked = set.intersection(*(set(each) for each in times.values()))
    return profiles({method: {name: each[name] for name in sorted(asked)} for method, each in times.items()})


def draw_profiles(found: Sequence[PerformanceProfile], axes: "Axes | None" = None) -> "Axes":
    """Plot profiles as step functions over a logarithmic axis of ratios."""
    axes = titled(axes, "time / shortest time", "share of instances solved", size=(COLUMN, 3))
    furthest = _BEYOND * max((each.ratios[-1] for each in found if each.ratios), default=1.0)
    for each, look in zip(found, looks(len(found)), strict=True):
        steps = sorted({1.0, *each.ratios, furthest})
        axes.step(
            steps,
            [each.share(step) for step in steps],
            where="post",
            color=look.color,
            linestyle=look.linestyle,
            linewidth=look.linewidth,
            label=each.method,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_xlim(1.0, furthest)
    axes.set_ylim(0.0, 1.02)
    tick_shares(axes.yaxis)
    axes.grid(alpha=0.3)
    legend_beside(axes)
    return axes


def _solved(found: Mapping[str, float | None]) -> Iterable[tuple[str, float]]:
    return ((name, seconds) for name, seconds in found.items() if seconds is not None)


def _seconds(row: CellRow) -> float | None:
    proven = row.figures.get("status") in (Status.OPTIMAL.value, Status.INFEASIBLE.value)
    return float(row.figures["runtime"]) if proven else None
