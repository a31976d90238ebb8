"""Profile: the measured number and duration of iterations of Sia's applications."""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TypeVar

from gsopt.core.errors import InvalidInput, shorten
from instances.traces.reading import Issue, TraceRow, read_table

T = TypeVar("T")

PLACEMENT_COLUMNS = ("placement", "local_bsz", "step_time", "sync_time")
SPREAD_COLUMNS = ("num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time")
_PLACEMENT = re.compile(r"[1-9]{1,100}")
_VALIDATION = re.compile(r"validation-([0-9]{1,9})\.csv")
_LARGEST = 1e12
_MOST_GPUS = 1000  # as many as fit in a placement of the longest name

#: Samples per GPU, duration of an iteration, and the part of it in which GPUs exchange gradients, in seconds.
Point = tuple[float, float, float]


class MeasuredProfile:
    """Measured iterations of one application on one GPU type.

    Jobs are placed on as few nodes as possible: full nodes, and one node with the rest. A batch is spread
    evenly over the GPUs. If the share of a GPU exceeds the largest measured one, it is processed in equal
    parts, and gradients are exchanged only after the last part. Times between two measured shares are
    interpolated, as in Sia's simulator. Below the smallest measured share, the time is unknown.

    The time of a placement that was not measured is unknown, unless measurements by number of nodes are given.
    In that case, it is the time of the same number of GPUs spread over the same number of nodes. If that was
    not measured either, it is interpolated between the GPU counts measured on that number of nodes; outside
    these counts, it is unknown. Placements on more nodes than were measured are treated as if they were on the
    largest measured number of nodes, whereas Sia's simulator has no times for them.

    Parameters
    ----------
    steps
        Measured points, keyed by placement. A point contains the samples per GPU, the seconds of an iteration,
        and the part of these seconds in which GPUs exchange gradients. The digits of a placement are the GPUs
        on each node, with full nodes last.
    iterations
        Number of iterations until the training is complete, keyed by batch size.
    gpus_per_node
        Number of GPUs per node.
    spread
        Measured points, keyed by numbers of nodes and GPUs, no matter how the GPUs are distributed over the
        nodes.
    """

    def __init__(
        self,
        steps: Mapping[str, Sequence[Point]],
        iterations: Mapping[int, float],
        *,
        gpus_per_node: int,
        spread: Mapping[tuple[int, int], Sequence[Point]] | None = None,
    ) -> None:
        self._steps = {placement: sorted(points) for placement, points in steps.items()}
        self._iterations = sorted(iterations.items())
        self._gpus_per_node = gpus_per_node
        self._spread = {key: sorted(points) for key, points in (spread or {}).items()}
        counts = [sum(map(int, placement)) for placement in steps] + [gpus for _, gpus in self._spread]
        self._largest = max(counts, default=0)

    def duration(self, gpus: int, batch_size: int) -> float | None:
        """Return the duration of a whole training run in seconds, or None if it is unknown."""
        iterations = _interpolated(self._iterations, batch_size)
        step = self._step(gpus, batch_size)
        return None if iterations is None or step is None else iterations[0] * step

    def menu(self, gpus: int, batch_size: int) -> tuple[tuple[int, float], ...]:
        """Return every number of GPUs with a known time, each with its speed relative to that on `gpus`.

        The menu is empty if the time on `gpus` is unknown.
        """
        demanded = self._step(gpus, batch_size)
        if demanded is None:
            return ()
        steps = ((count, self._step(count, batch_size)) for count in range(1, self._largest + 1))
        return tuple((count, demanded / step) for count, step in steps if step is not None)

    def _step(self, gpus: int, batch_size: int) -> float | None:
        """Return the duration of one iteration in seconds, or None if it is unknown."""
        curves = self._curves(gpus) if 1 <= gpus <= self._largest else ()
        if not curves or batch_size < 1:
            return None
        share = ceil(batch_size / gpus)
        parts = ceil(share / min(points[-1][0] for _, points in curves))
        step = sync = 0.0
        for weight, points in curves:
            times = _interpolated(points, ceil(share / parts))
            if times is None:
                return None
            step, sync = step + weight * times[0], sync + weight * times[1]
        return step + (parts - 1) * max(step - sync, 0.0)

    def _curves(self, gpus: int) -> tuple[tuple[float, list[Point]], ...]:
        """Return the measured curves for a number of GPUs and their weights, or none if the time is unknown."""
        placement = self._placement(gpus)
        if placement in self._steps:
            return ((1.0, self._steps[placement]),)
        nodes = min(len(placement), max((measured for measured, _ in self._spread), default=0))
        counts = sorted(count for measured, count in self._spread if measured == nodes)
        low = max((count for count in counts if count <= gpus), default=None)
        high = min((count for count in counts if count >= gpus), default=None)
        if low is None or high is None:
            return ()
        if low == high:
            return ((1.0, self._spread[nodes, gpus]),)
        share = (gpus - low) / (high - low)
        return ((1 - share, self._spread[nodes, low]), (share, self._spread[nodes, high]))

    def _placement(self, gpus: int) -> str:
        full, rest = divmod(gpus, self._gpus_per_node)
        return (str(rest) if rest else "") + str(self._gpus_per_node) * full


def read_profile(
    folder: Path, gpu: str, gpus_per_node: int, issues: list[Issue], *, by_nodes: bool = False
) -> MeasuredProfile:
    """Read an application's profile from its folder, and report unusable rows.

    Times are in ``placements-<gpu>.csv``, and the number of iterations is in the last row of
    ``validation-<batch size>.csv``. If `by_nodes` is true and ``scalability-<gpu>.csv`` exists, measurements by
    number of nodes are read from that file.

    Raises
    ------
    InvalidInput
        A file cannot be read or has a wrong header.
    """
    steps: dict[str, list[Point]] = {}
    for row, step in table(folder / f"placements-{gpu}.csv", PLACEMENT_COLUMNS, point, issues):
        steps.setdefault(row.values["placement"], []).append(step)
    iterations: dict[int, float] = {}
    for file in sorted(folder.glob("validation-*.csv")):
        found = _VALIDATION.fullmatch(file.name)
        if found and (done := table(file, ("iteration",), lambda row: between(row, "iteration", 1), issues)):
            iterations[int(found[1])] = done[-1][1]
    scalability = folder / f"scalability-{gpu}.csv"
    spread = _read_spread(scalability, issues) if by_nodes and scalability.exists() else {}
    return MeasuredProfile(steps, iterations, gpus_per_node=gpus_per_node, spread=spread)


def _read_spread(file: Path, issues: list[Issue]) -> dict[tuple[int, int], list[Point]]:
    spread: dict[tuple[int, int], list[Point]] = {}
    for _, (nodes, gpus, step) in table(file, SPREAD_COLUMNS, spread_point, issues):
        spread.setdefault((nodes, gpus), []).append(step)
    return spread


def table(
    file: Path, columns: tuple[str, ...], convert: Callable[[TraceRow], T], issues: list[Issue]
) -> list[tuple[TraceRow, T]]:
    """Return the usable rows of one of a profile's files, and report the others."""
    return read_table(file, columns, convert, issues, name_of(file))


def name_of(file: Path) -> str:
    """Return the name of a file for messages, including the application's folder."""
    return f"{file.parent.name}/{file.name}"


def point(row: TraceRow) -> Point:
    """Return the measured point in a row, or raise `InvalidInput` if the row or its placement is invalid."""
    placement = row.values["placement"]
    if not _PLACEMENT.fullmatch(placement):
        raise InvalidInput("placement", shorten(placement), "must be the GPUs on each node, a digit each")
    return _measured(row)


def spread_point(row: TraceRow) -> tuple[int, int, Point]:
    """Return the number of nodes, the number of GPUs and the measured point in a row."""
    nodes, gpus = row.whole_number("num_nodes"), row.whole_number("num_replicas")
    if not 1 <= nodes <= gpus <= _MOST_GPUS:
        rule = f"must be between num_nodes, which is at least 1, and {_MOST_GPUS}"
        raise InvalidInput("num_replicas", shorten(gpus), rule)
    return nodes, gpus, _measured(row)


def _measured(row: TraceRow) -> Point:
    return (
        between(row, "local_bsz", 1),
        between(row, "step_time", 1 / _LARGEST),
        between(row, "sync_time", 0),
    )


def between(row: TraceRow, column: str, least: float, most: float = _LARGEST) -> float:
    """Return the number in a column, or raise `InvalidInput` if it is not between `least` and `most`."""
    number = row.number(column)
    if not least <= number <= most:
        rule = f"must be between {least:g} and {most:g}"
        raise InvalidInput(column, shorten(row.values[column]), rule)
    return number


def _interpolated(points: Sequence[tuple[float, ...]], place: float) -> tuple[float, ...] | None:
    """Return the values at a position, interpolated linearly between two points, or None outside all points."""
    after = bisect_left(points, place, key=lambda point: point[0])
    if after < len(points) and points[after][0] == place:
        return points[after][1:]
    if after in {0, len(points)}:
        return None
    low, high = points[after - 1], points[after]
    share = (place - low[0]) / (high[0] - low[0])
    return tuple(least + share * (most - least) for least, most in zip(low[1:], high[1:], strict=True))
