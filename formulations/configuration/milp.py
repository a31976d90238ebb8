"""MILP: the reference model, which chooses at most one configuration for each job."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from formulations.configuration.case import bound_alone, current_configurations, solution_of
from gsopt.core.numbers.grid import Number, decimal
from gsopt.problems.configuration import Configuration, ConfigurationSolution
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm


class Milp(Formulation[Configuration, ConfigurationSolution]):
    """One binary variable for each configuration of each job.

    Sets
    ----
    J: jobs. C_j: configurations allowed for job j; only the current one if the job is pinned. T: GPU types
    that some job can use.

    Parameters
    ----------
    a_jc: cost of job j in configuration c, rounded. l: cost of a job without a configuration. k_c: GPUs of
    configuration c. g_t: GPUs of type t.

    Variables
    ---------
    has_jc in {0, 1}: job j has configuration c. waits_j in {0, 1}: job j has no configuration; fixed at 0 if
    the job is pinned.

    Objective
    ---------
    min sum_j (l waits_j + sum_c a_jc has_jc)

    Constraints
    -----------
    one: waits_j + sum_c has_jc = 1 for every j in J.

    room: sum_j sum_{c of type t} k_c has_jc <= g_t for every t in T.

    Size
    ----
    sum_j |C_j| + |J| binary columns, |J| + |T| rows.

    Source
    ------
    Sia (SOSP 2023), section 3.4, Equations 3-5.

    Examples
    --------
    >>> from instances.configuration import growing_jobs
    >>> milp(growing_jobs(nodes=2, jobs=3, seed=1)).status
    <Status.OPTIMAL: 'optimal'>
    """

    name: ClassVar[str] = "milp"

    def build(self, problem: Configuration) -> Any:
        """Build the Pyomo model."""
        import pyomo.environ as pyo

        costs = {(job, place): cost for job, row in enumerate(problem.costs) for place, cost in row.items()}
        jobs = range(len(problem.jobs))
        model = pyo.ConcreteModel(problem.name or "configuration")
        model.has = pyo.Var(list(costs), domain=pyo.Binary)
        model.waits = pyo.Var(
            jobs, domain=pyo.Binary, bounds=lambda _, job: (0, 0 if problem.jobs[job].pinned else 1)
        )
        model.cost = pyo.Objective(
            expr=pyo.quicksum(problem.penalty * model.waits[job] for job in jobs)
            + pyo.quicksum(float(cost) * model.has[key] for key, cost in costs.items())
        )
        model.one = pyo.Constraint(
            jobs, rule=lambda m, j: m.waits[j] + sum(m.has[j, place] for place in problem.costs[j]) == 1
        )
        model.room = pyo.ConstraintList()
        for kind, gpus in problem.gpus.items():
            held = [
                problem.configurations[place].gpus * model.has[job, place]
                for job, place in costs
                if problem.configurations[place].type == kind
            ]
            if held:
                model.room.add(pyo.quicksum(held) <= gpus)
        return model

    def standard_form(self, problem: Configuration) -> StandardForm:
        """Return the same model as `build`, assembled directly as arrays."""
        jobs, shapes = len(problem.jobs), problem.configurations
        keys = [(job, place) for job, row in enumerate(problem.costs) for place in row]
        job, place = np.array(keys, dtype=np.int64).reshape(-1, 2).T
        types = np.array([list(problem.gpus).index(shape.type) for shape in shapes], dtype=np.int64)
        kinds, row = np.unique(types[place], return_inverse=True)
        gpus = np.array([shape.gpus for shape in shapes], dtype=np.float64)
        columns = np.arange(len(keys) + jobs)
        down = np.concatenate([job, np.arange(jobs), jobs + row])
        across = np.concatenate([columns, columns[: len(keys)]])
        limits = [float(list(problem.gpus.values())[kind]) for kind in kinds]
        return StandardForm.build(
            cost=[
                *(float(cost) for costs in problem.costs for cost in costs.values()),
                *[problem.penalty] * jobs,
            ],
            matrix=csr_array(
                (np.concatenate([np.ones(len(columns)), gpus[place]]), (down, across)),
                shape=(jobs + len(kinds), len(columns)),
            ),
            row_lower=[*[1.0] * jobs, *[-np.inf] * len(kinds)],
            row_upper=[*[1.0] * jobs, *limits],
            column_upper=[*[1.0] * len(keys), *(float(not each.pinned) for each in problem.jobs)],
            columns=(*(f"has[{j},{c}]" for j, c in keys), *(f"waits[{j}]" for j in range(jobs))),
            rows=(*(f"one[{j}]" for j in range(jobs)), *(f"room[{k + 1}]" for k in range(len(kinds)))),
        )

    def exact_costs(self, problem: Configuration, form: StandardForm) -> Sequence[Number]:
        """Return the exact costs of the columns: those of the configurations, then the waiting penalties."""
        del form
        costs = (cost for row in problem.costs for cost in row.values())
        return [*costs, *[decimal(problem.penalty)] * len(problem.jobs)]

    def at_once(self, problem: Configuration) -> tuple[ConfigurationSolution, Number]:
        """Return the current configurations that are allowed and fit, and a bound that ignores contention."""
        return current_configurations(problem), bound_alone(problem)

    def extract(self, values: Mapping[str, float], problem: Configuration) -> ConfigurationSolution:
        """Read the configuration of each job from the column values."""
        places = [
            next((place for place in costs if values.get(f"has[{job},{place}]", 0.0) == 1), None)
            for job, costs in enumerate(problem.costs)
        ]
        return solution_of(problem, places)

    def encode(self, solution: ConfigurationSolution, problem: Configuration) -> Mapping[str, float]:
        """Return the non-zero column values of a solution, keyed by column name."""
        return {
            f"waits[{job}]" if place is None else f"has[{job},{place}]": 1.0
            for job, place in enumerate(problem.places(solution))
        }


milp = Milp()
