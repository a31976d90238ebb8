"""Classes: jobs grouped by slowdown, waiting time or GPUs, or each by itself, with one colour per class."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gsopt.core.drawing import COLOURS
from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.simulation.plots.spans import FEW_JOBS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Colour(StrEnum):
    """The quantity that determines the colour of a job."""

    SLOWDOWN = "slowdown"  # completion minus release, over the duration on the demanded GPUs
    WAITING = "waiting"  # seconds without GPUs since the release
    GPUS = "gpus"  # demanded
    JOB = "job"  # colours that repeat, to tell a few jobs apart


_SLOWDOWNS = {1.1: "1.1", 1.5: "1.5", 2.0: "2", 5.0: "5", 20.0: "20"}
_WAITS = {1.0: "1 s", 60.0: "1 min", 600.0: "10 min", 3600.0: "1 h", 6 * 3600.0: "6 h", 86_400.0: "1 day"}
_SIZES = {1.0: "1", 2.0: "2", 4.0: "3 to 4", 8.0: "5 to 8", 16.0: "9 to 16", 64.0: "17 to 64"}
_TITLES = {
    Colour.SLOWDOWN: "slowdown",
    Colour.WAITING: "waited",
    Colour.GPUS: "GPUs demanded",
    Colour.JOB: "job",
}

#: Fraction of the colour map that is used, because its light end is hard to see on white.
_LIGHTEST = 0.95


@dataclass(frozen=True)
class Classes:
    """The classes of the jobs in a schedule, with a label and a colour for each class."""

    title: str  # of the legend
    labels: tuple[str, ...]  # of every class, in ascending order of the quantity
    colours: tuple[Any, ...]
    of: Mapping[str, int]  # number of every job's class, by name

    def add_legend(self, axes: "Axes", further: Sequence[Any] = ()) -> None:
        """Add a legend beside a plot, with the classes that occur and, below them, any further handles."""
        from matplotlib.patches import Patch

        held = sorted(set(self.of.values()))
        handles = [
            Patch(facecolor=self.colours[number], edgecolor="0.3", linewidth=0.5, label=self.labels[number])
            for number in held
        ]
        axes.legend(
            handles=[*handles, *further],
            title=self.title,
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            frameon=False,
        )


def classes_of(schedule: Schedule, scenario: Scenario, colour: str) -> Classes:
    """Classify the jobs of a schedule by the quantity that `colour` names."""
    if colour not in list(Colour):
        raise InvalidInput("colour", shorten(colour), f"must be one of {', '.join(Colour)}")
    kind = Colour(colour)
    if kind is Colour.JOB:
        return _jobs(scenario)
    if kind is Colour.GPUS:
        edges, labels = list(_SIZES), (*_SIZES.values(), "over 64")
    else:
        limits = _SLOWDOWNS if kind is Colour.SLOWDOWN else _WAITS
        edges, labels = list(limits), _labels(list(limits.values()))
    of = {name: bisect_left(edges, value) for name, value in _values(schedule, scenario, kind).items()}
    return Classes(_TITLES[kind], labels, _colours(kind, len(labels)), of)


def _jobs(scenario: Scenario) -> Classes:
    """Assign every job to a class of its own."""
    names = tuple(job.name for job in scenario.workload.jobs)
    if len(names) > FEW_JOBS:
        raise InvalidInput("colour", shorten("job"), f"distinguishes at most {FEW_JOBS} jobs")
    colours = tuple(COLOURS[place % len(COLOURS)] for place in range(len(names)))
    return Classes(_TITLES[Colour.JOB], names, colours, {name: place for place, name in enumerate(names)})


def _values(schedule: Schedule, scenario: Scenario, kind: Colour) -> dict[str, float]:
    ends: dict[str, float] = {}
    held: dict[str, float] = {}
    for segment in schedule.segments:
        ends[segment.job] = max(ends.get(segment.job, float(segment.end)), float(segment.end))
        held[segment.job] = held.get(segment.job, 0.0) + float(segment.end - segment.start)
    found: dict[str, float] = {}
    for job in scenario.workload.jobs:
        if job.name not in ends:
            continue
        stay = ends[job.name] - float(job.release_date)
        found[job.name] = {
            Colour.SLOWDOWN: stay / job.duration,
            Colour.WAITING: stay - held[job.name],
            Colour.GPUS: float(job.gpus),
        }[kind]
    return found


def _labels(limits: Sequence[str]) -> tuple[str, ...]:
    inner = [f"{low} to {high}" for low, high in pairwise(limits)]
    return (f"up to {limits[0]}", *inner, f"over {limits[-1]}")


def _colours(kind: Colour, number: int) -> tuple[Any, ...]:
    from matplotlib import colormaps

    scale = colormaps["plasma" if kind is Colour.GPUS else "viridis"]
    return tuple(scale(_LIGHTEST * (1 - place / (number - 1))) for place in range(number))
