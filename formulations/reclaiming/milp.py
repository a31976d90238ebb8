"""MILP: the plain mixed-integer program of reclaiming, which covers every variant of the problem."""

from collections.abc import Iterable, Mapping, Sequence
from math import gcd
from typing import Any, ClassVar

import numpy as np

from formulations.common.rows import SparseRows
from formulations.reclaiming.at_once import at_once
from formulations.reclaiming.survival import Survival, survival
from gsopt.core.numbers.grid import Exact, Number, decimal
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm


class Milp(Formulation[Reclaiming, ReclaimingSolution]):
    """Minimum k-union with one binary variable per server and per job.

    Sets
    ----
    S: servers. J: jobs. C_j: servers whose loss alone preempts job j. O_j: the job's other servers.

    Parameters
    ----------
    N: servers to give back. w_j: cost of preempting job j. n_js: its GPUs on server s. F_j: GPUs that it can do
    without. M_j: the most GPUs that it can lose on N servers of O_j. G: GPUs in use on all servers.

    Variables
    ---------
    returned[s] and preempted[j], binary. With collateral damage as the second objective, stranded[j, s],
    binary, for s in O_j: job j is preempted and server s is kept.

    Objective
    ---------
    Minimize the sum of w_j preempted[j]. With collateral damage: minimize (1 + G) times that sum, plus n_js
    (preempted[j] - returned[s]) for s in C_j, plus n_js stranded[j, s] for s in O_j.

    Constraints
    -----------
    demand: the returned[s] add up to N.

    vacate[s, j]: returned[s] <= preempted[j] for s in C_j.

    spare[j], if M_j > F_j: the n_js returned[s] over O_j add up to at most F_j + (M_j - F_j) preempted[j]. The
    row is divided by the greatest common divisor of the n_js, and F_j is rounded down.

    strand[j, s]: stranded[j, s] >= preempted[j] - returned[s].

    Size
    ----
    |S| + |J| columns. The row `demand` and, for each job j, one row for each server in C_j and at most one
    more. With collateral damage, one more column and row for each server in O_j.

    Source
    ------
    Aryl, section 4 and Appendix B.

    Examples
    --------
    >>> import gsopt
    >>> milp(gsopt.load("reclaiming/aryl-figure-5")).objective
    1
    """

    name: ClassVar[str] = "milp"

    def build(self, problem: Reclaiming) -> Any:
        """Build the Pyomo model."""
        import pyomo.environ as pyo

        position = {server.name: index for index, server in enumerate(problem.servers)}
        rules = [survival(job, problem.elasticity) for job in problem.jobs]
        model = pyo.ConcreteModel()
        # Integer though integer jobs would do: only then does HiGHS see that the objective is integral.
        model.returned = pyo.Var(range(len(problem.servers)), domain=pyo.Binary)
        model.preempted = pyo.Var(range(len(problem.jobs)), domain=pyo.Binary)
        model.demand = pyo.Constraint(expr=pyo.quicksum(model.returned.values()) == problem.demand)
        model.vacate = pyo.Constraint(
            [(position[name], j) for j, rule in enumerate(rules) for name in rule.critical],
            rule=lambda m, s, j: m.returned[s] <= m.preempted[j],
        )
        model.spare = pyo.Constraint(
            [j for j, rule in enumerate(rules) if _most_lost(rule, problem.demand) > rule.spare],
            rule=lambda m, j: _spare_row(m, j, rules[j], position, problem.demand),
        )
        cost = pyo.quicksum(job.cost * model.preempted[j] for j, job in enumerate(problem.jobs))
        if problem.second_objective == "collateral":
            cost = (1 + _gpus_in_use(problem)) * cost + _collateral(model, rules, position)
        model.cost = pyo.Objective(expr=cost)
        return model

    def at_once(self, problem: Reclaiming) -> tuple[ReclaimingSolution, Exact]:
        """Return a greedy choice and a quick bound (`formulations.reclaiming.at_once.at_once`)."""
        return at_once(problem)

    def standard_form(self, problem: Reclaiming) -> StandardForm:
        """Return the same model as `build`, assembled directly as arrays."""
        return _arrays(problem)

    def exact_costs(self, problem: Reclaiming, form: StandardForm) -> Sequence[Number]:
        """Return the exact costs of the columns, in the order of the form's columns."""
        costs = _costs(problem)
        return [costs.get(name, 0) for name in form.columns]

    def extract(self, values: Mapping[str, float], problem: Reclaiming) -> ReclaimingSolution:
        """Read the servers to give back from the column values."""
        names = [
            server.name
            for index, server in enumerate(problem.servers)
            if values[f"returned[{index}]"] > 0.5  # noqa: PLR2004 - a rounded binary
        ]
        return ReclaimingSolution(servers=tuple(names))

    def encode(self, solution: ReclaimingSolution, problem: Reclaiming) -> Mapping[str, float]:
        """Return a solution's non-zero column values: returned servers, preempted jobs, stranded workers."""
        returned = set(solution.servers)
        position = {server.name: index for index, server in enumerate(problem.servers)}
        values = {f"returned[{position[name]}]": 1.0 for name in returned}
        for j, job in enumerate(problem.jobs):
            rule = survival(job, problem.elasticity)
            lost = sum(gpus for server, gpus in rule.others.items() if server in returned)
            if lost > rule.spare or not returned.isdisjoint(rule.critical):
                values[f"preempted[{j}]"] = 1.0
                values |= {
                    f"stranded[{j},{position[name]}]": 1.0 for name in rule.others if name not in returned
                }
        return values


def _arrays(problem: Reclaiming) -> StandardForm:
    """Return the model as arrays, with a column for each server, each job and each possibly stranded worker."""
    demand, servers = problem.demand, len(problem.servers)
    position = {server.name: index for index, server in enumerate(problem.servers)}
    rules = [survival(job, problem.elasticity) for job in problem.jobs]
    stranded = _stranded(problem, rules, position)
    first = servers + len(rules)
    rows = SparseRows()
    rows.add("demand", ((server, 1) for server in range(servers)), demand, demand)
    for j, rule in enumerate(rules):
        for server in (position[name] for name in rule.critical):
            rows.add(f"vacate[{server},{j}]", [(server, 1), (servers + j, -1)], upper=0)
        if _most_lost(rule, demand) > rule.spare:
            unit, spare, weight = _spare_numbers(rule, demand)
            lost = [(position[name], gpus // unit) for name, gpus in rule.others.items()]
            rows.add(f"spare[{j}]", [*lost, (servers + j, -weight)], upper=spare)
    for number, (j, server) in enumerate(stranded):
        rows.add(f"strand[{j},{server}]", [(servers + j, 1), (server, -1), (first + number, -1)], upper=0)
    columns = (
        *(f"returned[{server}]" for server in range(servers)),
        *(f"preempted[{j}]" for j in range(len(rules))),
        *(f"stranded[{j},{server}]" for j, server in stranded),
    )
    costs = _costs(problem)
    return StandardForm.build(
        cost=[float(costs.get(name, 0)) for name in columns],
        matrix=rows.matrix(len(columns)),
        row_lower=rows.lower,
        row_upper=rows.upper,
        column_upper=np.ones(len(columns)),
        columns=columns,
        rows=tuple(rows.names),
    )


def _costs(problem: Reclaiming) -> dict[str, Exact]:
    """Return the exact costs of the columns that have a cost, keyed by column name."""
    costs: dict[str, Exact] = {f"preempted[{j}]": decimal(job.cost) for j, job in enumerate(problem.jobs)}
    if problem.second_objective == "none":
        return costs
    position = {server.name: index for index, server in enumerate(problem.servers)}
    weight = 1 + _gpus_in_use(problem)
    for j, job in enumerate(problem.jobs):
        rule = survival(job, problem.elasticity)
        costs[f"preempted[{j}]"] = weight * costs[f"preempted[{j}]"] + sum(rule.critical.values())
        for name, gpus in rule.critical.items():
            returned = f"returned[{position[name]}]"
            costs[returned] = costs.get(returned, 0) - gpus
        costs |= {f"stranded[{j},{position[name]}]": gpus for name, gpus in rule.others.items()}
    return costs


def _stranded(
    problem: Reclaiming, rules: Iterable[Survival], position: Mapping[str, int]
) -> list[tuple[int, int]]:
    """List the (job, server) pairs whose collateral damage needs its own column."""
    if problem.second_objective == "none":
        return []
    return [(j, position[name]) for j, rule in enumerate(rules) for name in rule.others]


def _most_lost(rule: Survival, demand: int) -> int:
    """Return the largest number of GPUs that a job can lose on its other servers."""
    return sum(sorted(rule.others.values(), reverse=True)[:demand])


def _spare_numbers(rule: Survival, demand: int) -> tuple[int, int, int]:
    """Return a unit in GPUs, the number of spare units, and how many more units the job can lose at most."""
    unit = gcd(*rule.others.values())
    spare = rule.spare // unit
    return unit, spare, _most_lost(rule, demand) // unit - spare


def _spare_row(model: Any, j: int, rule: Survival, position: Mapping[str, int], demand: int) -> Any:
    """Return the row that allows larger losses only if the job is preempted."""
    unit, spare, weight = _spare_numbers(rule, demand)
    lost = sum(gpus // unit * model.returned[position[name]] for name, gpus in rule.others.items())
    return lost <= spare + weight * model.preempted[j]


def _gpus_in_use(problem: Reclaiming) -> int:
    return sum(job.gpus for job in problem.jobs)


def _collateral(model: Any, rules: Iterable[Survival], position: Mapping[str, int]) -> Any:
    """Return the expression for the GPUs that preempted jobs leave behind on kept servers."""
    import pyomo.environ as pyo

    known = list(enumerate(rules))
    model.stranded = pyo.Var(
        [(j, position[name]) for j, rule in known for name in rule.others], domain=pyo.Binary
    )
    model.strand = pyo.Constraint(
        list(model.stranded),
        rule=lambda m, j, s: m.stranded[j, s] >= m.preempted[j] - m.returned[s],
    )
    critical = (
        gpus * (model.preempted[j] - model.returned[position[name]])
        for j, rule in known
        for name, gpus in rule.critical.items()
    )
    others = (
        gpus * model.stranded[j, position[name]] for j, rule in known for name, gpus in rule.others.items()
    )
    return pyo.quicksum(critical) + pyo.quicksum(others)


milp = Milp()
