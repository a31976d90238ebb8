"""Exact: list schedules as upper bounds and bucket relaxations as lower bounds, improved until they meet."""

from collections.abc import Sequence
from dataclasses import replace

from formulations.common.probing import probe
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.blocks import by_blocks
from formulations.scheduling.branching import Relaxation, WindowSearch
from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.fairness import fairest
from formulations.scheduling.incumbents import KnownLists
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.order import best_nearby_plan, event_order, refuted
from formulations.scheduling.positions import Positions
from formulations.scheduling.priced import PricedSearch, load_kernels
from formulations.scheduling.relaxations import Relaxations
from formulations.scheduling.resizing import resizing
from formulations.scheduling.search import PositionSearch
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.compiled import is_ready, is_worth_loading
from gsopt.core.numbers.grid import float_below
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.schedule.bounds import mean_busy_time_bound, moore_hodgson_bound, position_bound
from gsopt.schedule.bounds.best import MOORE_HODGSON_JOBS

#: Fractions of the remaining time for local search: at first, at first after annealing, and each time it is
#: resumed.
_SEARCH_SHARE, _ANNEALED_SHARE, _FURTHER_SHARE = 0.3, 0.05, 0.05

#: Maximum number of jobs for which linear relaxations are solved, and for which prices bound the nodes of a
#: search over windows. With more, prices for the whole problem on a finer grid yield better bounds.
_MOST_RELAXED, _MOST_PRICED = 30, 100

#: Minimum number of jobs for which lists are annealed, and the fraction of the remaining time for the first
#: annealing.
_FEWEST_ANNEALED, _ANNEALING_SHARE = 11, 0.15

#: Maximum numbers of columns of the successive relaxations that narrow the windows.
_SIZES = (2_000, 4_000, 8_000)

#: Maximum number of pairs of jobs that may complete in either order for which every pair is probed.
_MOST_PAIRS = 60

#: Maximum number of jobs whose windows are narrowed by bisection.
_MOST_BISECTED = 15

#: Limits on the average number of remaining positions per job: narrowing stops at the first limit, and the
#: positional model is tried at the second one.
_FEW_PLACES, _MOST_PLACES = 4, 6

#: Fraction of the remaining time for the positional model, if prices can prove more in the rest.
_POSITIONS_SHARE = 0.3

#: Seconds in which the kernels of prices are compiled, even on a busy machine.
_TO_COMPILE = 40.0

#: Seconds that Moore and Hodgson's bound takes on a slow machine, divided by the cube of the number of jobs;
#: and the fraction of the remaining time that it may take.
_MOORE_HODGSON_TIME, _BOUND_SHARE = 5e-7, 0.1


@exact_method(warm_up=load_kernels)
def exact(problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
    """Look for a schedule with the lowest mean completion time, and prove a lower bound on this time.

    The method begins with the budget's start and with list schedules. With at most 30 jobs (100, if a time
    limit leaves enough time to load kernels compiled by numba), it continues as follows:

    1. Simulated annealing (with at least 11 jobs) and local search look for better schedules. Linear programs
       improve promising ones.
    2. With at most 15 jobs, relaxations on a grid of times yield bounds. They also narrow the window of time in
       which each job can complete in a better schedule, and rule out orders of pairs of jobs.
    3. If few positions in the order of completions remain for each job, the model `milp` is solved within these
       windows and orders.
    4. If a gap remains, branch and bound splits the windows.

    With more jobs, the method alternates between prices of GPU time, which yield a bound
    (`gsopt.schedule.bounds.prices`), and simulated annealing. The alternation ends with the time limit or, if
    there is none, when the gap hardly shrinks any more. A gap usually remains. If the time limit is too short
    to load the kernels, local search replaces annealing; `gsopt.warm_up` loads them in advance.

    No bound depends on the solver being right. Blocks of jobs that finish before the next job is released are
    solved separately. If preemption is not allowed, `resizing` solves the problem instead.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback. The backend, which must support continuous columns, solves the
        models `milp` and `resizing`; HiGHS solves the linear programs.

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
        self.relaxations = Relaxations(best)
        self.technique = "list schedules"

    def close(self) -> StoppedBy:
        """Narrow the bracket until it closes or time runs out, and return the reason for stopping."""
        best = self.best
        best.take_start(as_it_is=len(self.instance) > _MOST_RELAXED)
        self._bound_by_hand()
        self.incumbents.serve()
        if best.completions is None:
            self._be_fair()
        if self._has_many:
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

    @property
    def _has_many(self) -> bool:
        """Whether there are too many jobs for a search over windows."""
        is_limited = self.budget.left() is not None
        return len(self.instance) > (_MOST_PRICED if is_limited and self._is_priced else _MOST_RELAXED)

    def _anneal(self) -> None:
        """Anneal lists, and find the best plan for the order of events of the best list."""
        if self.best.finished or not self._anneals:
            return
        left = self.budget.left()
        self.incumbents.search(None if left is None else _ANNEALING_SHARE * left)
        if self.best.completions is not None:
            self._suggest(self.best.completions)

    @property
    def _anneals(self) -> bool:
        """Whether there are enough jobs for annealing, and its kernels are ready."""
        return len(self.instance) >= _FEWEST_ANNEALED and self.incumbents.is_ready

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
        share = _ANNEALED_SHARE if self._anneals else _SEARCH_SHARE
        for plan in self.search.begin(self._part(share), known=known):
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
        order = event_order(self.instance, completions)
        known = [] if self.best.plan is None else [self.best.plan]
        better = self.best.take(best_nearby_plan(self.instance, order, known=known, budget=self.budget))
        if better:
            self._narrow_by_total()
        return better

    def _narrow_by_total(self) -> None:
        """Narrow the windows to the completion times that the best plan's total allows."""
        if self.windows.spans:
            self.windows = self.windows.narrowed(Windows.of(self.instance, self.best.limit).spans)

    def _narrow(self) -> None:
        """Narrow the windows of a few jobs on finer and finer grids, until only a few positions are left."""
        best, jobs = self.best, len(self.instance)
        self.windows = Windows.of(self.instance, best.limit, exchange_orders(self.instance))
        for size in _SIZES if jobs <= _MOST_BISECTED else ():
            if best.finished is not None or not self._probe(size) or self._places <= _FEW_PLACES * jobs:
                return
            self._search_on()

    def _prove(self) -> None:
        """Solve the model of positions if there are few of them, and split windows until the bracket closes."""
        few = self._places <= _MOST_PLACES * len(self.instance)
        if self.best.finished is None and not (few and self._solve_positions()):
            self.technique = "branching on windows"
            relaxation: Relaxation = self.relaxations
            if self._is_priced:
                from formulations.scheduling.lagrangian import LagrangianRelaxation

                relaxation = LagrangianRelaxation(self.best, self.relaxations.cuts)
            WindowSearch(self.best, relaxation, self._suggest).run(self.windows)

    @property
    def _is_priced(self) -> bool:
        """Whether kernels can price GPUs: they are compiled, and a schedule is known."""
        left = self.budget.left()
        if self.best.completions is None or not is_worth_loading(left):
            return False
        import formulations.scheduling.lagrangian_kernel

        return is_ready(formulations.scheduling.lagrangian_kernel.__name__, "climb", left, _TO_COMPILE)

    @property
    def _places(self) -> int:
        """The number of positions that the windows and orders leave open, summed over all jobs."""
        first_and_last = map(self.windows.places, range(len(self.instance)))
        return sum(last - first + 1 for first, last in first_and_last)

    def _probe(self, size: int) -> bool:
        """Solve a linear relaxation of the given size, and rule out choices that cannot beat the best value.

        Returns whether the relaxation was solved.
        """
        model = self.relaxations.model(self.windows, size)
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
        if finding.values is None:
            return False
        self._suggest(model.completions(finding.values))
        return True

    def _solve_positions(self) -> bool:
        """Solve the positional model within the windows, and return whether this settles the problem."""
        can_price = is_worth_loading(self.budget.left())
        budget = self._part(_POSITIONS_SHARE) if can_price else self.budget
        positions = Positions.of(self.best.problem, self.instance, self.best.limit, self.windows)
        if positions.contradict:  # only by rounding
            return False
        try:
            search = PositionSearch(self.best, positions, budget, self.relaxations.cuts.prices)
        except Unsupported:  # too many times of modes, or times too different in scale
            return False
        search.run()
        if search.stopped_by is StoppedBy.INTERRUPT and not self.best.asked_to_stop:
            raise KeyboardInterrupt
        self.technique = "model of positions"
        return self.best.finished is not None
