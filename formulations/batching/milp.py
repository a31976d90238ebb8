"""MILP: the reference model of batching, a multiple-choice knapsack whose items are numbers of GPUs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from formulations.batching.beginning import bound_alone, first_division
from formulations.batching.case import BatchingCase
from gsopt.core.numbers.grid import Exact, Number, ceil_to, floor_to, step
from gsopt.core.problem import Sense
from gsopt.problems.batching import Batches, Batching
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: Maximum ratio of the largest cost to the common step up to which costs stay exact, which takes eight stages
#: of solving (`gsopt.solvers.scaling`); and the number of steps to which they are rounded otherwise, which
#: takes three stages.
_FINEST, _COARSE = 2**128, 2**40

#: A job and the number of GPUs that it gets.
Item = tuple[int, int]


class Milp(Formulation[Batching, Batches]):
    """One binary variable for each job and number of GPUs, which stands for the best batch size on these GPUs.

    Sets
    ----
    J: jobs. C_j: numbers of GPUs that job j may have. F: jobs that must run.

    Parameters
    ----------
    v_j: term of job j in the objective if it gets no GPUs: the reconfiguration cost (negative if the objective
    is maximized) if it is running now, and otherwise 0. w_jc: its term on c GPUs with its best batch size,
    including any reconfiguration cost, minus v_j. n: number of GPUs or, if as many as possible must be used,
    the largest number that can be used.

    Variables
    ---------
    gets_jc in {0, 1}: job j gets c GPUs.

    Objective
    ---------
    min or max sum_j v_j + sum_{j, c} w_jc gets_jc

    Constraints
    -----------
    one: sum_c gets_jc <= 1 for every j not in F, = 1 for every j in F.

    fits: sum_{j, c} c gets_jc = n, or <= n if GPUs may stay idle.

    Size
    ----
    sum_j |C_j| binary columns, at most |J| + 1 rows, two entries per column.

    Source
    ------
    ONES, Equations 3 and 4. The paper uses all GPUs; here, by default, as many as possible, because batch
    limits may prevent the use of all. Batch sizes (Equation 1) need no variables, because only the best one for
    each number of GPUs matters.

    Examples
    --------
    >>> from gsopt.performance.batching import BatchingJob, StepTime
    >>> model = StepTime(fixed=0.05, per_sample=0.001)
    >>> a = BatchingJob(name="a", batch_limit=512, local_limit=256, throughput=model, remaining=200_000)
    >>> b = BatchingJob(name="b", batch_limit=300, local_limit=100, throughput=model, remaining=90_000)
    >>> result = milp(Batching(gpus=4, jobs=[a, b]))
    >>> result.status, float(result.objective)
    (<Status.OPTIMAL: 'optimal'>, 374.0625)
    """

    name: ClassVar[str] = "milp"

    def build(self, problem: Batching) -> Any:
        """Build the Pyomo model."""
        from pyomo.environ import Binary, ConcreteModel, Constraint, Expression, Objective, Set, Var, minimize
        from pyomo.environ import maximize as most

        worths, offset = _worths(problem)
        of_job: dict[int, list[Item]] = {}
        for item in worths:
            of_job.setdefault(item[0], []).append(item)
        model = ConcreteModel(problem.name or "batching")
        model.JC = Set(dimen=2, initialize=list(worths))
        model.gets = Var(model.JC, domain=Binary)
        total = sum(float(worth) * model.gets[item] for item, worth in worths.items())
        sense = minimize if problem.sense is Sense.MINIMIZE else most
        model.total = Objective(expr=float(offset) + total, sense=sense)
        must = {job for job in of_job if problem.jobs[job].name in problem.required}

        def one(model: Any, job: int) -> Any:
            taken = sum(model.gets[item] for item in of_job[job])
            return taken == 1 if job in must else taken <= 1

        model.one = Constraint(list(of_job), rule=one)
        model.gpus = Expression(expr=sum(gpus * model.gets[job, gpus] for job, gpus in worths))
        if worths:
            whole = problem.use == "all"
            model.fits = Constraint(expr=model.gpus == problem.target if whole else model.gpus <= problem.gpus)
        return model

    def exact_costs(self, problem: Batching, form: StandardForm) -> Sequence[Number]:
        """Return the costs of the items as fractions, rounded if they have no usable common step.

        If completions per second are maximized, nearly every item has a different denominator. The common
        multiple of these denominators can have thousands of digits, and the solver needs one stage per five
        digits. Such costs are rounded in favour of every solution, so that the bound stays valid. For each job,
        this weakens the bound by at most 2^-40 of the largest cost.
        """
        worths = {_column(*item): worth for item, worth in _worths(problem)[0].items()}
        exact = [worths[column] for column in form.columns]
        largest = max((abs(Fraction(worth)) for worth in exact), default=Fraction(0))
        unit = step(exact)
        if unit is None or largest <= unit * _FINEST:
            return exact
        grid = largest / _COARSE
        rounded = floor_to if problem.sense is Sense.MINIMIZE else ceil_to
        return [rounded(worth, grid) for worth in exact]

    def exact_offset(self, problem: Batching, form: StandardForm) -> Number:
        """Return the objective's constant: the total contribution of all jobs if none of them gets GPUs."""
        del form
        return _worths(problem)[1]

    def at_once(self, problem: Batching) -> tuple[Batches, Number]:
        """Return a first allocation, and a bound that ignores contention."""
        case = BatchingCase.of(problem)
        return case.solution(first_division(case)), case.sign * bound_alone(case)

    def extract(self, values: Mapping[str, float], problem: Batching) -> Batches:
        """Read the number of GPUs of each job from the column values, and choose the best batch size for it."""
        counts = np.zeros(len(problem.jobs), dtype=np.int64)
        for job, menu in enumerate(problem.counts):
            for gpus in menu:
                if values.get(_column(job, gpus), 0.0) == 1:
                    counts[job] = gpus
        return BatchingCase.of(problem).solution(counts.tolist())

    def encode(self, solution: Batches, problem: Batching) -> Mapping[str, float]:
        """Return the non-zero column values of a solution, keyed by column name."""
        places = {job.name: place for place, job in enumerate(problem.jobs)}
        return {_column(places[name], grant.gpus): 1.0 for name, grant in solution.running.items()}


def _worths(problem: Batching) -> tuple[dict[Item, Exact], Exact]:
    """Return each item's cost minus its job's cost without GPUs, and the cost of all jobs without GPUs."""
    case = BatchingCase.of(problem)
    idle = [case.sign * case.cost(job, 0) for job in range(len(problem.jobs))]
    worths = {
        (job, gpus): case.sign * case.cost(job, gpus) - idle[job]
        for job, menu in enumerate(problem.counts)
        for gpus in menu
    }
    return worths, sum(idle)


def _column(job: int, gpus: int) -> str:
    return f"gets[{job},{gpus}]"


milp = Milp()
