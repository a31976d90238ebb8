"""Relaxations: bucket models of a limited size, with the cuts that their solutions have called for."""

from collections.abc import Mapping
from itertools import chain

from formulations.scheduling.best import BestSchedule
from formulations.scheduling.bucket import SHORTEST, BucketModel, Grid, Reals
from formulations.scheduling.mixture import Item
from formulations.scheduling.windows import Windows

#: Maximum number of columns of a relaxation per remaining second, because building and solving it takes time.
_COLUMNS_PER_SECOND = 10_000

#: Shortest bucket of the first grid that is coarser than usual, as a fraction of the horizon, and the factor by
#: which it grows from each such grid to the next.
_COARSER, _GROWTH = 1e-3, 1.3


class Relaxations:
    """The relaxations of a problem. `cuts` holds prices of modes, as `BucketModel` does."""

    def __init__(self, best: BestSchedule) -> None:
        self.best = best
        self.cuts: list[Mapping[Item, float]] = []
        self._pause = self._left_to_skip = 0  # numbers of solutions in which no cuts are sought

    def model(self, windows: Windows, size: int) -> BucketModel:
        """Return a relaxation with at most `size` columns, on the finest grid possible.

        The times of interest are the ends of the windows, the earliest completion of each job, and its
        completion in the best schedule.
        """
        best, instance, left = self.best, self.best.instance, self.best.budget.left()
        size = size if left is None else min(size, int(_COLUMNS_PER_SECOND * left))
        times = {*map(instance.earliest, range(len(instance))), *chain(*windows.spans)}
        times.update(best.plan.completions if best.plan else ())
        shortest = SHORTEST
        while True:
            grid = Grid.of(instance, windows, times, shortest=shortest)
            model = BucketModel(instance, grid, windows, best.limit, tuple(self.cuts))
            if model.size <= size or shortest >= 1:
                return model
            shortest = max(_COARSER, _GROWTH * shortest)

    def learn(self, model: BucketModel, values: Reals) -> None:
        """Keep a cut for each bucket of a solution in which no mixture of configurations achieves the times.

        Seeking cuts takes time. After a solution that calls for no new one, the next 1, 3, 7, ... are skipped.
        """
        if self._left_to_skip > 0:
            self._left_to_skip -= 1
            return
        found = [prices for prices in model.overfull(values) if prices not in self.cuts]
        self.cuts += found
        self._pause = self._left_to_skip = 0 if found else 2 * self._pause + 1
