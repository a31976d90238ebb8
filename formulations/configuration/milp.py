"""MILP: one configuration at most for each job, the model of record."""

from collections.abc import Mapping
from typing import Any, ClassVar

from formulations.configuration.case import alone, kept, solution_of
from gsopt.formulation import Formulation
from gsopt.grid import Number
from gsopt.problems.configuration import Configuration, ConfigurationSolution


class Milp(Formulation[Configuration, ConfigurationSolution]):
    """One binary variable for each configuration of each job.

    Sets
    ----
    Jobs J; configurations C_j in which job j may be: all in which it runs, or only its own where it is pinned;
    types T.

    Parameters
    ----------
    a_jc: what job j costs in configuration c, rounded. l: what a job without one costs. k_c: GPUs of a
    configuration; g_t: GPUs of a type.

    Variables
    ---------
    has_jc in {0, 1}: job j has configuration c. waits_j in {0, 1}: it has none; 0 where it is pinned.

    Objective
    ---------
    min sum_j (l waits_j + sum_c a_jc has_jc)

    Constraints
    -----------
    one: waits_j + sum_c has_jc = 1.

    room: sum_j sum_{c of type t} k_c has_jc <= g_t.

    Size
    ----
    A column for each configuration of each job and one for each job; |J| + |T| rows.

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

    def at_once(self, problem: Configuration) -> tuple[ConfigurationSolution, Number]:
        """Give what jobs have now, and the bound as if nobody wanted the same GPU."""
        return kept(problem), alone(problem)

    def extract(self, values: Mapping[str, float], problem: Configuration) -> ConfigurationSolution:
        """Read the configuration of each job."""
        places = [
            next((place for place in costs if values.get(f"has[{job},{place}]", 0.0) == 1), None)
            for job, costs in enumerate(problem.costs)
        ]
        return solution_of(problem, places)

    def encode(self, solution: ConfigurationSolution, problem: Configuration) -> Mapping[str, float]:
        """Give a solution as column values by name."""
        return {
            f"waits[{job}]" if place is None else f"has[{job},{place}]": 1.0
            for job, place in enumerate(problem.places(solution))
        }


milp = Milp()
