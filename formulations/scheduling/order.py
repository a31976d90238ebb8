"""Order: the best plan for a given order of arrivals and completions."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from formulations.scheduling.instance import Instance
from formulations.scheduling.timetable import TimetableStep
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import IMPROVEMENT, LINEAR_ROWS, PRICING, SPAN_ERROR, TERM
from gsopt.core.result import StoppedBy
from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import StandardForm

Reals = NDArray[np.float64]

#: Number of cells before and after its own cell in which a configuration of a known plan is offered.
_NEARBY = 2

#: Maximum product of the numbers of events, jobs and GPUs, which is the number of entries in the knapsack's
#: tables.
_MOST_CHOICES = 2_000_000

#: Cost of leaving a job undone, in the program's unit of time, divided by the number of jobs.
_PENALTY = 1e3


@dataclass(frozen=True)
class OrderPlan:
    """A plan of consecutive steps that begins at the first release date."""

    steps: tuple[TimetableStep, ...]  # the steps in chronological order
    completions: tuple[float, ...]  # planned completion time of each job in seconds

    @property
    def total(self) -> float:
        """The sum of the completion times."""
        return fsum(self.completions)


def event_order(instance: Instance, completions: Sequence[float]) -> tuple[int, ...]:
    """Return the jobs in the order of their completion times, with -1 for each release date after the first.

    Equal release dates have a single -1. A job always completes after its own release, even if the times are
    equal.
    """
    after = instance.arrivals[1:]
    times = [max(time, instance.release[job]) for job, time in enumerate(completions)]
    events = [(time, 1, job) for job, time in enumerate(times)] + [(time, 0, -1) for time in after]
    return tuple(event for _, _, event in sorted(events))


def best_plan(
    instance: Instance,
    order: Sequence[int],
    *,
    known: Sequence[OrderPlan] = (),
    budget: Budget | None = None,
) -> OrderPlan | None:
    """Minimize the sum of completion times over all schedules with the given order of events.

    Between two events, the same jobs are present, so the schedule is a mix of configurations, each of which
    assigns a number of GPUs to every job. A linear program finds their durations. A multiple-choice knapsack
    over the jobs generates new configurations (columns) from the dual prices. Several jobs may complete
    together. The search starts with the configurations of known plans, and returns the best plan found in time.
    The result is None if no schedule with this order (see `event_order`) meets every deadline, if none was
    found in time, or if the tables of the knapsack would be too large.
    """
    if _too_large(instance, order):
        return None
    return _Program(instance, tuple(order), budget or Budget()).solve(known)


def _too_large(instance: Instance, order: Sequence[int]) -> bool:
    return len(order) * len(instance) * instance.gpus > _MOST_CHOICES


def best_nearby_plan(
    instance: Instance,
    order: Sequence[int],
    *,
    known: Sequence[OrderPlan] = (),
    budget: Budget | None = None,
) -> OrderPlan | None:
    """Find the best plan for an order, and improve it by swapping consecutive events that coincide.

    If two consecutive events coincide, the plan also fits the order in which they are swapped, and it may be
    possible to improve the plan there. Parameters and return value are those of `best_plan`.
    """
    order, budget = tuple(order), budget or Budget()
    best = best_plan(instance, order, known=known, budget=budget)
    tried = {order}
    while best is not None and not budget.passed:
        exchanged = _exchanged(instance, order, best, tried)
        if exchanged is None:
            break
        tried.add(exchanged)
        other = best_plan(instance, exchanged, known=[best], budget=budget)
        if other is not None and other.total < best.total * (1 - IMPROVEMENT):
            order, best = exchanged, other
    return best


def _exchanged(
    instance: Instance, order: tuple[int, ...], plan: OrderPlan, tried: set[tuple[int, ...]]
) -> tuple[int, ...] | None:
    """Swap two consecutive events at the same time to obtain an untried order; return None if there is none."""
    arrivals = iter(instance.arrivals[1:])
    times = [next(arrivals) if event < 0 else plan.completions[event] for event in order]
    for place, (one, other) in enumerate(pairwise(order)):
        apart = times[place + 1] - times[place] > SPAN_ERROR * times[-1]
        too_early = one < 0 <= other and instance.release[other] >= times[place]
        if apart or too_early or one == other:
            continue
        exchanged = (*order[:place], other, one, *order[place + 2 :])
        if exchanged not in tried:
            return exchanged
    return None


def least_delay(
    instance: Instance, order: Sequence[int], *, budget: Budget | None = None
) -> tuple[float, OrderPlan] | None:
    """Minimize the largest delay beyond the jobs' deadlines over all schedules with the given order of events.

    Returns the delay in seconds, which is non-negative, and a plan that achieves it. The result is None if no
    plan is found in time, or if the problem is too large for `best_plan`.
    """
    if _too_large(instance, order):
        return None
    plan = _Program(instance, tuple(order), budget or Budget(), delayed=True).solve(())
    if plan is None:
        return None
    late = (time - due for time, due in zip(plan.completions, instance.deadline, strict=True))
    return max(0.0, *late), plan


def refuted(instance: Instance, *, budget: Budget | None = None) -> bool:
    """Check whether dual values prove that no schedule meets all deadlines.

    If the deadlines can be met, they can be met with completions in the order of the deadlines, so a single
    program suffices. The result is False if nothing is proven, for example because time runs out, a job has no
    deadline, or the problem is too large for `best_plan`.
    """
    order = event_order(instance, instance.deadline)
    if _too_large(instance, order) or max(instance.deadline) == inf:
        return False
    program = _Program(instance, order, budget or Budget(), delayed=True)
    program.solve(())
    return program.refutes()


class _Program:
    """The linear program over the configurations generated so far.

    A column is a configuration in one cell, which is the time between two events. There is a row for the
    fraction of each job's work that is done, for the length of each epoch between two release dates, and for
    each deadline. The first columns are the fractions of work left undone, at a price that applies only until a
    plan is known. If `delayed`, the next column is the delay beyond all deadlines, which is minimized instead
    of the sum of completion times.
    """

    def __init__(
        self, instance: Instance, order: tuple[int, ...], budget: Budget, *, delayed: bool = False
    ) -> None:
        self.instance, self.order, self.budget, self.delayed = instance, order, budget, delayed
        jobs, cells = len(instance), len(order)
        self.active = np.zeros((cells, jobs), dtype=np.bool_)  # between the event before and event `cell`
        self.epoch = np.zeros(cells, dtype=np.int64)
        self.price = np.zeros(cells)  # of a second, as many jobs complete after it
        self._follow(order)
        self.ends = {event: cell for cell, event in enumerate(order) if event >= 0}
        self.due = [job for job in range(jobs) if instance.deadline[job] < inf]
        self.lengths = np.diff(np.array(instance.arrivals))
        self.unit = max(float(self.lengths.sum()), *map(instance.height, range(jobs)))
        self.before = jobs + delayed  # columns before those of the configurations
        self.complete = False  # whether a plan is known in which every job is done
        self.columns: list[tuple[int, tuple[int, ...]]] = []
        self.seen: set[tuple[int, tuple[int, ...]]] = set()
        self.duals = np.zeros(0)

    def solve(self, known: Sequence[OrderPlan]) -> OrderPlan | None:
        """Generate configurations until none improves the plan; return the plan, or None if there is none."""
        self._begin(known)
        plan: OrderPlan | None = None
        while True:
            outcome = Highs().solve(self._form(), time_limit=self.budget.left())
            if outcome.stopped_by is StoppedBy.INTERRUPT:
                raise KeyboardInterrupt
            if outcome.values is None or outcome.duals is None:
                return plan
            self.duals = outcome.duals
            if outcome.values[: len(self.instance)].max() <= LINEAR_ROWS:
                plan = self._plan(outcome.values)
                if not self.complete:
                    self.complete = True
                    continue
            if not self._generate(outcome.duals) or self.budget.passed:
                return plan

    def refutes(self) -> bool:
        """Check whether the last dual values prove that some deadline is missed.

        If all deadlines are met, the value of all work is at most the price of all time in the cells, plus the
        value of configurations above that price for as long as the last deadline allows. If the value of the
        work is higher, a deadline is missed. All rounding errors are subtracted.
        """
        jobs, epochs = len(self.instance), len(self.lengths)
        if not self.duals.size:
            return False
        work = np.maximum(self.duals[:jobs], 0.0)
        epoch, late = self.duals[jobs : jobs + epochs], np.minimum(self.duals[jobs + epochs :], 0.0)
        due = np.array([self.instance.deadline[job] for job in self.due]) / self.unit
        rent = -np.append(epoch, 0.0)[self.epoch]
        for price, job in zip(late, self.due, strict=True):
            rent[: self.ends[job] + 1] -= price
        worth, _ = self._knapsack(work)
        rounding = TERM * (jobs + epochs + len(self.order) + 16)
        size = float(np.abs(epoch).sum() - late.sum())
        missed = float((rent - worth - rounding * (worth + size)).min())
        value = float(work.sum() + epoch @ self.lengths / self.unit + late @ due)
        numbers = float(work.sum() + np.abs(epoch) @ self.lengths / self.unit - late @ due)
        return value - rounding * numbers + min(missed, 0.0) * float(due.max()) > 0

    def _follow(self, order: tuple[int, ...]) -> None:
        """Determine the jobs present in each cell."""
        instance, done, epoch = self.instance, set[int](), 0
        for cell, event in enumerate(order):
            for job, release in enumerate(instance.release):
                self.active[cell, job] = release <= instance.arrivals[epoch] and job not in done
            self.epoch[cell] = epoch
            self.price[cell] = 0 if self.delayed else len(instance) - len(done)
            if event < 0:
                epoch += 1
            else:
                done.add(event)

    def _begin(self, known: Sequence[OrderPlan]) -> None:
        """Add the idle configuration to every cell, and the configurations of known plans to nearby cells."""
        jobs, cells = range(len(self.instance)), len(self.order)
        for cell in range(cells):
            self._add(cell, (0,) * len(jobs))
        for plan in known:
            events = sorted([*self.instance.arrivals[1:], *plan.completions])
            now = 0.0
            for step in plan.steps:
                middle = bisect_left(events, now + step.duration / 2)
                for cell in range(max(middle - _NEARBY, 0), min(middle + _NEARBY + 1, cells)):
                    counts = [step.gpus.get(job, 0) if self.active[cell, job] else 0 for job in jobs]
                    self._add(cell, tuple(counts))
                now += step.duration

    def _add(self, cell: int, counts: tuple[int, ...]) -> bool:
        if (cell, counts) in self.seen:
            return False
        self.seen.add((cell, counts))
        self.columns.append((cell, counts))
        return True

    def _form(self) -> StandardForm:
        """Return the program over the columns so far, with times in the program's unit."""
        instance, jobs, epochs = self.instance, len(self.instance), len(self.lengths)
        size = self.before + len(self.columns)
        cost = np.zeros(size)
        cost[:jobs] = _PENALTY * jobs
        entries: list[tuple[int, int, float]] = [(job, job, 1.0) for job in range(jobs)]
        if self.delayed:
            cost[jobs] = 1.0
            entries += [(jobs + epochs + row, jobs, -1.0) for row in range(len(self.due))]
        for column, (cell, counts) in enumerate(self.columns, start=self.before):
            cost[column] = self.price[cell]
            entries += [(job, column, self._share(job, gpus)) for job, gpus in enumerate(counts) if gpus]
            if self.epoch[cell] < epochs:
                entries.append((jobs + int(self.epoch[cell]), column, 1.0))
            in_time = (row for row, job in enumerate(self.due) if cell <= self.ends[job])
            entries += [(jobs + epochs + row, column, 1.0) for row in in_time]
        rows, columns, values = zip(*entries, strict=True)
        due = [instance.due[job] / self.unit for job in self.due]
        lengths = self.lengths / self.unit
        undone = 0.0 if self.complete else np.inf
        return StandardForm.build(
            cost=cost,
            matrix=coo_array((values, (rows, columns)), shape=(jobs + epochs + len(due), size)),
            row_lower=np.concatenate([np.ones(jobs), lengths, np.full(len(due), -np.inf)]),
            row_upper=np.concatenate([np.full(jobs, np.inf), lengths, due]),
            column_upper=np.repeat([undone, np.inf], [jobs, size - jobs]),
            integer=np.zeros(size, dtype=np.bool_),
        )

    def _share(self, job: int, gpus: int) -> float:
        """Return the fraction of a job's work done per unit of time on the given number of GPUs."""
        rate = next(mode.rate for mode in self.instance.modes[job] if mode.gpus == gpus)
        return rate * self.unit / self.instance.work[job]

    def _generate(self, duals: Reals) -> bool:
        """Add the configuration of each cell that improves the plan most, and return whether any was added."""
        jobs, epochs = len(self.instance), len(self.lengths)
        rent = self.price - np.append(duals[jobs : jobs + epochs], 0.0)[self.epoch]
        for row, job in enumerate(self.due, start=jobs + epochs):
            rent[: self.ends[job] + 1] -= duals[row]
        worth, counts = self._knapsack(np.maximum(duals[:jobs], 0.0))
        threshold = PRICING * jobs * (1 if self.complete else _PENALTY)
        improving = np.flatnonzero(worth > rent + threshold)
        return any([self._add(int(cell), tuple(counts[cell].tolist())) for cell in improving])  # noqa: C419 - all

    def _knapsack(self, prices: Reals) -> tuple[Reals, NDArray[np.int64]]:
        """Return the most valuable configuration of each cell, by dynamic programming over jobs and GPUs."""
        cells, jobs = self.active.shape
        gpus = self.instance.gpus
        value = np.zeros((cells, gpus + 1))
        choice = np.zeros((jobs, cells, gpus + 1), dtype=np.int64)
        for job in np.flatnonzero(prices > 0).tolist():
            better = value.copy()
            for mode in self.instance.modes[job]:
                gain = np.where(self.active[:, job], prices[job] * self._share(job, mode.gpus), -np.inf)
                candidate = value[:, : gpus + 1 - mode.gpus] + gain[:, None]
                part = better[:, mode.gpus :]
                improves = candidate > part
                part[improves] = candidate[improves]
                choice[job][:, mode.gpus :][improves] = mode.gpus
            value = better
        counts = np.zeros((cells, jobs), dtype=np.int64)
        left = np.full(cells, gpus, dtype=np.int64)
        for job in reversed(range(jobs)):
            counts[:, job] = choice[job, np.arange(cells), left]
            left -= counts[:, job]
        return value[:, -1], counts

    def _plan(self, values: Reals) -> OrderPlan:
        """Return the plan that column values represent. The order of steps within a cell is arbitrary."""
        amounts = values[self.before :] * self.unit
        used = sorted(np.flatnonzero(amounts > 0), key=lambda column: self.columns[column][0])
        spent = np.zeros(len(self.order))
        steps: list[TimetableStep] = []
        for column in used:
            cell, counts = self.columns[column]
            spent[cell] += amounts[column]
            steps.append(
                TimetableStep(float(amounts[column]), {job: gpus for job, gpus in enumerate(counts) if gpus})
            )
        ends = np.cumsum(spent)
        return OrderPlan(tuple(steps), tuple(float(ends[self.ends[job]]) for job in range(len(self.instance))))
