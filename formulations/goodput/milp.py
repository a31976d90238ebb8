"""MILP: the reference model, which decides each job's numbers of nodes and GPUs, and its GPUs on every node."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

from formulations.goodput.beginning import bound_alone, current_gpus
from formulations.goodput.case import GoodputCase
from gsopt.core.numbers.grid import Exact, Number, floor_to
from gsopt.core.numbers.tolerances import SPEEDUP
from gsopt.problems.goodput import Goodput, GoodputSolution
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: A job, its number of nodes and its number of GPUs.
Shape = tuple[int, int, int]


class Milp(Formulation[Goodput, GoodputSolution]):
    """One binary variable for each shape of each job, and integer variables for its GPUs on each node.

    Sets
    ----
    J: jobs. I: nodes. Shapes (n, k) in which job j can run: n nodes and k GPUs.

    Parameters
    ----------
    c_jnk: cost of job j in shape (n, k) after a restart; a start counts as a restart. d_j: its cost if it keeps
    its current GPUs. e: cost of a job without GPUs. All costs are divided by the number of jobs. Shapes that
    cost at least e are left out. a_ji: current GPUs of j on node i. g_i: GPUs of node i.

    Variables
    ---------
    waits_j in {0, 1}: job j has no GPUs. keeps_j in {0, 1}: job j keeps its current GPUs, if it may. runs_jnk
    in {0, 1}: job j restarts in shape (n, k). gpus_ji, integer: its GPUs on node i after a restart. alone_ji,
    part_ji in {0, 1}: after a restart, node i holds all of the job's GPUs, or only some of them.

    Objective
    ---------
    min sum_j (e waits_j + d_j keeps_j + sum_nk c_jnk runs_jnk)

    Constraints
    -----------
    one: waits_j + keeps_j + sum_nk runs_jnk = 1.

    total: sum_i gpus_ji = sum_nk k runs_jnk.

    single: sum_i alone_ji = sum_k runs_j1k. several: sum_i part_ji = sum_{n > 1, k} n runs_jnk.

    least, most: alone_ji + part_ji <= gpus_ji <= g_i (alone_ji + part_ji).

    room: sum_j (gpus_ji + a_ji keeps_j) <= g_i.

    wide: sum_j part_ji + sum_{j now on i and other nodes} keeps_j <= 1, so that at most one job on node i runs
    on several nodes.

    Size
    ----
    3 |J| |I| columns, up to two more per job, and one per job and shape; 4 |J| + 2 |J| |I| + 2 |I| rows.

    Source
    ------
    Pollux (OSDI 2021), section 4.2, as an integer program. The sum of powers is linear, because each job has
    exactly one shape.

    Examples
    --------
    >>> from instances.goodput import running_jobs
    >>> milp(running_jobs(nodes=2, jobs=3, seed=1)).status
    <Status.OPTIMAL: 'optimal'>
    """

    name: ClassVar[str] = "milp"

    def build(self, problem: Goodput) -> Any:
        """Build the Pyomo model."""
        import pyomo.environ as pyo

        kept, shapes = _kept(problem), _shapes(problem)
        nodes, jobs = range(len(problem.nodes)), range(len(problem.jobs))
        model = pyo.ConcreteModel(problem.name or "goodput")
        model.keeps = pyo.Var(list(kept), domain=pyo.Binary)
        model.runs = pyo.Var(list(shapes), domain=pyo.Binary)
        model.gpus = pyo.Var(
            jobs, nodes, domain=pyo.NonNegativeIntegers, bounds=lambda *key: (0, problem.nodes[key[-1]])
        )
        model.alone = pyo.Var(jobs, nodes, domain=pyo.Binary)
        model.part = pyo.Var(jobs, nodes, domain=pyo.Binary)
        model.waits = pyo.Var(jobs, domain=pyo.Binary)
        model.mean = pyo.Objective(
            expr=pyo.quicksum(float(_idle(problem)) * model.waits[job] for job in jobs)
            + pyo.quicksum(float(cost) * model.keeps[job] for job, cost in kept.items())
            + pyo.quicksum(float(cost) * model.runs[shape] for shape, cost in shapes.items())
        )
        of_job: list[list[Shape]] = [[] for _ in jobs]
        for shape in shapes:
            of_job[shape[0]].append(shape)
        for job in jobs:
            _shape_rows(model, job, of_job[job], nodes)
        model.least = pyo.Constraint(
            jobs, nodes, rule=lambda m, j, i: m.alone[j, i] + m.part[j, i] <= m.gpus[j, i]
        )
        model.most = pyo.Constraint(
            jobs,
            nodes,
            rule=lambda m, j, i: m.gpus[j, i] <= problem.nodes[i] * (m.alone[j, i] + m.part[j, i]),
        )
        for node in nodes if problem.jobs else ():
            _node_rows(model, problem, kept, node)
        return model

    def exact_costs(self, problem: Goodput, form: StandardForm) -> Sequence[Number]:
        """Return the costs of the columns, rounded down so that the bound remains valid.

        Costs have different denominators, and the common multiple of these can have thousands of digits. The
        total loss by rounding is at most a quarter of the largest difference that counts as zero.
        """
        costs = {_column("waits", job): _idle(problem) for job in range(len(problem.jobs))}
        costs |= {_column("keeps", job): cost for job, cost in _kept(problem).items()}
        costs |= {_column("runs", *shape): cost for shape, cost in _shapes(problem).items()}
        grid = (
            Fraction(bound_alone(GoodputCase.of(problem))) * Fraction(SPEEDUP) / (4 * max(len(problem.jobs), 1))
        )
        return [floor_to(costs.get(column, 0), grid) for column in form.columns]

    def at_once(self, problem: Goodput) -> tuple[GoodputSolution, Number]:
        """Return the current allocation, and a bound that ignores contention."""
        case = GoodputCase.of(problem)
        return current_gpus(case), bound_alone(case)

    def extract(self, values: Mapping[str, float], problem: Goodput) -> GoodputSolution:
        """Read the GPUs of each job on every node from the column values."""
        nodes = range(len(problem.nodes))
        vectors = {
            job.name: problem.currents[place]
            if values.get(_column("keeps", place), 0.0) == 1
            else tuple(round(values.get(_column("gpus", place, node), 0.0)) for node in nodes)
            for place, job in enumerate(problem.jobs)
        }
        return GoodputSolution(gpus={name: gpus for name, gpus in vectors.items() if any(gpus)})

    def encode(self, solution: GoodputSolution, problem: Goodput) -> Mapping[str, float]:
        """Return the column values of a solution, keyed by column name; missing columns are 0."""
        values: dict[str, float] = {}
        kept, shapes = _kept(problem), _shapes(problem)
        for job, gpus in enumerate(problem.vectors(solution)):
            shape = (job, sum(map(bool, gpus)), sum(gpus))
            if job in kept and gpus == problem.currents[job]:
                values[_column("keeps", job)] = 1.0
            elif shape in shapes:
                values[_column("runs", *shape)] = 1.0
                stands = "alone" if shape[1] == 1 else "part"
                for node, count in enumerate(gpus):
                    values[_column("gpus", job, node)] = float(count)
                    values[_column(stands, job, node)] = float(count > 0)
            else:
                values[_column("waits", job)] = 1.0
        return values


def _idle(problem: Goodput) -> Exact:
    """Return how much a job without GPUs contributes to the objective."""
    return Fraction(problem.cost(0, 0, 0)) / len(problem.jobs)


def _kept(problem: Goodput) -> dict[int, Exact]:
    """Return how much each job that may keep its current GPUs contributes to the objective by doing so."""
    shapes = ((sum(map(bool, current)), sum(current)) for current in problem.currents)
    return {
        job: Fraction(problem.cost(job, *shape, restarts=False)) / len(problem.jobs)
        for job, shape in enumerate(shapes)
        if shape[1] and problem.jobs[job].speedup(*shape)
    }


def _shapes(problem: Goodput) -> dict[Shape, Exact]:
    """Return the contribution of each job in each shape to the objective, including a restart.

    Shapes in which a job contributes at least as much as without GPUs are left out.
    """
    reach = list(accumulate(sorted(problem.nodes, reverse=True)))
    costs: dict[Shape, Exact] = {}
    for place, job in enumerate(problem.jobs):
        for nodes, (row, most) in enumerate(zip(job.speedups, reach, strict=False), start=1):
            for gpus in range(nodes, min(nodes + len(row) - 1, most, job.max_gpus or most) + 1):
                cost = Fraction(problem.cost(place, nodes, gpus)) / len(problem.jobs)
                if cost < _idle(problem):
                    costs[place, nodes, gpus] = cost
    return costs


def _shape_rows(model: Any, job: int, shapes: Sequence[Shape], nodes: range) -> None:
    """Add rows that require exactly one shape per job, with its numbers of nodes and GPUs."""
    runs = [(model.runs[shape], shape[1], shape[2]) for shape in shapes]
    chosen = [model.waits[job], *(model.keeps[each] for each in model.keeps if each == job)]
    _add(model, f"one[{job}]", sum([*chosen, *(run for run, _, _ in runs)]) == 1)
    gpus, alone, part = (sum(has[job, i] for i in nodes) for has in (model.gpus, model.alone, model.part))
    if nodes:
        _add(model, f"total[{job}]", gpus == sum(run * count for run, _, count in runs))
        _add(model, f"single[{job}]", alone == sum(run for run, used, _ in runs if used == 1))
        _add(model, f"several[{job}]", part == sum(run * used for run, used, _ in runs if used > 1))


def _node_rows(model: Any, problem: Goodput, kept: Collection[int], node: int) -> None:
    """Add rows that limit the GPUs in use on a node, and the parts of multi-node jobs on it."""
    held = {job: problem.currents[job][node] for job in kept if problem.currents[job][node]}
    spread = [job for job in held if sum(map(bool, problem.currents[job])) > 1]
    new = sum(model.gpus[job, node] for job in range(len(problem.jobs)))
    old = sum(count * model.keeps[job] for job, count in held.items())
    _add(model, f"room[{node}]", new + old <= problem.nodes[node])
    parts = sum(model.part[job, node] for job in range(len(problem.jobs)))
    _add(model, f"wide[{node}]", parts + sum(model.keeps[job] for job in spread) <= 1)


def _add(model: Any, name: str, row: Any) -> None:
    import pyomo.environ as pyo

    model.add_component(name, pyo.Constraint(expr=row))


def _column(kind: str, *of: int) -> str:
    return f"{kind}[{','.join(map(str, of))}]"


milp = Milp()
