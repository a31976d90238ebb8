"""Reduced: the mixed-integer program that remains after merging identical jobs and servers."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from formulations.reclaiming.at_once import at_once
from formulations.reclaiming.reduction import Reduction, reduce
from gsopt.core.numbers.grid import Exact, Number
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm


class Reduced(Formulation[Reclaiming, ReclaimingSolution]):
    """Minimum k-union over merged jobs and groups of identical servers.

    Sets
    ----
    A job counts as being on a server if the loss of that server preempts it. J: merged jobs, each of which
    comprises the jobs on one set of two or more servers. Jobs on more servers than may be kept are left out,
    because every choice preempts them. G: groups of servers with the same merged jobs and the same own cost.
    J_g: merged jobs on the servers of group g.

    Parameters
    ----------
    N: servers to give back. W_j: total weight of merged job j, where the weight of a job is its cost. m_g:
    servers in group g. The own cost of a server is the total weight of the jobs on this server only. l_g: own
    cost of a server of group g, minus that of the cheapest server. B: N times the cheapest own cost, plus the
    weights of the jobs left out.

    With collateral damage as the second objective, a job's weight is its cost times (1 + GPUs in use on all
    servers), plus its GPUs. The GPUs in use on a server are subtracted from the server's own cost.

    Variables
    ---------
    preempted[j] binary; returned[g] integer in 0..m_g.

    Objective
    ---------
    Minimize B plus the sum of W_j preempted[j] and l_g returned[g].

    Constraints
    -----------
    demand: the returned[g] add up to N.

    vacate[g, j]: returned[g] <= m_g preempted[j] for j in J_g.

    Size
    ----
    |J| + |G| columns and 1 + sum |J_g| rows.

    Source
    ------
    Aryl, section 4 and Appendix B. The optimum of the relaxation, as a function of N, is the lower convex hull
    of the minimum cost. The reason is that the matrix without the row `demand` is totally unimodular, with
    returned[g] in units of m_g.

    Raises
    ------
    Unsupported
        A job survives the loss of any one of several servers, but not of all of them, or collateral damage
        depends on flexible workers.

    Examples
    --------
    >>> import gsopt
    >>> reduced(gsopt.load("reclaiming/aryl-figure-5")).objective
    1
    """

    name: ClassVar[str] = "reduced"

    def build(self, problem: Reclaiming) -> Any:
        """Build the Pyomo model."""
        import pyomo.environ as pyo

        reduction = reduce(problem).net()
        groups = reduction.groups
        weights, own, base = prices(reduction)
        model = pyo.ConcreteModel()
        model.preempted = pyo.Var(range(len(weights)), domain=pyo.Binary)
        model.returned = pyo.Var(
            range(len(groups)),
            domain=pyo.NonNegativeIntegers,
            bounds=lambda _, g: (0, len(groups[g].servers)),
        )
        model.cost = pyo.Objective(
            expr=float(base)
            + sum(float(weights[j]) * model.preempted[j] for j in model.preempted)
            + sum(float(own[g]) * model.returned[g] for g in model.returned)
        )
        model.demand = pyo.Constraint(expr=pyo.quicksum(model.returned.values()) == reduction.demand)
        model.vacate = pyo.Constraint(
            [(g, j) for g, group in enumerate(groups) for j in group.jobs],
            rule=lambda m, g, j: m.returned[g] <= len(groups[g].servers) * m.preempted[j],
        )
        return model

    def at_once(self, problem: Reclaiming) -> tuple[ReclaimingSolution, Exact]:
        """Return a greedy choice and a quick bound (`formulations.reclaiming.at_once.at_once`)."""
        return at_once(problem)

    def standard_form(self, problem: Reclaiming) -> StandardForm:
        """Return the same model as `build`, assembled directly as arrays."""
        return arrays(reduce(problem).net())

    def exact_costs(self, problem: Reclaiming, form: StandardForm) -> Sequence[Number]:
        """Return the exact costs of the columns: the weights of the jobs, then the own costs of the groups."""
        del form
        weights, own, _ = prices(reduce(problem).net())
        return [*weights, *own]

    def exact_offset(self, problem: Reclaiming, form: StandardForm) -> Number:
        """Return the objective's constant, which is the cost that every choice has."""
        del form
        return prices(reduce(problem).net())[2]

    def extract(self, values: Mapping[str, float], problem: Reclaiming) -> ReclaimingSolution:
        """Read the number of servers by group from the column values, and choose the first ones of each."""
        reduction = reduce(problem).net()
        counts = [round(values[f"returned[{g}]"]) for g in range(len(reduction.groups))]
        return reduction.lift(counts, problem)

    def encode(self, solution: ReclaimingSolution, problem: Reclaiming) -> Mapping[str, float]:
        """Return the column values of a solution: returned servers by group, and preempted merged jobs."""
        reduction = reduce(problem).net()
        form = arrays(reduction)
        return form.named(point(reduction, reduction.counts(solution, problem)))


def prices(reduction: Reduction) -> tuple[list[Number], list[Number], Number]:
    """Return the exact job weights, own costs of groups, and constant of the problem's objective."""
    unit = reduction.unit
    weights: list[Number] = [unit * weight for weight in reduction.weights]
    own: list[Number] = [unit * group.cost for group in reduction.groups]
    return weights, own, reduction.number(reduction.paid)


def arrays(reduction: Reduction) -> StandardForm:
    """Return a reduction as a mixed-integer program, with a column per merged job and then one per group."""
    jobs, groups = len(reduction.weights), len(reduction.groups)
    sizes = np.array([len(group.servers) for group in reduction.groups], dtype=np.float64)
    pairs = [(g, j) for g, group in enumerate(reduction.groups) if group.servers for j in group.jobs]
    group, job = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    rows = np.arange(1, len(pairs) + 1)
    weights, own, base = prices(reduction)
    entries = np.concatenate([np.ones(groups), np.ones(len(pairs)), -sizes[group]])
    across = np.concatenate([jobs + np.arange(groups), jobs + group, job])
    down = np.concatenate([np.zeros(groups, dtype=np.int64), rows, rows])
    return StandardForm.build(
        cost=[float(cost) for cost in (*weights, *own)],
        matrix=csr_array((entries, (down, across)), shape=(len(pairs) + 1, jobs + groups)),
        row_lower=np.concatenate([[reduction.demand], np.full(len(pairs), -np.inf)]),
        row_upper=np.concatenate([[reduction.demand], np.zeros(len(pairs))]),
        column_upper=np.concatenate([np.ones(jobs), sizes]),
        columns=(*(f"preempted[{j}]" for j in range(jobs)), *(f"returned[{g}]" for g in range(groups))),
        rows=("demand", *(f"vacate[{g},{j}]" for g, j in pairs)),
        offset=float(base),
    )


def point(reduction: Reduction, counts: list[int]) -> NDArray[np.float64]:
    """Convert counts by group to column values of `arrays`."""
    preempted = np.zeros(len(reduction.weights))
    for group, count in zip(reduction.groups, counts, strict=True):
        if count:
            preempted[list(group.jobs)] = 1.0
    return np.concatenate([preempted, counts])


reduced = Reduced()
