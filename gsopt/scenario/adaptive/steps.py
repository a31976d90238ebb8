"""Step times: the duration of a step in any placement, interpolated between measurements."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, groupby, islice
from math import isnan
from statistics import fmean
from typing import Any

from gsopt.scenario.adaptive.measurements import MeasuredPlacement, Point, Spread

#: Durations of a step and of its gradient exchange, in seconds.
Times = tuple[float, float]


class StepTimes:
    """Step times by shape and local batch size, each computed only once."""

    def __init__(self, placements: Sequence[MeasuredPlacement], spread: Sequence[Spread]) -> None:
        self._placements, self._spread = placements, spread
        self._measured = {least_rotation(each.shape): each.points for each in placements}
        self._most_nodes = max([len(each.shape) for each in placements] + [each.nodes for each in spread])
        self._largest = max(max(each.shape) for each in placements)
        self._known: dict[tuple[tuple[int, ...], int], Times | None] = {}

    def times(self, shape: Sequence[int], local_batches: Sequence[int]) -> list[Times | None]:
        """Return the step times on a shape for each local batch size; None beyond the measurements."""
        placed = tuple(shape)
        new = [local for local in local_batches if (placed, local) not in self._known]
        if new:
            times = self._times(least_rotation(placed), new)
            self._known.update(((placed, local), time) for local, time in zip(new, times, strict=True))
        return [self._known[placed, local] for local in local_batches]

    def shapes(self, gpus: int, largest: int | None = None) -> list[tuple[int, ...]]:
        """Return the measured shapes with the given number of GPUs, and one unmeasured shape per node count.

        The largest measured number of nodes and all larger numbers share one unmeasured shape.
        """
        found = [ring for ring in self._measured if sum(ring) == gpus]
        alike = [[nodes] for nodes in range(1, min(self._most_nodes, gpus + 1))]
        for numbers in [*alike, range(self._most_nodes, gpus + 1)]:
            spreads = (_spreads(gpus, nodes, largest or self._largest) for nodes in numbers)
            others = (
                each for each in chain.from_iterable(spreads) if least_rotation(each) not in self._measured
            )
            found.extend(islice(others, 1))
        return found

    def most_local(self, shape: Sequence[int]) -> int:
        """Return the largest local batch size measured on a shape (see `Application.most_local`)."""
        ring = least_rotation(shape)
        if ring in self._measured:
            return self._measured[ring][-1][0]
        larger = (each for each in self._spread if each.nodes >= len(ring) and each.gpus >= sum(ring))
        return max((each.points[-1][0] for each in larger), default=0)

    def _times(self, ring: tuple[int, ...], local_batches: Sequence[int]) -> list[Times | None]:
        points = self._measured.get(ring)
        if points is not None:
            return [_between(points, local) for local in local_batches]
        if not ring or self._interpolator is None:
            return [None] * len(local_batches)
        found = self._interpolator(min(len(ring), self._most_nodes), sum(ring), local_batches).tolist()
        return [None if isnan(step) else (step, sync) for step, sync in found]

    @cached_property
    def _interpolator(self) -> Any:
        """The interpolator over the numbers of nodes and GPUs and the local batch size.

        It is None if the measurements do not span these three dimensions.
        """
        from scipy.interpolate import LinearNDInterpolator
        from scipy.spatial import QhullError

        from gsopt.scenario.adaptive.threads import one_thread

        measured = [(each.nodes, each.gpus, *point) for each in self._spread for point in each.points]
        rows = [*_means(self._placements), *measured]
        try:
            interpolator: Any = LinearNDInterpolator([row[:3] for row in rows], [row[3:] for row in rows])
        except QhullError:
            return None
        with one_thread():
            interpolator.tri.transform  # noqa: B018 - computed on first access, a tiny system per simplex
        return interpolator


def _spreads(gpus: int, nodes: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield every distribution of GPUs over the given number of nodes, with 1 to `largest` GPUs each."""
    if not nodes:
        yield ()
        return
    for first in range(max(1, gpus - (nodes - 1) * largest), min(largest, gpus - (nodes - 1)) + 1):
        for others in _spreads(gpus - first, nodes - 1, largest):
            yield (first, *others)


def least_rotation(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the lexicographically smallest rotation of a shape, ignoring nodes without GPUs."""
    ring = tuple(gpus for gpus in shape if gpus)
    return min((ring[place:] + ring[:place] for place in range(len(ring))), default=())


def _between(points: Sequence[Point], local: int) -> tuple[float, float] | None:
    """Interpolate step and exchange times between two measurements, or return None beyond them."""
    after = bisect_left(points, local, key=lambda point: point[0])
    if after < len(points) and points[after][0] == local:
        return points[after][1:]
    if after in {0, len(points)}:
        return None
    (low, *least), (high, *most) = points[after - 1], points[after]
    step, sync = ((b - a) / (high - low) * (local - low) + a for a, b in zip(least, most, strict=True))
    return step, sync


def _means(placements: Sequence[MeasuredPlacement]) -> list[tuple[float, ...]]:
    """Return the mean times of placements with the same numbers of nodes and GPUs and local batch size."""
    rows = sorted((len(each.shape), sum(each.shape), *point) for each in placements for point in each.points)
    groups = ((key, list(group)) for key, group in groupby(rows, key=lambda row: row[:3]))
    return [(*key, fmean(row[3] for row in group), fmean(row[4] for row in group)) for key, group in groups]
