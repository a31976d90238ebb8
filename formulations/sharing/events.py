"""Events: the search over starts at events, step by step, within a budget."""

from math import inf

from formulations.sharing.best import Best
from formulations.sharing.jobs import Jobs, Units, arrays_of
from formulations.sharing.listing import take_lists
from gsopt.bounds import mean_jct_bound
from gsopt.compiled import is_on_disk, is_ready, twin

#: Jobs up to which there is a search: rows of their pairs take some megabytes.
_MOST_JOBS = 64

#: Fewest jobs for which prices of GPU time, a third of a second's, are tried: fewer are searched sooner.
_FEWEST_PRICED = 16

#: Nodes of a plain step, and of a compiled one, for up to so many jobs: a part of a second's. With more
#: jobs there are fewer, by the square of their number.
_PLAIN_NODES, _NODES, _SOME_JOBS = 500, 100_000, 8

#: Nodes, about a second's, before a kernel is loaded, and before it is compiled if it is not on the disk.
_FEW_NODES, _MANY_NODES = 2_000, 10_000

#: Seconds that are enough to compile the kernel on a busy machine; an idle one takes a quarter of that.
_COMPILING = 60.0

#: Places of the table of states; 24 bytes each.
_FEW_PLACES, _PLACES = 2**12, 2**21


def search_events(best: Best) -> None:
    """Find the best schedule of starts at events, and raise the bound, until time is up.

    For starts at any time the bound is that of areas, whatever the search finds; for many jobs, whenever they
    start, prices of GPU time may prove more.
    """
    take_lists(best)
    if len(best.problem.jobs) >= _FEWEST_PRICED and not best.finished:
        priced = mean_jct_bound(best.problem.scenario)
        if priced is not None:
            best.raise_bound(priced.mean_jct)
    if len(best.problem.jobs) <= _MOST_JOBS and not best.finished:
        _Search(best).run()


class _Search:
    """The search, step by step: plain first, compiled when it goes on."""

    def __init__(self, best: Best) -> None:
        from formulations.sharing import lower, search, stack, table

        self.best, self.kernel, self.new_table = best, search, table.new_table
        self.jobs: Jobs
        self.units: Units
        self.jobs, self.units = arrays_of(best.problem)
        self.stack = stack.new_stack(self.jobs)
        self.root = twin(lower.lower)(self.jobs, self.stack, 0, inf)
        self.found = search.nothing_found(self.jobs, self.units.total(best.problem, best.known_value))

    def run(self) -> None:
        """Search until all is searched or there is a reason to stop."""
        self.best.raise_bound(self.units.mean(self.best.problem, self.root))
        step, table = twin(self.kernel.search), self.new_table(_FEW_PLACES)
        nodes, searched, compiled = self._part(_PLAIN_NODES), 0, False
        while not self.best.finished:
            known = self.found.value[0]
            searched += step(self.jobs, self.stack, table, self.found, nodes)
            if self.found.value[0] < known:
                self._take()
            if self.stack.depth[0] < 0:
                if self.best.problem.starts == "events":
                    self.best.raise_bound(self.units.mean(self.best.problem, float(self.found.value[0])))
                return
            if not compiled and self._is_worth_compiling(searched):
                step, table, compiled = self.kernel.search, self.new_table(_PLACES), True
                nodes = self._part(_NODES)

    def _part(self, nodes: int) -> int:
        """Give as many nodes as take about as long as so many with few jobs."""
        return max(1, nodes * _SOME_JOBS**2 // max(len(self.jobs.demand), _SOME_JOBS) ** 2)

    def _is_worth_compiling(self, searched: int) -> bool:
        """Tell whether to go on with the compiled kernel: it is there, or the search is long and has time."""
        if getattr(self.kernel.search, "signatures", False):
            return True
        if searched < self._part(_FEW_NODES if is_on_disk(self.kernel.search) else _MANY_NODES):
            return False
        return is_ready(self.kernel.__name__, "search", self.best.budget.left(), _COMPILING)

    def _take(self) -> None:
        from formulations.sharing.layout import laid_out

        self.best.take(laid_out(self.best.problem, self.units, self.found))
