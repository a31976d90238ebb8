"""MILP: positions of completion by epochs between arrivals, with every mode's time in each cell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from formulations.deadline import Deadline
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import local_search
from formulations.scheduling.mixture import Item, lifted, shortest_mixture
from formulations.scheduling.order import best_plan, event_order
from formulations.scheduling.positions import Positions
from formulations.scheduling.timetable import replayed
from gsopt.backends import Outcome
from gsopt.budget import Budget
from gsopt.errors import ModelMismatch, Unsupported
from gsopt.formulation import Formulation
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import Result, Status, StoppedBy, judged_value, plain, relative_gap, same
from gsopt.standard_form import LARGEST_BIG_M, StandardForm

#: Jobs, and times of modes in cells, up to which the model is built.
_MOST_JOBS, _MOST_TIMES = 15, 12_000

#: Time by which a mixture of configurations must exceed its cell to be cut off, in the model's unit.
_EXCESS = 1e-7

#: Share of the time left that the solver gets; the rest is for the schedule of what it finds.
_SHARE = 0.95

#: Rounds of cuts in the linear relaxation, at most.
_ROOT_ROUNDS = 2

#: Gap between the model's value and the best schedule's, relatively, that the solver's tolerances explain.
_MISMATCH = 1e-4

#: Time of a mode in a cell below which it is rounding, in the model's unit.
_NOISE = 1e-9


class Known(NamedTuple):
    """A schedule and its mean job completion time in seconds."""

    solution: SchedulingSolution
    value: float


class Milp(Formulation[Scheduling, SchedulingSolution]):
    """Decide which job completes at which position, in which epoch, and for how long each mode runs.

    The reference model, for small instances; the other methods are tested against it. Where the counts are
    not powers of two its rows do not describe all that the GPUs can do. Then a solution is cut off that gives
    the modes of some cell times that no mixture of configurations has: the prices w of the shortest mixture
    give the row ``sum of w y <= l``, which holds for every cell; and the model is solved again.

    The windows of positions come from Moore and Hodgson's bound below, and above from a schedule found by
    local search, than which only schedules no worse are looked for. The solver starts from it. The answer is
    the best schedule for the order of events that the solver found, or that schedule if it is better.

    Sets
    ----
    Jobs j, their modes k. Positions p: the p-th completion. Epochs e between consecutive distinct release
    dates A_e; the last one ends at the horizon. Cells (e, p): the time of epoch e in which p jobs, counted from
    0, are complete; only those that the windows of completion leave.

    Parameters
    ----------
    a_j, D_j, h_j: release date, deadline and least running time. g_jk, s_jk: GPUs and part of the work done per
    second. LB_p, UB_p: window of the p-th completion. UB: sum of completion times of the schedule known. len_e:
    length of an epoch; span_ep: longest time of a cell. M: GPUs. Times count from the first release date, in
    thousandths of the horizon.

    Variables
    ---------
    z[j, p], binary: job j completes as the p-th. v[p, e], binary: the p-th completion is in epoch e. T[p]: time
    of the p-th completion. l[e, p]: time of a cell. y[j, k, e, p]: time that job j runs in mode k in a cell.

    Objective
    ---------
    Minimise the mean of the T[p], less the mean of the release dates, in seconds.

    Constraints
    -----------
    job[j], position[p], epoch[p]: one position for each job, one job and one epoch for each position.
    succession[p, e]: the completion before the p-th is in epoch e or before where the p-th is.
    time[p]: T[p] is the sum of the l of all cells of positions up to p.
    after[p], before[p]: T[p] is in its window and its epoch.
    length[e]: the l of an epoch before the last add up to len_e.
    opened[e, p], closed[e, p]: l[e, p] <= span_ep where the completion before is in epoch e or an earlier one,
    and the p-th in e or a later one; 0 elsewhere.
    alone[j, e, p]: the y of a job add up to at most l.
    area[e, p]: the g_jk y add up to at most M l.
    groups[K, i, e, p]: for K = 2, 4, ... and the other divisors of M: the floor(g_jk / K) y of jobs j other
    than i and, if K divides M, the ceil(g_ik / K) y of i, else its floor, add up to at most floor(M / K) l.
    work[j]: the s_jk y of a job add up to 1.
    until[j, p]: those in cells of position p to at most the z[j, q] with q >= p.
    enough[j, p]: those in cells of positions up to p to at least the z[j, q] with q <= p.
    earliest[p]: T[p] >= sum of (a_j + h_j) z[j, p].
    due[p]: T[p] <= sum of D_j z[j, p], where there are deadlines.
    limit: the T[p] add up to at most UB.

    Size
    ----
    n (n + E) binaries for n jobs and E epochs, at most n modes times for each of at most n E cells; of rows n
    times the number of K for each cell.

    Source
    ------
    The model is gsopt's own, for the decision of Ares, Eq. 1. Coverage of GPUs by area alone goes back to
    McNaughton, Management Science 6 (1959).

    Examples
    --------
    >>> from gsopt.problems.scheduling import ElasticJob
    >>> a = ElasticJob(name="a", release=0, work=1, rates={2: 1.0})
    >>> b = ElasticJob(name="b", release=0, work=2, rates={1: 1.0})
    >>> milp(Scheduling(gpus=2, jobs=[a, b])).objective
    2.0
    """

    name: ClassVar[str] = "milp"

    def obstacle(self, problem: Scheduling) -> str:
        """Name the first job that cannot keep its deadline even alone."""
        instance = Instance.of(problem)
        for job, name in enumerate(instance.names):
            if instance.earliest(job) > instance.deadline[job]:
                return f"job {name!r} cannot complete before {instance.earliest(job):g}, after its deadline"
        return ""

    def build(self, problem: Scheduling) -> Any:
        """Build the Pyomo model of record, without the rows that are added as they are needed.

        Raises
        ------
        Unsupported
            There are more than 15 jobs, more than 12,000 times of modes in cells, or times too different in
            scale.
        """
        instance = Instance.of(problem)
        _refuse_many(instance)
        return _model(_positions(problem, instance, _search(problem, instance, Deadline(None))))

    def extract(self, values: Mapping[str, float], problem: Scheduling) -> SchedulingSolution:
        """Give the best schedule for the order of events of the values.

        Raises
        ------
        ModelMismatch
            No schedule has this order of events and keeps the deadlines.
        """
        instance = Instance.of(problem)
        positions = _positions(problem, instance, _search(problem, instance, Deadline(None)))
        solution = _schedule(positions, values, Deadline(None))
        if solution is None:
            raise ModelMismatch(f"{self.name}: no schedule has the order of events of the model's solution")
        return solution

    def encode(self, solution: SchedulingSolution, problem: Scheduling) -> Mapping[str, float]:
        """Give positions, epochs and times of a schedule."""
        instance = Instance.of(problem)
        positions = _positions(problem, instance, _search(problem, instance, Deadline(None)))
        return _encoded(positions, solution)

    def run(self, problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
        """Solve a problem, again where configurations are cut off, and judge the best schedule.

        Raises
        ------
        Unsupported
            As `build`; or the backend does not take continuous columns.
        """
        deadline, start = Deadline(budget.left()), budget.start
        instance = Instance.of(problem)
        _refuse_many(instance)
        obstacle = self.obstacle(problem)
        if obstacle:
            return Result.judged(
                problem, method=self.name, infeasible=True, message=obstacle, runtime=deadline.runtime
            )
        known = _better(
            None if start is None else Known(start, float(judged_value(problem, self.name, start))),
            _search(problem, instance, deadline),
        )
        positions = _positions(problem, instance, known)
        if positions.contradict:
            return Result.judged(
                problem,
                method=self.name,
                infeasible=True,
                message="too few jobs can be complete at some deadline",
                runtime=deadline.runtime,
            )
        search = Search(problem, positions, known, deadline, budget.gap)
        search.run(partial(budget.solver.solve, gap=budget.gap, log=budget.log))
        return search.result()


class Search:
    """Solves the model, cuts off what no configurations can do, and keeps the best schedule and bound.

    Parameters
    ----------
    problem
        The problem.
    positions
        The windows within which a schedule is looked for; the best schedules must be in them.
    known
        The best schedule known.
    deadline
        When to stop.
    gap
        Relative gap at which to stop.
    """

    def __init__(
        self, problem: Scheduling, positions: Positions, known: Known | None, deadline: Deadline, gap: float
    ) -> None:
        self.problem, self.positions, self.deadline, self.gap = problem, positions, deadline, gap
        self.known = known
        self.bound = max(positions.instance.mean_jct(positions.lower), 0.0)
        self.infeasible = False
        self.stopped_by = StoppedBy.TIME_LIMIT
        self.cuts: list[dict[Item, float]] = []
        self.solver = ""
        self.message = ""

    def run(self, solve: Callable[..., Outcome]) -> None:
        """Solve until the bound is met, the time is up or nothing is left to cut off."""
        if self.deadline.passed:
            return
        form = self._with_root_cuts(StandardForm.from_pyomo(_model(self.positions)), solve)
        while True:
            start = None if self.known is None else form.point(_encoded(self.positions, self.known.solution))
            left = self.deadline.left()
            outcome = solve(form, time_limit=None if left is None else left * _SHARE, start=start)
            self._learn(form, outcome)
            if self._closed() or outcome.values is None:
                return
            if outcome.stopped_by not in {StoppedBy.FINISHED, StoppedBy.GAP}:
                return
            cuts = self._violated(form.named(outcome.values))
            if self.deadline.passed:
                self.stopped_by = StoppedBy.TIME_LIMIT
                return
            if not cuts:
                self._refuse_mismatch(outcome)
                return
            self.cuts += cuts
            form = _with_cuts(form, self.positions, cuts)

    def _with_root_cuts(self, form: StandardForm, solve: Callable[..., Outcome]) -> StandardForm:
        """Cut off what no configurations can do in the linear relaxation, before anything is branched on."""
        for _ in range(_ROOT_ROUNDS):
            relaxed = replace(form, integer=np.zeros_like(form.integer))
            outcome = solve(relaxed, time_limit=self.deadline.left())
            if outcome.stopped_by is StoppedBy.INTERRUPT or outcome.values is None:
                break
            cuts = self._violated(form.named(outcome.values))
            if not cuts:
                break
            self.cuts += cuts
            form = _with_cuts(form, self.positions, cuts)
        return form

    def result(self) -> Result[SchedulingSolution]:
        """Judge what was found."""
        known = self.known
        bound = None if self.infeasible else self.bound
        return Result.judged(
            self.problem,
            method=Milp.name,
            solution=None if known is None else known.solution,
            bound=bound if bound is None or known is None else min(bound, known.value),
            infeasible=self.infeasible,
            stopped_by=self.stopped_by,
            solver=self.solver,
            message=self.message,
            runtime=self.deadline.runtime,
        )

    def _learn(self, form: StandardForm, outcome: Outcome) -> None:
        """Take in what the solver proved and found."""
        self.solver, self.stopped_by = outcome.solver, outcome.stopped_by
        self.message = f"{outcome.message}, {len(self.cuts)} cuts"
        if outcome.status is Status.INFEASIBLE:
            self.infeasible = self.known is None  # else rounding keeps the schedule known out of its windows
            return
        self.bound = max(self.bound, -inf if outcome.bound is None else outcome.bound)
        if outcome.values is None:
            return
        solution = _schedule(self.positions, form.named(outcome.values), self.deadline)
        if solution is not None and not self.problem.violations(solution):
            self.known = _better(self.known, Known(solution, float(self.problem.objective(solution))))

    def _refuse_mismatch(self, outcome: Outcome) -> None:
        """Raise `ModelMismatch` where the schedule is worse than the model's solution by more than noise."""
        if self.known is not None and (relative_gap(self.known.value, outcome.objective) or 0.0) > _MISMATCH:
            raise ModelMismatch(
                f"milp: the model counts {outcome.objective}, the best schedule {plain(self.known.value)}"
            )
        self.message += "; its solution keeps the rows up to rounding only"

    def _closed(self) -> bool:
        """Whether the best schedule meets the bound, or the gap asked for."""
        if self.known is None:
            return False
        left = relative_gap(self.known.value, self.bound)
        return same(self.known.value, self.bound) or (left is not None and left <= self.gap)

    def _violated(self, values: Mapping[str, float]) -> list[dict[Item, float]]:
        """Give the prices of cells whose modes run for longer than any mixture of configurations lets them."""
        instance = self.positions.instance
        found: list[dict[Item, float]] = []
        for epoch, position in self.positions.cells:
            times = {
                (job, mode): time
                for job in range(len(instance))
                for mode in range(len(instance.modes[job]))
                if (time := values.get(f"y[{job},{mode},{epoch},{position}]", 0.0)) > _NOISE
            }
            length, prices = shortest_mixture(instance, times)
            cut = lifted(instance, prices)
            if length > values[f"l[{epoch},{position}]"] + _EXCESS and cut not in self.cuts + found:
                found.append(cut)
        return found


milp = Milp()


def _refuse_many(instance: Instance) -> None:
    if len(instance) > _MOST_JOBS:
        raise Unsupported(f"milp: {len(instance)} jobs: the reference is for at most {_MOST_JOBS}")


def _better(one: Known | None, other: Known | None) -> Known | None:
    return min((each for each in (one, other) if each is not None), key=lambda each: each.value, default=None)


def _search(problem: Scheduling, instance: Instance, deadline: Deadline) -> Known | None:
    """Find a schedule to start from by local search."""
    plan = local_search(instance, deadline)
    if plan is None:
        return None
    solution = replayed(instance, plan.steps)
    return None if problem.violations(solution) else Known(solution, float(problem.objective(solution)))


def _positions(problem: Scheduling, instance: Instance, known: Known | None) -> Positions:
    total = inf if known is None else known.value * len(instance) + sum(instance.release)
    return Positions.of(problem, instance, total)


@dataclass(frozen=True)
class _Columns:
    """The sets of the model's columns.

    Attributes
    ----------
    positions
        The windows and cells.
    share
        Part of the work of a job that each of its modes does in a unit of the model's time.
    times
        The jobs and modes that may run in each cell.
    """

    positions: Positions
    share: tuple[tuple[float, ...], ...]
    times: dict[tuple[int, int], list[Item]]

    @classmethod
    def of(cls, positions: Positions) -> "_Columns":
        """Leave out jobs that have not arrived, and those complete before the cell in any case.

        Raises
        ------
        Unsupported
            There are too many, or the times are too different in scale.
        """
        instance = positions.instance
        jobs = range(len(instance))
        last = [max((p for p in jobs if positions.allows(job, p)), default=-1) for job in jobs]
        share = tuple(
            tuple(mode.rate * positions.unit / instance.work[job] for mode in instance.modes[job])
            for job in jobs
        )
        times = {
            (epoch, position): [
                (job, mode)
                for job in jobs
                if instance.release[job] <= instance.arrivals[epoch] and last[job] >= position
                for mode in range(len(instance.modes[job]))
            ]
            for epoch, position in positions.cells
        }
        size = sum(map(len, times.values()))
        if size > _MOST_TIMES:
            raise Unsupported(f"milp: {size:,} times of modes in cells: at most {_MOST_TIMES:,}")
        fastest = max(max(own) for own in share)
        if fastest > LARGEST_BIG_M:
            raise Unsupported(f"milp: the shortest job takes {1 / fastest / 1000:.0e} of the horizon: too fine")
        return cls(positions, share, times)


def _model(positions: Positions) -> Any:
    """Build the Pyomo model."""
    import pyomo.environ as pyo

    columns = _Columns.of(positions)
    jobs, window, cells = range(len(positions.instance)), positions.window, positions.cells
    epochs = range(len(positions.epochs))
    model = pyo.ConcreteModel()
    model.z = pyo.Var(jobs, jobs, domain=pyo.Binary, bounds=lambda _, j, p: (0, int(positions.allows(j, p))))
    model.v = pyo.Var(jobs, epochs, domain=pyo.Binary, bounds=lambda _, p, e: (0, int(_meets(positions, e, p))))
    model.T = pyo.Var(jobs, bounds=lambda _, p: window[p])
    model.l = pyo.Var(list(cells), bounds=lambda _, e, p: (0, cells[e, p]))
    model.y = pyo.Var(
        [(j, k, *cell) for cell, items in columns.times.items() for j, k in items], domain=pyo.NonNegativeReals
    )
    _add_positions(model, positions)
    _add_cells(model, positions)
    _add_capacity(model, columns)
    _add_work(model, columns)
    instance = positions.instance
    released = sum(instance.release) - len(instance) * instance.arrivals[0]
    model.cost = pyo.Objective(
        expr=(positions.unit * pyo.quicksum(model.T.values()) - released) / len(instance)
    )
    return model


def _meets(positions: Positions, epoch: int, position: int) -> bool:
    begin, end = positions.part(epoch, position)
    return begin <= end


def _add_positions(model: Any, positions: Positions) -> None:
    """Give every job a position, and every position an epoch and a time."""
    import pyomo.environ as pyo

    instance = positions.instance
    jobs, epochs, cells = range(len(instance)), range(len(positions.epochs)), positions.cells
    model.job = pyo.Constraint(jobs, rule=lambda m, j: sum(m.z[j, p] for p in jobs) == 1)
    model.position = pyo.Constraint(jobs, rule=lambda m, p: sum(m.z[j, p] for j in jobs) == 1)
    model.epoch = pyo.Constraint(jobs, rule=lambda m, p: sum(m.v[p, e] for e in epochs) == 1)
    model.succession = pyo.Constraint(
        jobs[1:],
        epochs[:-1],
        rule=lambda m, p, e: (
            sum(m.v[p - 1, f] for f in epochs[: e + 1]) >= sum(m.v[p, f] for f in epochs[: e + 1])
        ),
    )
    model.time = pyo.Constraint(
        jobs, rule=lambda m, p: m.T[p] == sum(m.l[cell] for cell in cells if cell[1] <= p)
    )
    model.after = pyo.Constraint(
        jobs, rule=lambda m, p: m.T[p] >= sum(positions.part(e, p)[0] * m.v[p, e] for e in epochs)
    )
    model.before = pyo.Constraint(
        jobs, rule=lambda m, p: m.T[p] <= sum(positions.part(e, p)[1] * m.v[p, e] for e in epochs)
    )
    model.earliest = pyo.Constraint(
        jobs, rule=lambda m, p: m.T[p] >= sum(positions.time(instance.earliest(j)) * m.z[j, p] for j in jobs)
    )
    model.due = pyo.Constraint(
        jobs if isfinite(instance.deadline[0]) else [],
        rule=lambda m, p: (
            m.T[p] <= sum(positions.time(positions.instance.deadline[j]) * m.z[j, p] for j in jobs)
        ),
    )
    if isfinite(positions.total):
        limit = (positions.total - len(instance) * instance.arrivals[0]) / positions.unit
        model.limit = pyo.Constraint(expr=sum(model.T.values()) <= limit)


def _add_cells(model: Any, positions: Positions) -> None:
    """Let the cells fill the epochs, each between the completions that bound it."""
    import pyomo.environ as pyo

    epochs, cells = range(len(positions.epochs)), positions.cells
    model.length = pyo.Constraint(
        epochs[:-1],
        rule=lambda m, e: (
            sum(m.l[cell] for cell in cells if cell[0] == e) == positions.epochs[e][1] - positions.epochs[e][0]
        ),
    )
    model.opened = pyo.Constraint(
        [cell for cell in cells if cell[1] > 0],
        rule=lambda m, e, p: m.l[e, p] <= cells[e, p] * sum(m.v[p - 1, f] for f in epochs[: e + 1]),
    )
    model.closed = pyo.Constraint(
        list(cells), rule=lambda m, e, p: m.l[e, p] <= cells[e, p] * sum(m.v[p, f] for f in epochs[e:])
    )


def _add_capacity(model: Any, columns: _Columns) -> None:
    """Keep the modes of every cell within what the GPUs hold."""
    import pyomo.environ as pyo

    instance = columns.positions.instance
    busy = {cell: items for cell, items in columns.times.items() if items}
    model.alone = pyo.Constraint(
        [(j, *cell) for cell, items in busy.items() for j in sorted({j for j, _ in items})],
        rule=lambda m, j, e, p: sum(m.y[j, k, e, p] for k in range(len(instance.modes[j]))) <= m.l[e, p],
    )
    model.area = pyo.Constraint(
        list(busy),
        rule=lambda m, e, p: (
            pyo.quicksum(instance.modes[j][k].gpus * m.y[j, k, e, p] for j, k in busy[e, p])
            <= instance.gpus * m.l[e, p]
        ),
    )
    model.groups = pyo.Constraint(
        [(size, i, *cell) for cell, items in busy.items() for size, i in _groups(instance, items)],
        rule=lambda m, size, i, e, p: (
            pyo.quicksum(
                taken * m.y[j, k, e, p]
                for j, k in busy[e, p]
                if (
                    taken := _taken(instance.modes[j][k].gpus, size, whole=j == i and instance.gpus % size == 0)
                )
            )
            <= instance.gpus // size * m.l[e, p]
        ),
    )


def _groups(instance: Instance, items: Sequence[Item]) -> list[tuple[int, int]]:
    """Give the sizes of groups of GPUs that are worth a row, each with the job that takes up groups in part."""
    counts = [(job, instance.modes[job][mode].gpus) for job, mode in items]
    found = []
    for size in range(2, min(instance.gpus, max(gpus for _, gpus in counts)) + 1):
        divides = instance.gpus % size == 0
        if divides or size & (size - 1) == 0:
            partial_jobs = sorted({job for job, gpus in counts if divides and gpus % size})
            found += [(size, job) for job in partial_jobs or [counts[0][0]]]
    return found


def _taken(gpus: int, size: int, *, whole: bool) -> int:
    """Count the groups that a job takes up, those in part included where `whole`."""
    return -(-gpus // size) if whole else gpus // size


def _add_work(model: Any, columns: _Columns) -> None:
    """Do the work of every job, after its arrival and up to its position."""
    import pyomo.environ as pyo

    jobs = range(len(columns.positions.instance))
    done: dict[tuple[int, int], Any] = {
        (j, p): pyo.quicksum(
            columns.share[j][k] * model.y[j, k, *cell]
            for cell, items in columns.times.items()
            if cell[1] == p
            for i, k in items
            if i == j
        )
        for j in jobs
        for p in jobs
    }
    model.work = pyo.Constraint(jobs, rule=lambda _, j: sum(done[j, p] for p in jobs) == 1)
    model.until = pyo.Constraint(
        jobs, jobs[1:], rule=lambda m, j, p: done[j, p] <= sum(m.z[j, q] for q in jobs[p:])
    )
    model.enough = pyo.Constraint(
        jobs,
        jobs[:-1],
        rule=lambda m, j, p: sum(done[j, q] for q in jobs[: p + 1]) >= sum(m.z[j, q] for q in jobs[: p + 1]),
    )


def _with_cuts(form: StandardForm, positions: Positions, cuts: Sequence[Mapping[Item, float]]) -> StandardForm:
    """Add the row ``sum of prices times y <= l`` of each cut for every cell."""
    column = {name: number for number, name in enumerate(form.columns)}
    rows, names = [], []
    for number, cut in enumerate(cuts):
        for epoch, position in positions.cells:
            row = np.zeros(len(form.columns))
            row[column[f"l[{epoch},{position}]"]] = -1.0
            for (job, mode), price in cut.items():
                name = f"y[{job},{mode},{epoch},{position}]"
                if name in column:
                    row[column[name]] = price
            if (row > 0).any():
                rows.append(row)
                names.append(f"mixture[{len(form.rows) + number},{epoch},{position}]")
    return StandardForm.build(
        cost=form.cost,
        matrix=vstack([form.matrix, csr_array(np.array(rows))]),
        row_lower=[*form.row_lower, *[-inf] * len(rows)],
        row_upper=[*form.row_upper, *[0.0] * len(rows)],
        column_lower=form.column_lower,
        column_upper=form.column_upper,
        integer=form.integer,
        columns=form.columns,
        rows=(*form.rows, *names),
        sense=form.sense,
        offset=form.offset,
    )


def _schedule(
    positions: Positions, values: Mapping[str, float], deadline: Deadline
) -> SchedulingSolution | None:
    """Make the best plan for the order of events of a solution; None where no deadlines can be kept."""
    instance = positions.instance
    count = range(len(instance))
    completions = [
        sum(values[f"z[{job},{position}]"] * values[f"T[{position}]"] for position in count) * positions.unit
        + instance.arrivals[0]
        for job in count
    ]
    plan = best_plan(instance, event_order(instance, completions), deadline=deadline)
    return None if plan is None else replayed(instance, plan.steps)


def _encoded(positions: Positions, solution: SchedulingSolution) -> dict[str, float]:
    """Give a schedule as column values."""
    instance = positions.instance
    number = {name: job for job, name in enumerate(instance.names)}
    ends = [0.0] * len(instance)
    for run in solution.runs:
        ends[number[run.job]] = max(ends[number[run.job]], positions.time(run.end))
    order = sorted(range(len(instance)), key=ends.__getitem__)
    times = [ends[job] for job in order]
    values: dict[str, float] = {}
    cells: list[tuple[int, int, float, float]] = []
    for position, (job, time) in enumerate(zip(order, times, strict=True)):
        epoch = max((e for e, (begin, _) in enumerate(positions.epochs) if begin < time), default=0)
        values |= {f"z[{job},{position}]": 1.0, f"v[{position},{epoch}]": 1.0, f"T[{position}]": time}
        since = times[position - 1] if position else 0.0
        parts = [(e, max(begin, since), min(end, time)) for e, (begin, end) in enumerate(positions.epochs)]
        cells += [(e, position, begin, end) for e, begin, end in parts if begin < end]
    values |= {f"l[{epoch},{position}]": end - begin for epoch, position, begin, end in cells}
    for run in solution.runs:
        job = number[run.job]
        mode = sum(each.gpus <= run.gpus for each in instance.modes[job]) - 1
        first, last = positions.time(run.start), positions.time(run.end)
        for epoch, position, begin, end in cells:
            part = min(end, last) - max(begin, first)
            if part > 0:
                name = f"y[{job},{mode},{epoch},{position}]"
                values[name] = values.get(name, 0.0) + part
    return values
