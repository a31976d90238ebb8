"""MILP: a model of the order in which jobs complete, and of how long each of them runs in each mode."""

from collections.abc import Mapping
from itertools import product
from math import inf, isfinite
from typing import Any, ClassVar

from formulations.scheduling.best import BestSchedule
from formulations.scheduling.blocks import by_blocks
from formulations.scheduling.cells import Cells, cell_form, encode
from formulations.scheduling.groups import groups, taken
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import good_plans
from formulations.scheduling.order import refuted
from formulations.scheduling.positions import Positions
from formulations.scheduling.search import PositionSearch, plan_of
from formulations.scheduling.timetable import replay, steps_of
from gsopt.core.budget import Budget
from gsopt.core.errors import ModelMismatch, Unsupported
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: Maximum number of jobs for which the model is built.
_MOST_JOBS = 15


class Milp(Formulation[Scheduling, SchedulingSolution]):
    """A model that decides in which order and in which epochs jobs complete, and how long each mode runs.

    This is the reference model for small instances in which jobs may be preempted. The solver starts from a
    known schedule: the better one of the budget's start and the result of a local search. A solution whose
    times y do not fit into some cell is excluded by rows ``sum of w y <= l`` with suitable weights w, and the
    model is solved again. A linear program then looks for the best schedule with the solution's order of
    events.

    Sets
    ----
    j: jobs. k: modes of a job. p: positions in the order of completions, counted from 0. e: epochs between
    distinct release dates; the last one ends at the horizon, the latest possible time of the last completion.
    (e, p): cells, the time in epoch e in which p jobs are complete.

    Parameters
    ----------
    M: GPUs. b_j, D_j: earliest and latest completion of job j. g_jk, s_jk: GPUs of job j in mode k, and the
    fraction of its work done per unit of time. LB_p, UB_p: earliest and latest time of the completion at
    position p. UB: sum of completion times of the known schedule. len_e: length of epoch e. span_ep: longest
    time of cell (e, p). Times are measured from the first release date, in thousandths of the horizon.

    Variables
    ---------
    z[j, p], binary: job j has position p. v[p, e], binary: the completion at position p is in epoch e. T[p]:
    time of this completion. l[e, p]: length of cell (e, p). y[j, k, e, p], if job j is released by the
    beginning of epoch e: time for which it runs in mode k in cell (e, p), written y_jk below.

    Objective
    ---------
    Minimize the mean of the T[p] minus the mean of the release dates, in seconds.

    Constraints
    -----------
    job[j]: sum_p z[j, p] = 1. position[p]: sum_j z[j, p] = 1. epoch[p]: sum_e v[p, e] = 1. succession[p, e]:
    sum_{f <= e} v[p, f] <= sum_{f <= e} v[p - 1, f]. order[i, j, p], if job i is known to complete no later
    than job j: sum_{q <= p} z[j, q] <= sum_{q < p} z[i, q]. time[p]: T[p] = sum_{e, q <= p} l[e, q]. after[p],
    before[p]: T[p] is in its epoch and between LB_p and UB_p. earliest[p], latest[p]: sum_j b_j z[j, p] <= T[p]
    <= sum_j D_j z[j, p]. limit: sum_p T[p] <= UB. length[e], except for the last epoch: sum_p l[e, p] = len_e.
    opened[e, p], except for p = 0: l[e, p] <= span_ep sum_{f <= e} v[p - 1, f]. closed[e, p]: l[e, p] <=
    span_ep sum_{f >= e} v[p, f].

    alone[j, e, p]: sum_k y_jk <= l. area[e, p]: sum_{j, k} g_jk y_jk <= M l. groups[K, i, e, p]: sum_{j, k}
    h_jk y_jk <= floor(M / K) l, where K > 1 is a power of two or a divisor of M. Here, h_jk is g_jk / K,
    rounded up if j = i and K divides M, and otherwise rounded down.

    work[j]: the s_jk y_jk of job j in all cells add up to 1. until[j, p]: those in cells of position p add up
    to at most sum_{q >= p} z[j, q]. enough[j, p]: those in cells of positions up to p add up to at least
    sum_{q <= p} z[j, q].

    Size
    ----
    For n jobs with m modes, E epochs and G values of K: at most n (n + E) binaries, and about n^2 E m other
    columns and n^2 (E G + E + 2) rows. `Unsupported` is raised for more than 15 jobs that have to be scheduled
    together, or more than 12,000 columns y.

    Source
    ------
    The model is gsopt's own, for the problem of Ares, Eq. 1. The rows `area` go back to McNaughton, Management
    Science 6 (1959).

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
        """Return a message about a job that cannot meet its deadline even if run alone, or an empty string."""
        if problem.deadlines is not None:
            for task, due in zip(problem.tasks, problem.deadlines, strict=True):
                if (soonest := task.release + task.height) > due:
                    at = float(soonest + problem.origin)
                    return f"job {task.name!r} cannot complete before {at:g}, after its deadline"
        return ""

    def build(self, problem: Scheduling) -> Any:
        """Build the Pyomo model, without the rows that are added on demand.

        Raises `Unsupported` if preemption is not allowed, if there are more than 15 jobs or more than 12,000
        times to decide (one per job, mode and cell), or if times differ too much in scale.
        """
        return _model(Cells.of(_positions(problem, _known(problem, Budget()))))

    def standard_form(self, problem: Scheduling) -> StandardForm:
        """Return the same model as `build`, assembled directly as arrays."""
        return cell_form(Cells.of(_positions(problem, _known(problem, Budget()))))

    def extract(self, values: Mapping[str, float], problem: Scheduling) -> SchedulingSolution:
        """Return the best schedule found for the order of events in the column values, or for a nearby order.

        Raises `ModelMismatch` if no schedule has the order in the column values.
        """
        positions = _positions(problem, _known(problem, Budget()))
        plan = plan_of(positions, values, Budget())
        if plan is None:
            raise ModelMismatch(f"{self.name}: no schedule has the order of events of the model's solution")
        return replay(positions.instance, plan.steps).solution

    def encode(self, solution: SchedulingSolution, problem: Scheduling) -> Mapping[str, float]:
        """Return the non-zero column values of a schedule, keyed by column name."""
        positions = _positions(problem, _known(problem, Budget()))
        return encode(positions, replay(positions.instance, steps_of(positions.instance, solution)))

    def run(self, problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
        """Solve the model, repeatedly if solutions are cut off, and judge the best schedule.

        Groups of jobs that can complete before the next group is released are solved separately. Raises
        `Unsupported` as `build` does for any of these groups, or if the backend does not support continuous
        columns.
        """
        return by_blocks(problem, budget, self._run_block, method=self.name)

    def _run_block(self, problem: Scheduling, budget: Budget) -> Result[SchedulingSolution]:
        obstacle = self.obstacle(problem)
        if obstacle:
            return Result.judged(
                problem, method=self.name, infeasible=True, message=obstacle, runtime=budget.runtime
            )
        best = _known(problem, budget)
        positions = _positions(problem, best)
        if positions.contradict and refuted(best.instance, budget=budget):
            best.infeasible = "too few jobs can be complete at some deadline"
            return best.result(StoppedBy.FINISHED)
        if positions.contradict:  # only by rounding
            return best.result(StoppedBy.FINISHED)
        best.raise_bound(sum(positions.lower))
        search = PositionSearch(best, positions, budget)
        search.run()
        return best.result(search.stopped_by, solver=search.solver, message=search.message)


milp = Milp()


def _known(problem: Scheduling, budget: Budget) -> BestSchedule:
    """Return the best schedule among the budget's start and those found by local search."""
    if not problem.preemptive:
        raise Unsupported("milp: the problem must allow preemption")
    instance = Instance.of(problem)
    if len(instance) > _MOST_JOBS:
        raise Unsupported(f"milp: {len(instance)} jobs: the reference model takes at most {_MOST_JOBS}")
    best = BestSchedule(problem, instance, budget, Milp.name)
    best.take_start()
    for plan in good_plans(instance, budget):
        best.take(plan)
        if best.asked_to_stop:
            break
    return best


def _positions(problem: Scheduling, best: BestSchedule) -> Positions:
    return Positions.of(problem, best.instance, best.limit)


def _model(cells: Cells) -> Any:
    """Build the Pyomo model for the given cells."""
    import pyomo.environ as pyo

    positions = cells.positions
    instance, window = positions.instance, positions.window
    jobs = range(len(instance))
    model = pyo.ConcreteModel()
    model.z = pyo.Var(list(cells.places), domain=pyo.Binary)
    model.v = pyo.Var(list(cells.epochs), domain=pyo.Binary)
    model.T = pyo.Var(jobs, bounds=lambda _, p: window[p])
    model.l = pyo.Var(list(positions.cells), bounds=lambda _, e, p: (0, positions.cells[e, p]))
    model.y = pyo.Var(
        [(j, k, *cell) for cell, items in cells.times.items() for j, k in items], domain=pyo.NonNegativeReals
    )
    _add_positions(model, cells)
    _add_cells(model, cells)
    _add_capacity(model, cells)
    _add_work(model, cells)
    model.cost = pyo.Objective(
        expr=(positions.unit * pyo.quicksum(model.T.values()) - instance.released) / len(instance)
    )
    return model


def _add_positions(model: Any, cells: Cells) -> None:
    """Add rows that assign a position to every job, and an epoch and a time to every position."""
    import pyomo.environ as pyo

    positions, instance = cells.positions, cells.positions.instance
    jobs, epochs = range(len(instance)), range(len(positions.epochs))
    first = [positions.time(low) for low, _ in positions.windows.spans]
    last = [positions.time(high) for _, high in positions.windows.spans]
    model.job = pyo.Constraint(jobs, rule=lambda m, j: sum(m.z[i, p] for i, p in m.z if i == j) == 1)
    model.position = pyo.Constraint(jobs, rule=lambda m, p: sum(m.z[j, q] for j, q in m.z if q == p) == 1)
    model.epoch = pyo.Constraint(jobs, rule=lambda m, p: sum(m.v[q, e] for q, e in m.v if q == p) == 1)
    model.succession = pyo.Constraint(
        jobs[1:], epochs[:-1], rule=lambda m, p, e: _unless_empty(_by(m, p - 1, e) - _by(m, p, e) >= 0)
    )
    model.order = pyo.Constraint(
        [(*pair, p) for pair, p in product(positions.windows.needed, jobs)],
        rule=lambda m, i, j, p: _unless_empty(_up_to(m, j, p) - _up_to(m, i, p - 1) <= 0),
    )
    model.time = pyo.Constraint(
        jobs, rule=lambda m, p: m.T[p] == sum(m.l[cell] for cell in positions.cells if cell[1] <= p)
    )
    model.after = pyo.Constraint(
        jobs,
        rule=lambda m, p: m.T[p] >= sum(positions.part(e, p)[0] * m.v[q, e] for q, e in m.v if q == p),
    )
    model.before = pyo.Constraint(
        jobs,
        rule=lambda m, p: m.T[p] <= sum(positions.part(e, p)[1] * m.v[q, e] for q, e in m.v if q == p),
    )
    model.earliest = pyo.Constraint(
        jobs, rule=lambda m, p: m.T[p] >= sum(first[j] * m.z[j, q] for j, q in m.z if q == p)
    )
    model.latest = pyo.Constraint(
        jobs if max(last) < inf else [],
        rule=lambda m, p: m.T[p] <= sum(last[j] * m.z[j, q] for j, q in m.z if q == p),
    )
    if isfinite(positions.total):
        model.limit = pyo.Constraint(expr=sum(model.T.values()) <= positions.time(positions.total))


def _by(model: Any, position: int, epoch: int) -> Any:
    """Return an expression that is 1 if the completion at a position is in an epoch or earlier."""
    return sum(model.v[p, e] for p, e in model.v if p == position and e <= epoch)


def _up_to(model: Any, job: int, position: int) -> Any:
    """Return an expression that is 1 if a job has the given position or an earlier one."""
    return sum(model.z[j, p] for j, p in model.z if j == job and p <= position)


def _unless_empty(row: Any) -> Any:
    """Return a row, or `Feasible` if it has no columns."""
    import pyomo.environ as pyo

    return pyo.Constraint.Feasible if isinstance(row, bool) else row


def _add_cells(model: Any, cells: Cells) -> None:
    """Add rows that make the cells fill the epochs, each between the completions that bound it."""
    import pyomo.environ as pyo

    positions, span = cells.positions, cells.positions.cells
    lengths = [end - begin for begin, end in positions.epochs]
    model.length = pyo.Constraint(
        range(len(lengths) - 1), rule=lambda m, e: sum(m.l[cell] for cell in span if cell[0] == e) == lengths[e]
    )
    model.opened = pyo.Constraint(
        [cell for cell in span if cell[1] > 0],
        rule=lambda m, e, p: m.l[e, p] <= span[e, p] * sum(m.v[q, f] for q, f in m.v if q == p - 1 and f <= e),
    )
    model.closed = pyo.Constraint(
        list(span),
        rule=lambda m, e, p: m.l[e, p] <= span[e, p] * sum(m.v[q, f] for q, f in m.v if q == p and f >= e),
    )


def _add_capacity(model: Any, cells: Cells) -> None:
    """Add rows that limit the modes in every cell to those that fit on the GPUs together."""
    import pyomo.environ as pyo

    instance = cells.positions.instance
    busy = {cell: items for cell, items in cells.times.items() if items}
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
        [(size, i, *cell) for cell, items in busy.items() for size, i in groups(instance, items)],
        rule=lambda m, size, i, e, p: (
            pyo.quicksum(
                count * m.y[j, k, e, p]
                for j, k in busy[e, p]
                if (count := taken(instance.modes[j][k].gpus, size, whole=j == i and instance.gpus % size == 0))
            )
            <= instance.gpus // size * m.l[e, p]
        ),
    )


def _add_work(model: Any, cells: Cells) -> None:
    """Add rows that require every job's work to be done after its arrival and up to its position."""
    import pyomo.environ as pyo

    jobs = range(len(cells.positions.instance))
    done: dict[tuple[int, int], Any] = {
        (j, p): pyo.quicksum(
            cells.share[j][k] * model.y[j, k, *cell]
            for cell, items in cells.times.items()
            if cell[1] == p
            for i, k in items
            if i == j
        )
        for j in jobs
        for p in jobs
    }
    model.work = pyo.Constraint(jobs, rule=lambda _, j: sum(done[j, p] for p in jobs) == 1)
    model.until = pyo.Constraint(
        jobs,
        jobs[1:],
        rule=lambda m, j, p: _unless_empty(done[j, p] <= sum(m.z[i, q] for i, q in m.z if i == j and q >= p)),
    )
    model.enough = pyo.Constraint(
        jobs,
        jobs[:-1],
        rule=lambda m, j, p: _unless_empty(sum(done[j, q] for q in jobs[: p + 1]) >= _up_to(m, j, p)),
    )
