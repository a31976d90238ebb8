"""Order: the best timetable in which arrivals and completions happen in a given order."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from formulations.deadline import Deadline
from formulations.scheduling.instance import Instance
from gsopt.backends import Highs, Outcome
from gsopt.standard_form import StandardForm

Reals = NDArray[np.float64]

#: Reduced cost, relative to the largest cost, below which a configuration would not improve anything.
_NEGLIGIBLE = 1e-9

#: Share of a job's work that may be missing by rounding.
_MISSING = 1e-7

#: Cost of leaving a job undone, relative to the longest that any job can have to wait.
_PENALTY = 1e3


@dataclass(frozen=True)
class Step:
    """What runs for some seconds: the number of GPUs of each running job."""

    seconds: float
    counts: dict[int, int]


@dataclass(frozen=True)
class Timetable:
    """A plan from the first release date on.

    Attributes
    ----------
    steps
        The steps, in the order of time.
    completions
        Planned completion time of each job in seconds.
    """

    steps: tuple[Step, ...]
    completions: tuple[float, ...]

    @property
    def total(self) -> float:
        """Sum of the completion times."""
        return sum(self.completions)


def event_order(instance: Instance, completions: Sequence[float]) -> tuple[int, ...]:
    """Give the order of events in which jobs complete at about these times.

    Returns
    -------
    tuple of int
        A job's number for its completion, and -1 for each distinct release date after the first. A job
        completes after its release, whatever its time says.
    """
    after = [arrival for arrival in instance.arrivals if arrival > instance.arrivals[0]]
    times = [max(time, instance.release[job]) for job, time in enumerate(completions)]
    events = [(time, 1, job) for job, time in enumerate(times)] + [(time, 0, -1) for time in after]
    return tuple(event for _, _, event in sorted(events))


def best_timetable(
    instance: Instance,
    order: Sequence[int],
    *,
    known: Sequence[Timetable] = (),
    deadline: Deadline | None = None,
) -> Timetable | None:
    """Minimise the sum of completion times over all schedules whose events happen in this order.

    Between two events the same jobs are there, so the schedule is a mix of configurations, which say on how
    many GPUs each job runs. A linear program finds their durations; configurations are generated as their
    prices ask for them, by a multiple-choice knapsack over the jobs. Jobs may also complete together.

    Parameters
    ----------
    instance
        The jobs.
    order
        As `event_order` gives it.
    known
        Timetables whose configurations are tried from the beginning.
    deadline
        When to stop; what was found until then is given.

    Returns
    -------
    Timetable or None
        None when no schedule has this order and keeps every job's deadline, or none was found in time.
    """
    return _Master(instance, tuple(order), deadline or Deadline(None)).solve(known)


class _Master:
    """The linear program over the configurations known so far.

    A column is a configuration in one cell, the time between two events. Rows: the share of work done of each
    job, the length of each epoch between two release dates, and the deadline of each job that has one.
    """

    def __init__(self, instance: Instance, order: tuple[int, ...], deadline: Deadline) -> None:
        self.instance, self.order, self.deadline = instance, order, deadline
        jobs, cells = len(instance), len(order)
        self.active = np.zeros((cells, jobs), dtype=np.bool_)  # between the event before and event `cell`
        self.epoch = np.zeros(cells, dtype=np.int64)
        self.unfinished = np.zeros(cells)
        done: set[int] = set()
        epoch = 0
        for cell, event in enumerate(order):
            for job in range(jobs):
                released = instance.release[job] <= instance.arrivals[epoch]
                self.active[cell, job] = released and job not in done
            self.epoch[cell], self.unfinished[cell] = epoch, jobs - len(done)
            if event < 0:
                epoch += 1
            else:
                done.add(event)
        self.ends = {event: cell for cell, event in enumerate(order) if event >= 0}
        self.due = [job for job in range(jobs) if instance.deadline[job] < inf]
        self.lengths = np.diff(np.array(instance.arrivals))
        self.unit = max(float(self.lengths.sum()), *map(instance.height, range(jobs)))
        self.complete = False  # whether a plan is known in which every job is done
        self.columns: list[tuple[int, tuple[int, ...]]] = []
        self.seen: set[tuple[int, tuple[int, ...]]] = set()

    def solve(self, known: Sequence[Timetable]) -> Timetable | None:
        """Generate configurations until none improves the plan."""
        self._begin(known)
        plan: Timetable | None = None
        while True:
            outcome = Highs().solve(self._form(), time_limit=self.deadline.left())
            if outcome.values is None or outcome.duals is None:
                return plan
            if outcome.values[: len(self.instance)].max() <= _MISSING:
                plan = self._timetable(outcome.values)
                if not self.complete:
                    self.complete = True
                    continue
            if not self._generate(outcome) or self.deadline.passed:
                return plan

    def _begin(self, known: Sequence[Timetable]) -> None:
        jobs = len(self.instance)
        for cell in range(len(self.order)):
            self._add(cell, (0,) * jobs)
        for timetable in known:
            for step in timetable.steps:
                counts = [step.counts.get(job, 0) for job in range(jobs)]
                for cell in range(len(self.order)):
                    self._add(cell, tuple(np.where(self.active[cell], counts, 0).tolist()))

    def _add(self, cell: int, counts: tuple[int, ...]) -> bool:
        if (cell, counts) in self.seen:
            return False
        self.seen.add((cell, counts))
        self.columns.append((cell, counts))
        return True

    def _form(self) -> StandardForm:
        """Columns: the undone share of each job, then the seconds of each configuration over the unit."""
        instance, jobs = self.instance, len(self.instance)
        epochs = len(self.lengths)
        entries: list[tuple[int, int, float]] = [(job, job, 1.0) for job in range(jobs)]
        cost = [_PENALTY * jobs] * jobs
        for column, (cell, counts) in enumerate(self.columns, start=jobs):
            cost.append(self.unfinished[cell])
            for job, gpus in enumerate(counts):
                if gpus:
                    entries.append((job, column, self._share(job, gpus)))
            if self.epoch[cell] < epochs:
                entries.append((jobs + int(self.epoch[cell]), column, 1.0))
            entries += [
                (jobs + epochs + row, column, 1.0) for row, job in enumerate(self.due) if cell <= self.ends[job]
            ]
        rows, columns, values = zip(*entries, strict=True)
        late = [(instance.deadline[job] - instance.arrivals[0]) / self.unit for job in self.due]
        lengths = self.lengths / self.unit
        return StandardForm.build(
            cost=cost,
            matrix=coo_array((values, (rows, columns)), shape=(jobs + epochs + len(late), len(cost))),
            row_lower=np.concatenate([np.ones(jobs), lengths, np.full(len(late), -np.inf)]),
            row_upper=np.concatenate([np.full(jobs, np.inf), lengths, late]),
            column_upper=np.repeat([0.0 if self.complete else np.inf, np.inf], [jobs, len(cost) - jobs]),
            integer=np.zeros(len(cost), dtype=np.bool_),
        )

    def _share(self, job: int, gpus: int) -> float:
        """Share of a job's work done in one unit of time on so many GPUs."""
        rate = next(mode.rate for mode in self.instance.modes[job] if mode.gpus == gpus)
        return rate * self.unit / self.instance.work[job]

    def _generate(self, outcome: Outcome) -> bool:
        """Add the configuration of each cell that improves the plan most; tell whether there was any."""
        if outcome.duals is None:
            return False
        jobs, epochs = len(self.instance), len(self.lengths)
        worth, rent = outcome.duals[:jobs], self.unfinished.copy()
        for cell in range(len(self.order)):
            if self.epoch[cell] < epochs:
                rent[cell] -= outcome.duals[jobs + self.epoch[cell]]
            for row, job in enumerate(self.due):
                if cell <= self.ends[job]:
                    rent[cell] -= outcome.duals[jobs + epochs + row]
        best, counts = self._knapsack(np.maximum(worth, 0.0))
        threshold = _NEGLIGIBLE * jobs * (1 if self.complete else _PENALTY)
        improving = np.flatnonzero(best > rent + threshold)
        added = [self._add(int(cell), tuple(counts[cell].tolist())) for cell in improving]
        return any(added)

    def _knapsack(self, worth: Reals) -> tuple[Reals, NDArray[np.int64]]:
        """Give the most valuable configuration of each cell, by dynamic programming over jobs and GPUs."""
        cells, jobs = self.active.shape
        gpus = self.instance.gpus
        value = np.zeros((cells, gpus + 1))
        choice = np.zeros((jobs, cells, gpus + 1), dtype=np.int64)
        for job in range(jobs):
            if worth[job] <= 0:
                continue
            better = value.copy()
            for mode in self.instance.modes[job]:
                gain = worth[job] * self._share(job, mode.gpus)
                offer = np.where(self.active[:, job], gain, -np.inf)[:, None]
                candidate = value[:, : gpus + 1 - mode.gpus] + offer
                part = better[:, mode.gpus :]
                improves = candidate > part
                part[improves] = candidate[improves]
                choice[job][:, mode.gpus :][improves] = mode.gpus
            value = better
        counts = np.zeros((cells, jobs), dtype=np.int64)
        left = np.full(cells, gpus)
        for job in reversed(range(jobs)):
            counts[:, job] = choice[job, np.arange(cells), left]
            left -= counts[:, job]
        return value[:, gpus], counts

    def _timetable(self, values: Reals) -> Timetable:
        """Read the plan; the steps of a cell may come in any order."""
        steps: list[tuple[int, Step]] = []
        for (cell, counts), amount in zip(self.columns, values[len(self.instance) :], strict=True):
            if amount > 0:
                running = {job: gpus for job, gpus in enumerate(counts) if gpus}
                steps.append((cell, Step(float(amount) * self.unit, running)))
        steps.sort(key=lambda step: step[0])
        spent = np.zeros(len(self.order))
        for cell, step in steps:
            spent[cell] += step.seconds
        ends = self.instance.arrivals[0] + np.cumsum(spent)
        completions = tuple(float(ends[self.ends[job]]) for job in range(len(self.instance)))
        return Timetable(tuple(step for _, step in steps), completions)
