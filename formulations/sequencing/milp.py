"""MILP: the reference model, which has a binary variable for each job at each position on each machine."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from formulations.sequencing.case import SequencingCase
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, Number, decimal
from gsopt.problems.sequencing import Sequences, Sequencing
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: Maximum number of columns. With more, Pyomo takes minutes to build the model.
_MOST_COLUMNS = 200_000

#: A job, a machine, and a position that is counted from the end, starting at 1.
Position = tuple[int, int, int]


class Milp(Formulation[Sequencing, Sequences]):
    """One binary variable for each job at each position on each machine that can run it.

    Sets
    ----
    J: jobs. I: machines. k = 1 ... |J|: positions, counted from the end.

    Parameters
    ----------
    p_ji: seconds of job j on machine i. a_i: seconds until machine i is free.

    Variables
    ---------
    stands_jik in {0, 1}: job j is the k-th last on machine i.

    Objective
    ---------
    min sum_{j, i, k} (k p_ji + a_i) stands_jik

    Constraints
    -----------
    once: sum_{i, k} stands_jik = 1 for every j in J.

    alone: sum_j stands_jik <= 1 for every i in I and k.

    A solution may leave positions empty. Moving earlier jobs into them never costs more.

    Size
    ----
    |J|^2 |I| columns if every job can run on every machine, |J| + |I| |J| rows, and two entries per column. The
    matrix is the incidence matrix of a bipartite graph and hence totally unimodular. Models with more than
    200,000 columns are rejected.

    Source
    ------
    AlloX (EuroSys 2020), section 4.2; W. Horn, Minimizing average flow time with parallel machines (1973).

    Examples
    --------
    >>> from instances.sequencing import unit_jobs
    >>> result = milp(unit_jobs(jobs=6, gpus=1, seed=1))
    >>> result.status, result.objective == result.bound
    (<Status.OPTIMAL: 'optimal'>, True)
    """

    name: ClassVar[str] = "milp"

    def build(self, problem: Sequencing) -> Any:
        """Build the Pyomo model."""
        from pyomo.environ import Binary, ConcreteModel, Constraint, Objective, Var, quicksum

        costs = _costs(problem)
        of_job: dict[int, list[Position]] = {}
        of_place: dict[tuple[int, int], list[Position]] = {}
        for position in costs:
            of_job.setdefault(position[0], []).append(position)
            of_place.setdefault(position[1:], []).append(position)
        model = ConcreteModel(problem.name or "sequencing")
        model.stands = Var(list(costs), domain=Binary)
        model.total = Objective(expr=quicksum(float(cost) * model.stands[key] for key, cost in costs.items()))
        model.once = Constraint(list(of_job), rule=lambda m, j: _sum(m, of_job[j]) == 1)
        model.alone = Constraint(list(of_place), rule=lambda m, i, k: _sum(m, of_place[i, k]) <= 1)
        return model

    def exact_costs(self, problem: Sequencing, form: StandardForm) -> Sequence[Number]:
        """Return the exact costs of the columns, as integers or fractions."""
        costs = {_column(*position): cost for position, cost in _costs(problem).items()}
        return [costs[column] for column in form.columns]

    def at_once(self, problem: Sequencing) -> tuple[Sequences, Number]:
        """Return the shortest-job-first solution, and a bound that ignores contention."""
        case = SequencingCase(problem)
        return case.greedy(), case.bound

    def extract(self, values: Mapping[str, float], problem: Sequencing) -> Sequences:
        """Read the order of jobs on each machine from the column values."""
        chosen = [position for position in _positions(problem) if values.get(_column(*position), 0.0) == 1]
        order: dict[str, list[str]] = {}
        for job, machine, _ in sorted(chosen, key=lambda position: -position[2]):
            order.setdefault(problem.machines[machine].name, []).append(problem.jobs[job].name)
        return Sequences(order=order)

    def encode(self, solution: Sequences, problem: Sequencing) -> Mapping[str, float]:
        """Return the non-zero column values of a solution, keyed by column name."""
        machines = len(problem.machines)
        return {
            _column(job, column % machines, column // machines + 1): 1.0
            for job, column in SequencingCase(problem).columns(solution)
        }


def _costs(problem: Sequencing) -> dict[Position, Exact]:
    """Return the exact cost of each job at each position."""
    own = [
        {
            i: decimal(job.seconds[m.gpu_type])
            for i, m in enumerate(problem.machines)
            if m.gpu_type in job.seconds
        }
        for job in problem.jobs
    ]
    free = [decimal(machine.available) for machine in problem.machines]
    return {(j, i, k): k * own[j][i] + free[i] for j, i, k in _positions(problem)}


def _positions(problem: Sequencing) -> Iterator[Position]:
    """Return all positions: each job, each machine that can run it, and each place in that machine's order.

    Raises `Unsupported` if there are too many positions.
    """
    pairs = [
        (j, i)
        for j, job in enumerate(problem.jobs)
        for i, machine in enumerate(problem.machines)
        if machine.gpu_type in job.seconds
    ]
    jobs = len(problem.jobs)
    if len(pairs) * jobs > _MOST_COLUMNS:
        raise Unsupported(f"milp has {len(pairs) * jobs:,} columns, can have {_MOST_COLUMNS:,}")
    return ((j, i, k) for j, i in pairs for k in range(1, jobs + 1))


def _sum(model: Any, positions: Sequence[Position]) -> Any:
    return sum(model.stands[position] for position in positions)


def _column(job: int, machine: int, place: int) -> str:
    return f"stands[{job},{machine},{place}]"


milp = Milp()
