"""Events: a search over schedules that start jobs at events, run in steps within a budget."""

from fractions import Fraction
from math import ulp
from time import perf_counter

from formulations.sharing.best import BestSharing, IndependentPart, Parts
from formulations.sharing.jobs import Jobs, arrays_of, in_floats
from formulations.sharing.listing import take_lists
from formulations.sharing.root import raise_part_to_root
from formulations.sharing.search import FoundSchedule
from formulations.sharing.stack import Stack
from gsopt.core.numbers.compiled import is_on_disk, is_ready, twin
from gsopt.core.numbers.tolerances import CLOCK_TICKS
from gsopt.schedule.bounds import mean_jct_bound

#: Maximum number of jobs for which the search runs, because each row of the stack stores all pairs of jobs; and
#: maximum number without a compiler, because each node of more jobs takes a good part of a second.
_MOST_JOBS, _MOST_PLAIN = 64, 12

#: Maximum number of jobs for which the area bound is computed, and the seconds that it takes per pair of jobs.
_MOST_BOUNDED, _BOUNDING = 256, 5e-5

#: Minimum number of jobs for which prices of GPU time are tried, because searching fewer jobs is faster; and
#: the seconds that must be left to try them.
_FEWEST_PRICED, _PRICING = 16, 1.0

#: Seconds between checks of the clock and of the best schedule, and maximum number of nodes between them.
_STEP, _MOST_NODES = 0.02, 10_000_000

#: Fraction of the nodes and number of nodes that may be in doubt before everything is searched in fractions.
_DOUBTS, _FEW_DOUBTS = 0.02, 3

#: Number of nodes to search before the kernel is loaded (about a second's work), or compiled if necessary.
_FEW_NODES, _MANY_NODES = 2_000, 10_000

#: Seconds that are enough to compile the kernel on a busy machine; an idle one takes a quarter of that.
_COMPILING = 60.0

#: Number of entries in the table of states of a short search, and number of bytes of the table of a long one.
_FEW_PLACES, _MEMORY = 2**12, 2**26


def search_events(best: BestSharing) -> None:
    """Search for the best schedule with starts at events, and raise the bound, until time runs out.

    An independent part of at most 256 jobs gets the bound of `formulations.sharing.areas`. It is searched if it
    has at most 64 jobs, or 12 if the search cannot be compiled in time. If starts are allowed at any time, the
    search proves nothing. From 16 jobs on, prices of GPU time may yield a better bound.
    """
    take_lists(best)
    _raise_by_prices(best)
    if best.finished is None:
        for part in Parts(best).every:
            jobs = len(part.problem.jobs)
            if jobs <= _MOST_BOUNDED and _has_time(best, jobs**2 * _BOUNDING):
                if part.finished is None:
                    raise_part_to_root(part)
                if part.finished is None and jobs <= _MOST_JOBS:
                    search_part(part)


def _has_time(best: BestSharing, seconds: float) -> bool:
    left = best.budget.left()
    return left is None or left > seconds


def _raise_by_prices(best: BestSharing) -> None:
    if len(best.problem.jobs) < _FEWEST_PRICED or best.finished or not _has_time(best, _PRICING):
        return
    priced = mean_jct_bound(best.problem.scenario)
    if priced is not None:
        last = max(job.release_date for job in best.problem.workload.jobs)
        best.raise_bound(Fraction(priced.mean_jct) - CLOCK_TICKS * Fraction(ulp(last + priced.mean_jct)))


def search_part(part: IndependentPart) -> None:
    """Search for a part's best schedule with starts at events.

    It is proven optimal if the search is completed and no other starts are allowed.
    """
    search = _EventSearch(part)
    search.run()
    if search.is_over and part.problem.starts == "events":
        part.raise_bound(part.value)


class _EventSearch:
    """The search in steps: in floats, first interpreted and then compiled, and in fractions if necessary."""

    def __init__(self, part: IndependentPart) -> None:
        from formulations.sharing import search, stack, table

        self.part, self.kernel = part, search
        self.new_table, self.table_within = table.new_table, table.table_within
        self.new_stack = stack.new_stack
        self.exact: Jobs
        self.exact, self.units = arrays_of(part.problem)
        self.jobs = in_floats(self.exact)
        self.stack = self.new_stack(self.jobs)
        total = self.units.total(part.value)
        self.found = search.nothing_found(self.jobs, float(total), self.units.rests(total))
        self.exact_table = self.new_table(self.exact, _FEW_PLACES)
        self.is_over = False

    def run(self) -> None:
        """Search until all schedules are covered or there is a reason to stop."""
        step, table = twin(self.kernel.search), self.new_table(self.jobs, _FEW_PLACES)
        nodes, searched, doubts, compiled = 1, 0, 0, False
        while self.part.finished is None and not self.is_over:
            if not compiled and self._is_worth_compiling(searched):
                step, compiled = self.kernel.search, True
                table = self.table_within(self.jobs, _MEMORY)
            elif not compiled and len(self.jobs.demand) > _MOST_PLAIN:
                return
            known, began = self.found.value[0], perf_counter()
            searched += step(self.jobs, self.stack, table, self.found, nodes)
            nodes = min(2 * nodes, _MOST_NODES) if perf_counter() - began < _STEP else max(1, nodes // 2)
            if self.found.value[0] < known:
                self._take(self.found)
                self._tell(self.found)
            if self.stack.doubt[0]:
                doubts += 1
                if doubts >= max(_FEW_DOUBTS, _DOUBTS * searched):
                    self.is_over = self._search_exactly(self.new_stack(self.exact))
                    return
                self._search_doubtful()
            self.is_over = bool(self.stack.depth[0] < 0)

    def _is_worth_compiling(self, searched: int) -> bool:
        """Check whether to use the compiled kernel: it is loaded, or the search is long and has enough time."""
        if getattr(self.kernel.search, "signatures", False):
            return True
        few = _FEW_NODES if is_on_disk(self.kernel.search) else _MANY_NODES
        if searched < few and len(self.jobs.demand) <= _MOST_PLAIN:
            return False
        return is_ready(self.kernel.__name__, "search", self.part.left(), _COMPILING)

    def _search_doubtful(self) -> None:
        """Search in fractions what follows the current node when time passes, then continue in floats."""
        stack, depth = self.new_stack(self.exact), int(self.stack.depth[0])
        for row in range(depth):
            self._repeat(stack, row)
        stack.depth[0], stack.cursor[depth] = depth, len(self.exact.demand)
        self.stack.doubt[0] = not self._search_exactly(stack)
        self._tell(self.found)

    def _search_exactly(self, stack: Stack) -> bool:
        """Search in fractions from the current node on, and return whether the search was completed."""
        found, step = self.kernel.nothing_found(self.exact), twin(self.kernel.search)
        self._tell(found)
        while self.part.finished is None and stack.depth[0] >= 0:
            known = found.value[0]
            step(self.exact, stack, self.exact_table, found, 1)
            if found.value[0] < known:
                self._take(found)
        return bool(stack.depth[0] < 0)

    def _tell(self, found: FoundSchedule) -> None:
        """Pass the best known value to a search."""
        total = self.units.total(self.part.value)
        found.value[0] = total
        found.rest[:] = self.units.rests(total)

    def _repeat(self, stack: Stack, row: int) -> None:
        """Repeat in fractions the step that the search in floats took at a row, and exclude all other steps."""
        job = int(self.stack.cursor[row])
        if job < len(self.exact.demand):
            stack.taken[row, job] = self.stack.taken[row, job]
            twin(self.kernel.begin)(self.exact, stack, row, job)
        else:
            twin(self.kernel.advance)(self.exact, stack, row)
        stack.cursor[row] = len(self.exact.demand) + 1

    def _take(self, found: FoundSchedule) -> None:
        from formulations.sharing.layout import laid_out

        self.part.take(laid_out(self.part.problem, self.units, found))
