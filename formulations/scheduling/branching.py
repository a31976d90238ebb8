"""Branching: a best-first search that splits the windows in which jobs complete."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import inf
from typing import Any

from formulations.common.probing import probe
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.bucket import BucketModel, Reals
from formulations.scheduling.relaxations import Relaxations
from formulations.scheduling.windows import Windows
from gsopt.core.numbers.tolerances import SPAN_ERROR

#: Maximum number of columns of the first relaxation. It grows by a factor after a split that raises the bound
#: by less than a fraction of the remaining gap.
_COLUMNS, _GROWTH, _LITTLE = 4_000, 1.4, 0.05

#: Weight of the width of the buckets in which a job completes, relative to their distances from its mean
#: completion. Without it, windows would never be split within a bucket.
_WIDTH = 0.25

#: Number of nodes that are solved from one suggestion to the next. Each split solves two.
_PER_SUGGESTION = 20

#: Minimum distance of a split from both ends of the window, as a fraction of the window's length.
_MARGIN = 0.05


@dataclass(order=True)
class Node:
    """Windows of completion, a bound on the sum of completion times within them, and the job to split next."""

    bound: float  # in seconds
    number: int  # the order in which the nodes were solved, which breaks ties
    windows: Windows = field(compare=False)
    completions: Sequence[float] = field(compare=False)  # completion times in the relaxation, in seconds
    job: int = field(compare=False)  # the job whose window is split
    time: float = field(compare=False)  # where its window is split
    size: int = field(compare=False)  # maximum number of columns of the relaxations of both halves
    is_stuck: bool = field(default=False, compare=False)  # whether the last split hardly raised the bound

    @property
    def halves(self) -> Iterator[Windows]:
        """The windows before and after the split."""
        low, high = self.windows.spans[self.job]
        for span in (low, self.time), (self.time, high):
            spans = [span if job == self.job else own for job, own in enumerate(self.windows.spans)]
            yield Windows(tuple(spans), self.windows.orders)


class WindowSearch:
    """Branch and bound, whose nodes are bucket relaxations.

    Now and then, `suggest` is told the completion times of the relaxation with the lowest bound, and may
    improve the best schedule.
    """

    def __init__(
        self,
        best: BestSchedule,
        relaxations: Relaxations,
        suggest: Callable[[Sequence[float]], Any],
    ) -> None:
        self.best, self.relaxations, self.suggest = best, relaxations, suggest
        self.nodes = 0
        self._open: list[Node] = []
        self._least_closed = inf

    def run(self, windows: Windows) -> None:
        """Split windows until no better schedule is left, or there is a reason to stop.

        The bound of the best schedule is raised to the lowest bound of all nodes that are not split yet.
        """
        best = self.best
        self._keep([self._solve(windows, best.lower, _COLUMNS)])
        while self._open and best.finished is None:
            node = heappop(self._open)
            if self.nodes % _PER_SUGGESTION == 1:
                self.suggest(node.completions)
            halves = [self._solve(half, node.bound, node.size, learns=node.is_stuck) for half in node.halves]
            if best.finished is not None:
                return
            if min(half.bound for half in halves) - node.bound < _LITTLE * (best.goal - node.bound):
                halves = [replace(half, size=int(_GROWTH * half.size), is_stuck=True) for half in halves]
            self._keep(halves)

    def _keep(self, nodes: Sequence[Node]) -> None:
        """Keep the nodes that have to be split, and raise the bound.

        A node is closed if no schedule within its windows is better than the best one, if its relaxation could
        not be solved, or if its windows are too short to be split.
        """
        for node in nodes:
            if node.bound >= self.best.goal or not node.completions:
                self._least_closed = min(self._least_closed, node.bound)
            else:
                heappush(self._open, node)
        self.best.raise_bound(min([self._least_closed, *(node.bound for node in self._open[:1])]))

    def _solve(self, windows: Windows, bound: float, size: int, *, learns: bool = False) -> Node:
        """Solve the relaxation, narrow the windows by reduced costs, and choose a split.

        `bound` is a bound that is already known. If the relaxation cannot be solved or no window can be split,
        the node has no completions. With `learns`, its solution may call for cuts.
        """
        self.nodes += 1
        model = self.relaxations.model(windows, size)
        finding = probe(
            model.form(),
            self.best.budget,
            choices=model.choices,
            largest=model.largest,
            cutoff=model.cutoff,
            bisects=False,
        )
        if finding is None or finding.values is None:
            return Node(bound, self.nodes, windows, (), 0, 0.0, size)
        if learns:
            self.relaxations.learn(model, finding.values)
        bound = max(bound, finding.bound * model.unit)
        windows = windows.narrowed(model.spans(finding.kept))
        job, time = _split(model, windows, finding.values) or (0, inf)
        completions = model.completions(finding.values) if time < inf else ()
        return Node(bound, self.nodes, windows, completions, job, time, size)


def _split(model: BucketModel, windows: Windows, values: Reals) -> tuple[int, float] | None:
    """Return the job whose completion is the least certain, and its mean completion, inside its window.

    Windows as short as rounding errors are not split. The result is None if all windows are that short.
    """
    found, most, shortest = None, -inf, SPAN_ERROR * model.grid.times[-1]
    for job, window in enumerate(model.buckets):
        parts = [(model.grid.times[b : b + 2], float(values[model.columns[job, b]])) for b in window]
        middles = [((begin + end) / 2, weight) for (begin, end), weight in parts if weight > 0]
        mean = sum(time * weight for time, weight in middles)
        spread = sum(abs(time - mean) * weight for time, weight in middles)
        spread += _WIDTH * sum((end - begin) * weight for (begin, end), weight in parts)
        low, high = windows.spans[job]
        if spread > most and high - low > shortest:
            margin = _MARGIN * (high - low)
            found, most = (job, min(max(mean, low + margin), high - margin)), spread
    return found
