"""Exact: list schedules as upper bounds and bucket relaxations as lower bounds, improved until they meet."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace

from formulations.common.probing import probe
from formulations.common.prover import Prover
from formulations.proving import proven_bound
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.blocks import by_blocks
from formulations.scheduling.bucket import BucketModel, Grid
from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.fairness import fairest
from formulations.scheduling.incumbents import KnownLists
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.mixture import Item
from formulations.scheduling.order import best_nearby_plan, event_order, refuted
from formulations.scheduling.positions import Positions
from formulations.scheduling.priced import PricedSearch, load_kernels
from formulations.scheduling.resizing import resizing
from formulations.scheduling.search import PositionSearch
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import float_below
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.schedule.bounds import mean_busy_time_bound, moore_hodgson_bound, position_bound
from gsopt.schedule.bounds.best import MOORE_HODGSON_JOBS

#: Fractions of the remaining time for local search: at first, if nothing follows, and each time it is resumed.
_SEARCH_SHARE, _WHOLE_SHARE, _FURTHER_SHARE = 0.3, 0.9, 0.05

#: Maximum number of jobs for which relaxations are solved. With more, prices on a finer grid yield better
#: bounds.
_MOST_RELAXED = 30

#: Minimum number of jobs for which lists are annealed, and the fraction of the remaining time for the first
#: annealing.
_FEWEST_ANNEALED, _ANNEALING_SHARE = 11, 0.05

#: Maximum numbers of columns of the successive relaxations that narrow the windows.
_SIZES = (2_000, 4_000, 8_000)

#: Maximum number of columns of the first relaxation with integral buckets, and the factor by which it grows.
_WHOLE, _GROWS = 8_000, 1.5

#: Maximum number of columns of a relaxation per remaining second, because building and solving it takes time.
_COLUMNS_PER_SECOND = 10_000

#: Fraction of the remaining time for solving a model; the rest is for proving the bound that the solver claims.
_SOLVER_SHARE = 0.5

#: Shortest bucket of the first grid that is coarser than usual, as a fraction of the horizon, and the factor by
#: which it grows from each such grid to the next.
_COARSER, _GROWTH = 1e-3, 1.3

#: Maximum number of pairs of jobs that may complete in either order for which every pair is probed.
_MOST_PAIRS = 60

#: Limits on the average number of remaining positions per job: narrowing stops at the first limit, and the
#: positional model is tried at the second one. The third number is the number of jobs up to which it is always
#: tried.
_FEW_PLACES, _MOST_PLACES, _MOST_POSITIONS = 4, 6, 15

#: Seconds that Moore and Hodgson's bound takes on a slow machine, divided by the cube of the number of jobs;
#: and the fraction of the remaining time that it may take.
_MOORE_HODGSON_TIME, _BOUND_SHARE = 5e-7, 0.1


@exact_method(warm_up=load_kernels)
def exact(problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
    """Bracket the optimum between a schedule and a lower bound until the two meet.

    For any number of jobs, the method begins with the budget's start and with list schedules. For a list
    schedule, the concave hull of each job's speeds is split into segments, each of which represents the gain
    from additional GPUs. The segments are sorted by an index, and served in that order at each arrival and
    completion.

    With at most 30 jobs, it continues as follows:

    1. It looks for better schedules. With at least 11 jobs, it anneals the lists. A local search over priority
       orders follows. For the orders of events that these methods suggest, a linear program over configurations
       finds the best schedule.
    2. The bucket relaxation on a grid of relevant times yields a bound. Suppose that this bound exceeds the
       schedule's value once a job is restricted to some buckets. Then no better schedule completes the job
       there. Bisection uses this to narrow the windows of completion, so that the grid can be finer. Orders
       of pairs of jobs are ruled out in the same way, unless too many are undecided. The relaxation's
       completion times suggest an order of events, for which the linear program finds the best schedule.
    3. With at most 15 jobs, or with few remaining positions per job, the positional model (`milp`) is solved
       within the remaining windows and orders. It needs no grid, so nothing has to be refined.
    4. Otherwise, the relaxation is solved with integral buckets by branch and bound. The times of all solutions
       refine the grid, and these steps are repeated until bound and schedule meet.

    With more than 30 jobs, the method alternates between prices of GPU time and lists until time runs out or,
    if there is no limit, until the gap hardly shrinks any more. The prices yield a bound
    (`gsopt.schedule.bounds.prices`), and their dual values rank the segments for another list. The best list is
    annealed, in kernels that are compiled if numba is installed. With at most 150 jobs, each round ends with
    the linear program. A few seconds are enough to prove gaps of a few percent. If the time limit is too short
    to load the kernels, plain numpy and local search replace them. To load them in advance, use
    `gsopt.warm_up`.

    For each schedule that is at least as good as the best known one, every relaxation covers that schedule or
    an equally good one. The lower of the relaxation's bound and the value of the best known schedule is
    therefore a bound. All exclusions and bounds are computed from dual values and do not depend on the solver
    being right. Termination is not proven, and larger problems end with a gap at the time limit. If a block of
    jobs finishes before the others are released, it is solved separately. If preemption is not allowed,
    `resizing` solves the problem instead.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback. The backend, which must support continuous columns, solves the
        models with integral buckets and positions; HiGHS solves the linear programs.

    Raises
    ------
    MissingSolver
        HiGHS, or the backend's solver, is not installed.
    Unsupported
        Preemption is not allowed and `resizing` cannot express the problem, or times differ too much in scale
        for a model and no schedule is known.

    Notes
    -----
    Source: Ares, Eq. 1, for the problem. The method is gsopt's own.

    Examples
    --------
    >>> import gsopt
    >>> from gsopt.problems.scheduling import ElasticJob
    >>> jobs = [ElasticJob(name=n, release=0, work=w, rates={1: 1, 2: 1.5}) for n, w in [("a", 1), ("b", 3)]]
    >>> result = exact(Scheduling(gpus=2, jobs=jobs))
    >>> result.status, round(result.objective, 6)
    (<Status.OPTIMAL: 'optimal'>, 1.666667)
    """
    if not problem.preemptive:
        return replace(resizing.run(problem, budget), method="exact")
    return by_blocks(problem, budget, _solve_block, method="exact")


def _solve_block(problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
    bracket = _Bracket(BestSchedule(problem, Instance.of(problem), budget, "exact"))
    try:
        stopped_by = bracket.close()
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return bracket.best.result(stopped_by, solver="highs", message=bracket.technique)


class _Bracket:
    """The state of the method: windows of completion, relevant times, and the best schedule and bound."""

    def __init__(self, best: BestSchedule) -> None:
        self.best, self.instance, self.budget = best, best.instance, best.budget
        self.search, self.incumbents = LocalSearch(best.instance), KnownLists(best)
        self.windows = Windows(())
        self.times: set[float] = set()
        self.cuts: list[Mapping[Item, float]] = []
        self.technique = "list schedules"

    def close(self) -> StoppedBy:
        """Narrow the bracket until it closes or time runs out, and return the reason for stopping."""
        best, many = self.best, len(self.instance) > _MOST_RELAXED
        best.take_start(as_it_is=many)
        self._bound_by_hand()
        self.incumbents.serve()
        if best.completions is None:
            self._be_fair()
        if many:
            self.technique = "prices and lists"
            PricedSearch(self.best, self.incumbents).close()
        else:
            self._anneal()
            self._search()
            if best.finished is None:
                try:
                    self._narrow()
                    self._prove()
                except Unsupported:  # times are too different in scale for any model
                    if best.completions is None:
                        raise
        return best.finished or StoppedBy.FINISHED

    def _anneal(self) -> None:
        """Anneal lists, and find the best plan for the order of events of the best list."""
        if len(self.instance) < _FEWEST_ANNEALED or self.best.finished or not self.incumbents.is_ready:
            return
        left = self.budget.left()
        self.incumbents.search(None if left is None else _ANNEALING_SHARE * left)
        if self.best.completions is not None:
            self._suggest(self.best.completions)

    def _bound_by_hand(self) -> None:
        """Compute closed-form bounds, including the slow one only if there is enough time for it."""
        workload, gpus = self.best.problem.own_clock.workload, self.instance.gpus
        found = max(position_bound(workload, gpus), mean_busy_time_bound(workload, gpus))
        self.best.raise_bound(float_below(found))
        jobs, left = len(self.instance), self.budget.left()
        if jobs <= MOORE_HODGSON_JOBS and (
            left is None or _MOORE_HODGSON_TIME * jobs**3 <= _BOUND_SHARE * left
        ):
            self.best.raise_bound(float_below(moore_hodgson_bound(workload, gpus)))

    def _search(self) -> None:
        """Find good plans by local search."""
        best = self.best
        known = [] if best.plan is None else [best.plan]
        for plan in self.search.begin(self._part(_SEARCH_SHARE), known=known):
            best.take(plan)
            if best.finished in {StoppedBy.FINISHED, StoppedBy.INTERRUPT, StoppedBy.GAP}:
                return

    def _part(self, share: float) -> Budget:
        """Return a budget with the given fraction of the remaining time."""
        left = self.budget.left()
        return self.budget if left is None else self.budget.within(share * left)

    def _search_on(self) -> None:
        """Continue the local search for a short time."""
        budget = self._part(_FURTHER_SHARE)
        for _ in self.instance.names:
            for plan in self.search.go_on(budget):
                if self.best.take(plan):
                    self.times.update(plan.completions)
                    self._narrow_by_total()
            if budget.passed or self.best.finished is not None:
                return

    def _be_fair(self) -> None:
        """Find a plan that meets the deadlines, or prove that there is none."""
        problem = self.best.problem
        found = fairest(problem, self.budget)
        if found is None or problem.fairness is None:
            return
        if found.delay > problem.fairness and refuted(self.instance, budget=self.budget):
            self.best.infeasible = (
                f"in every schedule some job completes more than {problem.fairness:g} s after its fair share "
                f"would; the smallest fairness possible is {found.delay:g} s"
            )
        else:
            self._suggest(found.plan.completions)

    def _suggest(self, completions: Sequence[float]) -> bool:
        """Find a plan for the order of the given completions, and return whether it is the best so far."""
        self.times.update(completions)
        order = event_order(self.instance, completions)
        known = [] if self.best.plan is None else [self.best.plan]
        better = self.best.take(best_nearby_plan(self.instance, order, known=known, budget=self.budget))
        if better and self.best.plan is not None:
            self.times.update(self.best.plan.completions)
            self._narrow_by_total()
        return better

    def _narrow_by_total(self) -> None:
        """Narrow the windows to the completion times that the best plan's total allows."""
        if self.windows.spans:
            self.windows = self.windows.narrowed(Windows.of(self.instance, self.best.limit).spans)

    def _narrow(self) -> None:
        """Narrow the windows on finer and finer grids, until only a few positions are left."""
        best, jobs = self.best, range(len(self.instance))
        self.windows = Windows.of(self.instance, best.limit, exchange_orders(self.instance))
        self.times.update(map(self.instance.earliest, jobs), best.plan.completions if best.plan else ())
        for size in _SIZES:
            if best.finished is not None or not self._probe(size) or self._places <= _FEW_PLACES * len(jobs):
                return
            self._search_on()

    def _prove(self) -> None:
        """Solve positional or bucket models with integer variables until one of them closes the bracket."""
        jobs, size = len(self.instance), float(_WHOLE)
        while self.best.finished is None:
            if (jobs <= _MOST_POSITIONS or self._places <= _MOST_PLACES * jobs) and self._solve_positions():
                return
            if not self._solve_buckets(int(size)):
                return
            size *= _GROWS

    @property
    def _places(self) -> int:
        """The number of positions that the windows and orders leave open, summed over all jobs."""
        first_and_last = map(self.windows.places, range(len(self.instance)))
        return sum(last - first + 1 for first, last in first_and_last)

    def _probe(self, size: int) -> bool:
        """Solve a linear relaxation of the given size, and rule out choices that cannot beat the best value.

        Returns whether the relaxation was solved.
        """
        model = self._relaxation(size)
        undecided = self.windows.undecided
        finding = probe(
            model.form(),
            self.budget,
            choices=model.choices,
            largest=model.largest,
            cutoff=model.cutoff,
            pairs=undecided if len(undecided) <= _MOST_PAIRS else (),
        )
        if finding is None:
            return False
        self.technique = "bucket relaxations"
        self.best.raise_bound(finding.bound * model.unit)
        self.windows = self.windows.narrowed(model.spans(finding.kept), finding.orders)
        self.times.update(time for span in self.windows.spans for time in span)
        if finding.values is None:
            return False
        self._suggest(model.completions(finding.values))
        return True

    def _relaxation(self, size: int) -> BucketModel:
        """Return a relaxation with at most `size` columns, on the finest grid possible."""
        left = self.budget.left()
        size = size if left is None else min(size, int(_COLUMNS_PER_SECOND * left))
        model, shortest = self._model(Grid.of(self.instance, self.windows, self.times)), _COARSER
        while model.size > size and shortest < 1:
            model = self._model(Grid.of(self.instance, self.windows, self.times, shortest=shortest))
            shortest *= _GROWTH
        return model

    def _model(self, grid: Grid) -> BucketModel:
        return BucketModel(self.instance, grid, self.windows, self.best.limit, tuple(self.cuts))

    def _solve_positions(self) -> bool:
        """Solve the positional model within the windows, and return whether this settles the problem."""
        positions = Positions.of(self.best.problem, self.instance, self.best.limit, self.windows)
        if positions.contradict:  # only by rounding
            return False
        try:
            search = PositionSearch(self.best, positions, self.budget, self.cuts)
        except Unsupported:  # too many times of modes, or times too different in scale
            return False
        search.run()
        if search.stopped_by is StoppedBy.INTERRUPT and not self.best.asked_to_stop:
            raise KeyboardInterrupt
        self.technique = "model of positions"
        return self.best.finished is not None

    def _solve_buckets(self, size: int) -> bool:
        """Solve a relaxation with integral buckets, refine the grid, and return whether it was solved."""
        model, left = self._relaxation(size), self.budget.left()
        form = model.form(limited=True)
        outcome = (self.budget.backend or Prover()).solve(
            form,
            time_limit=None if left is None else _SOLVER_SHARE * left,
            gap=self.budget.gap / 2,
            start=None if self.best.plan is None else model.point(self.best.plan),
            log=self.budget.log,
        )
        if outcome.stopped_by is StoppedBy.INTERRUPT:
            raise KeyboardInterrupt
        if outcome.values is not None:
            self._suggest(model.completions(outcome.values))
            self.cuts += [prices for prices in model.overfull(outcome.values) if prices not in self.cuts]
        if outcome.bound is not None and outcome.bound * model.unit > self.best.lower:
            goal = min(outcome.bound, self.best.goal / model.unit)
            bound = proven_bound(form, self.budget, largest=model.largest, goal=goal)
            self.best.raise_bound(bound * model.unit)
        self._split(model.grid)
        return outcome.stopped_by in {StoppedBy.FINISHED, StoppedBy.GAP} and self._probe(size)

    def _split(self, grid: Grid) -> None:
        """Halve the buckets around the completions of the best plan."""
        times = grid.times
        for time in self.best.plan.completions if self.best.plan else ():
            after = bisect_left(times, time)
            for left, right in zip(times[after - 1 : after + 1], times[after : after + 2], strict=False):
                self.times.add((left + right) / 2)
