"""Branching: a best-first search that splits the windows in which jobs complete."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import inf
from typing import Any, Protocol

from formulations.scheduling.best import BestSchedule
from formulations.scheduling.windows import Windows
from gsopt.core.numbers.tolerances import SPAN_ERROR

#: Fraction of the remaining gap by which a split should raise the bound.
_LITTLE = 0.05

#: Weight of the width of the buckets in which a job completes, relative to their distances from its mean
#: completion. Without it, windows would never be split within a bucket.
_WIDTH = 0.25

#: Number of nodes that are solved from one suggestion to the next, and the factor by which it grows after a
#: suggestion that did not improve the schedule.
_PER_SUGGESTION, _PATIENCE = 20, 1.1

#: Minimum distance of a split from both ends of the window, as a fraction of the window's length.
_MARGIN = 0.05


@dataclass(frozen=True)
class Relaxed:
    """What a relaxation found within some windows."""

    bound: float  # on the sum of completion times, in seconds
    windows: Windows  # the windows, narrowed
    completions: Sequence[float] = ()  # mean completion time of each job in the relaxation, in seconds
    # the job whose window to split, and where; None if no window can be split
    split: tuple[int, float] | None = None
    state: Any = None  # what the relaxation needs to know within parts of the windows


class Relaxation(Protocol):
    """A method that bounds the sum of completion times within windows."""

    def solve(self, windows: Windows, within: Relaxed | None, *, is_stuck: bool) -> Relaxed:
        """Return a bound on the sum of completion times within windows.

        `within` is the result for the larger windows that were split into these; None at first. `is_stuck` says
        that the split which produced the larger windows hardly raised the bound.
        """
        ...


@dataclass(order=True)
class Node:
    """Windows of completion that have to be split, and what the relaxation found within them."""

    bound: float  # in seconds
    number: int  # the order in which the nodes were solved, which breaks ties
    relaxed: Relaxed = field(compare=False)
    is_stuck: bool = field(default=False, compare=False)  # whether the last split hardly raised the bound

    @property
    def halves(self) -> Iterator[Windows]:
        """Two variants of the windows: the chosen job completes before the split, or after it."""
        windows = self.relaxed.windows
        if self.relaxed.split is None:
            return
        split, time = self.relaxed.split
        low, high = windows.spans[split]
        for span in (low, time), (time, high):
            spans = [span if job == split else own for job, own in enumerate(windows.spans)]
            yield Windows(tuple(spans), windows.orders)


class WindowSearch:
    """Branch and bound, whose nodes are relaxations within windows of completion.

    Now and then, `suggest` is told the completion times of the relaxation with the lowest bound, and may
    improve the best schedule. It returns whether it did.
    """

    def __init__(
        self,
        best: BestSchedule,
        relaxation: Relaxation,
        suggest: Callable[[Sequence[float]], bool],
    ) -> None:
        self.best, self.relaxation, self.suggest = best, relaxation, suggest
        self.nodes = 0
        self._open: list[Node] = []
        self._least_closed = inf
        self._next, self._pause = 0, float(_PER_SUGGESTION)

    def run(self, windows: Windows) -> None:
        """Split windows until no better schedule is left, or there is a reason to stop.

        The bound of the best schedule is raised to the lowest bound of all nodes that are not split yet.
        """
        best = self.best
        self._keep([self._solve(windows)])
        while self._open and best.finished is None:
            node = heappop(self._open)
            self._suggest(node)
            halves = [self._solve(half, node) for half in node.halves]
            if best.finished is not None:
                return
            if min(half.bound for half in halves) - node.bound < _LITTLE * (best.goal - node.bound):
                halves = [replace(half, is_stuck=True) for half in halves]
            self._keep(halves)

    def _suggest(self, node: Node) -> None:
        if self.nodes < self._next:
            return
        better = self.suggest(node.relaxed.completions)
        self._pause = _PER_SUGGESTION if better else _PATIENCE * self._pause
        self._next = self.nodes + int(self._pause)

    def _solve(self, windows: Windows, parent: Node | None = None) -> Node:
        """Solve the relaxation within windows. The bound of the parent, or the best known one, remains."""
        self.nodes += 1
        bound, within, is_stuck = self.best.lower, None, False
        if parent is not None:
            bound, within, is_stuck = parent.bound, parent.relaxed, parent.is_stuck
        relaxed = self.relaxation.solve(windows, within, is_stuck=is_stuck)
        return Node(max(bound, relaxed.bound), self.nodes, relaxed)

    def _keep(self, nodes: Sequence[Node]) -> None:
        """Keep the nodes that have to be split, and raise the bound.

        A node is closed if no schedule within its windows is better than the best one, if its relaxation could
        not be solved, or if its windows are too short to be split.
        """
        for node in nodes:
            if node.bound >= self.best.goal or node.relaxed.split is None:
                self._least_closed = min(self._least_closed, node.bound)
            else:
                heappush(self._open, node)
        self.best.raise_bound(min([self._least_closed, *(node.bound for node in self._open[:1])]))


def least_certain(
    windows: Windows, parts: Sequence[Sequence[tuple[float, float, float]]]
) -> tuple[int, float] | None:
    """Return the job whose completion is the least certain, and the time at which to split its window.

    For each job, `parts` holds the buckets in which it completes: where they begin and end, and their weights,
    which add up to about 1. The time is the job's mean completion time, unless that is too close to an end of
    the window. Jobs whose windows are as short as rounding errors are skipped. The result is None if no job is
    left.
    """
    found, most, shortest = None, -inf, SPAN_ERROR * max(high for _, high in windows.spans)
    for job, buckets in enumerate(parts):
        mean = sum((begin + end) / 2 * weight for begin, end, weight in buckets)
        spread = sum(abs((begin + end) / 2 - mean) * weight for begin, end, weight in buckets)
        spread += _WIDTH * sum((end - begin) * weight for begin, end, weight in buckets)
        low, high = windows.spans[job]
        if spread > most and high - low > shortest:
            margin = _MARGIN * (high - low)
            found, most = (job, min(max(mean, low + margin), high - margin)), spread
    return found
