"""Relaxations: bucket models of a limited size, with the cuts that their solutions have called for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import inf

from formulations.common.probing import probe
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.branching import Relaxed, least_certain
from formulations.scheduling.bucket import SHORTEST, BucketModel, Grid, Reals, times_of_interest
from formulations.scheduling.mixture import Item
from formulations.scheduling.windows import Windows

#: Maximum number of columns of a relaxation per remaining second, because building and solving it takes time.
_COLUMNS_PER_SECOND = 10_000

#: Shortest bucket of the first grid that is coarser than usual, as a fraction of the horizon, and the factor by
#: which it grows from each such grid to the next.
_COARSER, _COARSENING = 1e-3, 1.3

#: Maximum number of columns of the first relaxation of a search, and the factor by which it grows after a split
#: that hardly raised the bound.
_COLUMNS, _GROWTH = 4_000, 1.4


class Cuts:
    """Cuts, each with prices of modes such that the modes in use at any time cost at most 1 in total."""

    def __init__(self) -> None:
        self.prices: list[Mapping[Item, float]] = []
        self._pause = self._left_to_skip = 0  # numbers of solutions in which no cuts are sought

    def learn(self, find: Callable[[], Iterable[Mapping[Item, float]]]) -> bool:
        """Keep the cuts that `find` finds in a solution, and return whether any of them is new.

        Seeking cuts takes time, so more and more solutions are skipped as long as no new cut is found. For a
        skipped solution, the result is False.
        """
        if self._left_to_skip > 0:
            self._left_to_skip -= 1
            return False
        before = len(self.prices)
        for prices in find():
            if prices not in self.prices:
                self.prices.append(prices)
        is_new = len(self.prices) > before
        self._pause = self._left_to_skip = 0 if is_new else 2 * self._pause + 1
        return is_new


class Relaxations:
    """The relaxations of a problem, with cuts in all buckets."""

    def __init__(self, best: BestSchedule) -> None:
        self.best, self.cuts = best, Cuts()

    def model(self, windows: Windows, size: int) -> BucketModel:
        """Return a relaxation with at most `size` columns on a grid as fine as possible.

        If little time is left, the limit is lower. On the coarsest grid, the relaxation may exceed the limit.
        Grids are made of release dates and `times_of_interest`.
        """
        best, instance, left = self.best, self.best.instance, self.best.budget.left()
        size = size if left is None else min(size, int(_COLUMNS_PER_SECOND * left))
        times = times_of_interest(best, windows)
        shortest = SHORTEST
        while True:
            grid = Grid.of(instance, windows, times, shortest=shortest)
            model = BucketModel(instance, grid, windows, best.limit, tuple(self.cuts.prices))
            if model.size <= size or shortest >= 1:
                return model
            shortest = max(_COARSER, _COARSENING * shortest)

    def solve(self, windows: Windows, within: Relaxed | None, *, is_stuck: bool) -> Relaxed:
        """Solve a relaxation, narrow the windows by reduced costs, and choose a split.

        If the relaxation cannot be solved, there is no split. After a split that hardly raised the bound, the
        relaxation is larger, and its solution may call for cuts.
        """
        size: int = _COLUMNS if within is None else within.state
        size = int(_GROWTH * size) if is_stuck else size
        model = self.model(windows, size)
        finding = probe(
            model.form(),
            self.best.budget,
            choices=model.choices,
            largest=model.largest,
            cutoff=model.cutoff,
            bisects=False,
        )
        if finding is None or finding.values is None:
            return Relaxed(-inf if finding is None else finding.bound * model.unit, windows)
        if is_stuck:
            self.cuts.learn(partial(model.overfull, finding.values))
        windows = windows.narrowed(model.spans(finding.kept))
        split = least_certain(windows, list(_parts(model, finding.values)))
        return Relaxed(finding.bound * model.unit, windows, model.completions(finding.values), split, size)


def _parts(model: BucketModel, values: Reals) -> Iterator[list[tuple[float, float, float]]]:
    """Yield the buckets in which each job completes: where they begin and end, and their weights."""
    times = model.grid.times
    for job, window in enumerate(model.buckets):
        weights = [(bucket, float(values[model.columns[job, bucket]])) for bucket in window]
        yield [(times[bucket], times[bucket + 1], weight) for bucket, weight in weights if weight > 0]
