"""MILP: the reference model, a multiple-choice knapsack whose items are numbers of extra workers."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import coo_array

from formulations.allocation.groups import Groups, fitting_extras
from gsopt.core.problem import Number, Sense
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm


class Milp(Formulation[Allocation, AllocationSolution]):
    r"""The reference model: a multiple-choice knapsack whose items are numbers of extra workers.

    Sets
    ----
    W_j: numbers of extra workers above 0 that are allowed for job j and fit. J: jobs with a non-empty W_j.

    Parameters
    ----------
    v_jw: reduction of the running time of j by w extra workers. D_j: GPUs per worker of j. C: GPUs left once
    every queued job is started.

    Variables
    ---------
    take_jw in {0, 1}: job j gets w extra workers.

    Objective
    ---------
    max sum_{j, w} v_jw take_jw

    Constraints
    -----------
    one: sum_w take_jw <= 1 for every j in J.

    fits: sum_{j, w} w D_j take_jw <= C.

    Size
    ----
    sum_j |W_j| binary columns, |J| + 1 rows, two entries per column.

    Source
    ------
    Aryl, section 5.2 and Appendix D, Algorithm 2, lines 10-21. The weight of w extra workers is w D_j, not (w +
    min_workers) D_j as printed in line 17: the first phase has already paid for the minimum workers.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> result = milp(Allocation(capacity=4, jobs=[a, b]))
    >>> result.objective, result.solution.extra
    (86, {'A': 1, 'B': 3})
    """

    name: ClassVar[str] = "milp"

    def obstacle(self, problem: Allocation) -> str:
        """Return a message about the first queued job that cannot start, or an empty string."""
        return problem.obstacle

    def build(self, problem: Allocation) -> Any:
        """Build the Pyomo model."""
        from pyomo.environ import Binary, ConcreteModel, Constraint, Expression, Objective, Set, Var, maximize

        jobs = problem.jobs
        workers = [_extras(job, problem) for job in jobs]
        model = ConcreteModel(problem.name or "allocation")
        model.J = Set(initialize=[j for j, counts in enumerate(workers) if counts])
        model.JW = Set(dimen=2, initialize=[(j, w) for j, counts in enumerate(workers) for w in counts])
        model.take = Var(model.JW, domain=Binary)
        saved = sum(float(jobs[j].value(w)) * model.take[j, w] for j, w in model.JW)
        model.saved = Objective(expr=saved, sense=maximize)
        model.one = Constraint(model.J, rule=lambda model, j: sum(model.take[j, w] for w in workers[j]) <= 1)
        model.gpus = Expression(expr=sum(w * jobs[j].gpus_per_worker * model.take[j, w] for j, w in model.JW))
        model.fits = Constraint(expr=model.gpus <= problem.remaining)
        return model

    def standard_form(self, problem: Allocation) -> StandardForm:
        """Return the same model as `build`, assembled directly as arrays."""
        groups = Groups.of(problem)
        items = np.flatnonzero(groups.extra)
        job = groups.job[items]
        elastic, row = np.unique(job, return_inverse=True)
        last = np.full(items.size, elastic.size)
        entries = np.concatenate((np.ones(items.size), groups.weight[items] * groups.unit))
        places = (np.concatenate((row, last)), np.tile(np.arange(items.size), 2))
        return StandardForm.build(
            cost=groups.value[items],
            matrix=coo_array((entries, places), shape=(elastic.size + 1, items.size)),
            row_lower=np.full(elastic.size + 1, -np.inf),
            row_upper=np.append(np.ones(elastic.size), problem.remaining),
            column_upper=np.ones(items.size),
            columns=tuple(map(_column, job.tolist(), groups.extra[items].tolist())),
            rows=(*(f"one[{j}]" for j in elastic.tolist()), "fits"),
            sense=Sense.MAXIMIZE,
        )

    def exact_costs(self, problem: Allocation, form: StandardForm) -> Sequence[Number]:
        """Return the exact costs of the columns, as integers or fractions."""
        del form
        return [job.value(w) for job in problem.jobs for w in _extras(job, problem)]

    def extract(self, values: Mapping[str, float], problem: Allocation) -> AllocationSolution:
        """Read the extra workers of each job from the column values."""
        extra = {
            job.name: w
            for j, job in enumerate(problem.jobs)
            for w in _extras(job, problem)
            if values.get(_column(j, w), 0.0) == 1
        }
        return AllocationSolution(extra=extra)

    def encode(self, solution: AllocationSolution, problem: Allocation) -> Mapping[str, float]:
        """Return the non-zero column values of a solution, keyed by column name."""
        chosen = ((j, solution.extra.get(job.name, 0)) for j, job in enumerate(problem.jobs))
        return {_column(j, w): 1.0 for j, w in chosen if w}


def _extras(job: ElasticJob, problem: Allocation) -> Sequence[int]:
    return fitting_extras(job, problem.remaining // job.gpus_per_worker)


def _column(j: int, w: int) -> str:
    return f"take[{j},{w}]"


milp = Milp()
