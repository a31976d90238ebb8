"""Linear: the linear programs for one level and for sums, solved in double precision with their prices."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array

from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.numbers.tolerances import LEAST_COEFFICIENT, LEAST_TOLERANCE
from gsopt.core.problem import Sense
from gsopt.core.result import StoppedBy
from gsopt.problems.shares import Shares
from gsopt.solvers.backends import Highs
from gsopt.solvers.backends.base import Answer as Solved
from gsopt.solvers.backends.base import Vector
from gsopt.solvers.standard_form import StandardForm

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink

#: Maximum factor. If needs can be met more often than this, some of them are too small for a solver, and the
#: level has to be raised.
MOST = 1e6

Reals = NDArray[np.float64]


class LinearSolution(NamedTuple):
    """The solution of a linear program: shares, prices, and the multiple of the needs that the shares meet."""

    # shares that satisfy the rules up to the solver's tolerance, by job and type
    shares: Mapping[str, Mapping[str, float]]
    jobs: Sequence[Exact]  # price of one step per second of each job, at least 0
    gpus: Mapping[str, Exact]  # price of a GPU of each type, at least 0
    factor: float  # how many times the needs are met; 0 for sums


def meet(
    problem: Shares, needs: Sequence[Exact], budget: Budget, *, settled: Collection[int] = ()
) -> LinearSolution | None:
    """Return the shares that meet the largest multiple of all needs, up to `MOST`, or None if time runs out.

    For the jobs in `settled`, given by index, it suffices to meet the need itself, whatever the multiple is.

    Sets: jobs m; types t on which each can run. Parameters: d_m: need of job m; u_mt = d_m / a_mt: its share if
    type t alone meets the need; z_m, M_t: GPUs of a job and of a type. Variables: s_mt: part of the need that
    type t meets, which takes the share u_mt s_mt; v: the factor. Objective: max v. Constraints: sum_t s_mt >= v
    for every job, but >= 1 for settled ones; sum_t u_mt s_mt <= 1; sum_m z_m u_mt s_mt / M_t <= 1. Size: one
    column per job and type on which it can run, and one for v; two rows per job and one per type. Source:
    Gavel, section 4.1.
    """
    table = _PairTable(problem)
    full = np.array([float(need) for need in needs])[table.job] / table.rate
    meeting, using = np.minimum(1.0, 1 / full), np.minimum(1.0, full)
    count = len(problem.jobs)
    moving = np.array([0.0 if place in settled else -1.0 for place in range(count)])
    cover = csr_array((meeting, (table.job, np.arange(table.size))), shape=(count, table.size))
    limits = table.limits(using)
    rows = block_array([[cover, csr_array(moving[:, None])], [limits, None]], format="csr")
    form = StandardForm.build(
        cost=np.append(np.zeros(table.size), 1.0),
        matrix=rows,
        row_lower=np.concatenate([1.0 + moving, np.full(rows.shape[0] - count, -inf)]),
        row_upper=np.concatenate([np.full(count, inf), np.ones(rows.shape[0] - count)]),
        column_upper=np.append(np.full(table.size, inf), MOST),
        integer=np.zeros(table.size + 1, dtype=np.bool_),
        sense=Sense.MAXIMIZE,
    )
    solved = _solve(form, budget)
    if solved is None:
        return None
    values, duals = solved
    prices = [
        decimal(max(0.0, -price) / float(need)) for price, need in zip(duals.tolist(), needs, strict=False)
    ]
    return LinearSolution(table.shares(values[:-1] * using), prices, table.prices(duals), float(values[-1]))


def earn(problem: Shares, worths: Sequence[Exact], budget: Budget) -> LinearSolution | None:
    """Return the shares with the highest total value of throughputs, or None if the time limit is reached.

    The program has only the last two constraints of `meet`. Its columns are the shares x_mt themselves, and its
    objective is max sum_{m, t} y_m a_mt x_mt, where y_m (in `worths`) is the value of one step per second of
    job m.
    """
    table = _PairTable(problem)
    cost = np.array([float(worth) for worth in worths])[table.job] * table.rate
    largest = cost.max()
    limits = table.limits(np.ones(table.size))
    form = StandardForm.build(
        cost=cost / largest,
        matrix=limits,
        row_lower=np.full(limits.shape[0], -inf),
        row_upper=np.ones(limits.shape[0]),
        integer=np.zeros(table.size, dtype=np.bool_),
        sense=Sense.MAXIMIZE,
    )
    solved = _solve(form, budget)
    if solved is None:
        return None
    values, duals = solved
    return LinearSolution(table.shares(values), worths, table.prices(duals * largest), 0.0)


@dataclass(frozen=True)
class Precise(Highs):
    """HiGHS with its smallest tolerances, because its default ones exceed the allowed error of a value."""

    def request(
        self, form: StandardForm, *, time_limit: float | None, gap: float, start: Vector | None
    ) -> tuple[Callable[[Any, "ParentLink"], Solved], Any]:
        """Return the function that the worker calls, and its arguments with options for small tolerances."""
        function, task = super().request(form, time_limit=time_limit, gap=gap, start=start)
        tolerances = dict.fromkeys(
            ("primal_feasibility_tolerance", "dual_feasibility_tolerance"), LEAST_TOLERANCE
        )
        kept = {"small_matrix_value": LEAST_COEFFICIENT}
        return function, task._replace(options=task.options | tolerances | kept)


class _PairTable:
    """The pairs of a job and a type on which it can run, with one column for each pair."""

    def __init__(self, problem: Shares) -> None:
        self.problem, self.kinds = problem, list(problem.gpus)
        pairs = [
            (place, self.kinds.index(kind), float(rate))
            for place, job in enumerate(problem.jobs)
            for kind, rate in problem.rates[job.name].items()
        ]
        self.size = len(pairs)
        self.job = np.array([job for job, _, _ in pairs])
        self.kind = np.array([kind for _, kind, _ in pairs])
        self.rate = np.array([rate for _, _, rate in pairs])

    def limits(self, using: Reals) -> csr_array:
        """Return the rows that limit each job's time and each type's GPUs.

        `using` holds, for each column, the time that one unit of it takes.
        """
        count, at = len(self.problem.jobs), np.arange(self.size)
        gpus = np.array([job.gpus for job in self.problem.jobs], dtype=np.float64)
        counts = np.array([self.problem.gpus[kind] for kind in self.kinds], dtype=np.float64)
        factors = np.concatenate([using, using * gpus[self.job] / counts[self.kind]])
        places = np.concatenate([self.job, count + self.kind]), np.concatenate([at, at])
        return csr_array((factors, places), shape=(count + len(self.kinds), self.size))

    def shares(self, values: Reals) -> dict[str, dict[str, float]]:
        """Return shares keyed by the name of the job and then of the type."""
        found: dict[str, dict[str, float]] = {job.name: {} for job in self.problem.jobs}
        for job, kind, value in zip(self.job.tolist(), self.kind.tolist(), values.tolist(), strict=True):
            found[self.problem.jobs[job].name][self.kinds[kind]] = value
        return found

    def prices(self, duals: Reals) -> dict[str, Exact]:
        """Return the price of a GPU of each type, which follows from the duals of the last rows."""
        own = duals[-len(self.kinds) :].tolist()
        return {
            kind: decimal(max(0.0, price) / self.problem.gpus[kind])
            for kind, price in zip(self.kinds, own, strict=True)
        }


def _solve(form: StandardForm, budget: Budget) -> tuple[Reals, Reals] | None:
    """Solve a linear program, and return its column values and row duals, or None if time runs out."""
    outcome = Precise().solve(form, time_limit=budget.left(), log=budget.log)
    if outcome.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    if outcome.values is None or outcome.duals is None:
        return None
    return outcome.values, outcome.duals
