"""Counts: the reference model, which counts each job's GPUs on each machine."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, ClassVar

from formulations.consolidation.beginning import begin
from formulations.consolidation.case import ConsolidationCase
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution
from gsopt.solvers.formulation import Formulation

#: Maximum product of the numbers of jobs and groups for which this model is useful and quick to build.
_LARGEST = 2_000


class Counts(Formulation[Consolidation, ConsolidationSolution]):
    """A slow reference model, which decides how many GPUs of each machine every job gets.

    Sets
    ----
    J: jobs. V_t: groups of level t with a free GPU. Level 0 holds machines (or smaller groups), and the last
    level the whole cluster. U: machines without a busy GPU, if the objective counts entirely free machines.

    Parameters
    ----------
    d_j: GPUs of job j. w_jt: its value on level t. f_v: free GPUs of group v. b: bonus per placed job. h: bonus
    per entirely free machine.

    Variables
    ---------
    count[j, v], integer: GPUs of job j in group v of V_0. touch[j, v], binary: job j has GPUs in group v, which
    is not the whole cluster. on[j, t], binary: job j is placed, and one group of level t holds all its GPUs.
    whole[m], binary: machine m of U stays entirely free.

    Objective
    ---------
    Maximize the sum of (w_jt + b) on[j, t] and h whole[m].

    Constraints
    -----------
    once[j]: the on[j, t] add up to at most 1.

    all[j]: the count[j, v] add up to d_j times the sum of the on[j, t].

    room[v]: the count[j, v] over the jobs add up to at most f_v.

    flag[j, v]: count[j, v] <= min(d_j, f_v) touch[j, v].

    inside[j, v]: touch[j, v] <= touch[j, u] for the group u around v.

    few[j, t]: the touch[j, v] over V_t add up to at most the sum of on[j, s] for s <= t, plus |V_t| times the
    sum for s > t.

    spare[j, v]: touch[j, v] <= 1 - whole[m] for v of V_0 within m.

    Size
    ----
    About two columns and two or three rows for each job and group. At most 2,000 pairs of a job and a group are
    allowed.

    Source
    ------
    Dally, section III-B, for values by tier.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> result = counts(half_busy(racks=2, machines=2, jobs=8, seed=3))
    >>> result.status, round(float(result.objective), 6)
    (<Status.OPTIMAL: 'optimal'>, 11.456834)
    """

    name: ClassVar[str] = "counts"

    def at_once(self, problem: Consolidation) -> tuple[ConsolidationSolution, Exact]:
        """Return a greedy placement, and a knapsack bound."""
        return begin(ConsolidationCase.of(problem))

    def build(self, problem: Consolidation) -> Any:
        """Build the Pyomo model, or raise `Unsupported` if the problem is too large for the reference model."""
        from pyomo.environ import (
            Binary,
            ConcreteModel,
            Constraint,
            NonNegativeIntegers,
            Objective,
            Var,
            maximize,
        )

        case = ConsolidationCase.of(problem)
        jobs, tiers, nodes = problem.jobs, range(len(problem.tiers)), case.vacancy.nodes
        leaves, groups = range(len(case.vacancy.gpus)), range(case.vacancy.root)
        if len(jobs) * len(nodes) > _LARGEST:
            size = f"{len(jobs):,} jobs times {len(nodes):,} groups"
            raise Unsupported(f"counts: {size}: the reference model takes at most {_LARGEST:,}; use exact")
        model = ConcreteModel(problem.name or "consolidation")
        model.count = Var(range(len(jobs)), leaves, domain=NonNegativeIntegers)
        model.touch = Var(range(len(jobs)), groups, domain=Binary)
        model.on = Var(range(len(jobs)), tiers, domain=Binary)
        model.whole = Var(case.untouched, domain=Binary)
        model.once = Constraint(range(len(jobs)), rule=lambda m, j: sum(m.on[j, t] for t in tiers) <= 1)
        model.all = Constraint(
            range(len(jobs)),
            rule=lambda m, j: (
                sum(m.count[j, v] for v in leaves) == jobs[j].gpus * sum(m.on[j, t] for t in tiers)
            ),
        )
        model.room = Constraint(
            leaves if jobs else [],
            rule=lambda m, v: sum(m.count[j, v] for j in range(len(jobs))) <= nodes[v].free,
        )
        model.flag = Constraint(
            range(len(jobs)),
            leaves,
            rule=lambda m, j, v: m.count[j, v] <= min(jobs[j].gpus, nodes[v].free) * m.touch[j, v],
        )
        model.inside = Constraint(
            range(len(jobs)),
            [v for v in groups if nodes[v].parent in groups],
            rule=lambda m, j, v: m.touch[j, v] <= m.touch[j, nodes[v].parent],
        )
        model.few = Constraint(
            range(len(jobs)),
            [t for t, level in enumerate(case.vacancy.levels[:-1]) if level],
            rule=lambda m, j, t: (
                sum(m.touch[j, v] for v in case.vacancy.levels[t])
                <= sum((1 if s <= t else len(case.vacancy.levels[t])) * m.on[j, s] for s in tiers)
            ),
        )
        model.spare = Constraint(
            range(len(jobs)),
            [(u, v) for u in case.untouched for v in case.vacancy.leaves[u]],
            rule=lambda m, j, u, v: m.touch[j, v] <= 1 - m.whole[u],
        )
        model.worth = Objective(
            expr=sum(
                float(problem.worth(job, tier) + problem.job_bonus) * model.on[j, t]
                for j, job in enumerate(jobs)
                for t, tier in enumerate(problem.tiers)
            )
            + sum(float(problem.machine_bonus) * model.whole[u] for u in case.untouched),
            sense=maximize,
        )
        return model

    def exact_costs(self, problem: Consolidation, form: Any) -> list[Exact]:
        """Return the exact costs of the columns, as integers or fractions."""
        worths = {
            f"on[{j},{t}]": problem.worth(job, tier) + problem.job_bonus
            for j, job in enumerate(problem.jobs)
            for t, tier in enumerate(problem.tiers)
        }
        bonuses = {name: problem.machine_bonus for name in form.columns if name.startswith("whole")}
        return [{**worths, **bonuses}.get(name, 0) for name in form.columns]

    def extract(self, values: Mapping[str, float], problem: Consolidation) -> ConsolidationSolution:
        """Read the GPU counts from the column values, and give every job the next free GPUs of its machines."""
        free = [iter(gpus) for gpus in ConsolidationCase.of(problem).vacancy.gpus]
        placed: dict[str, list[int]] = {}
        for j, job in enumerate(problem.jobs):
            for v, gpus in enumerate(free):
                taken = [next(gpus) for _ in range(round(values.get(f"count[{j},{v}]", 0.0)))]
                if taken:
                    placed.setdefault(job.name, []).extend(taken)
        return ConsolidationSolution(placed=placed)

    def encode(self, solution: ConsolidationSolution, problem: Consolidation) -> Mapping[str, float]:
        """Return the non-zero column values of a solution, keyed by column name."""
        case = ConsolidationCase.of(problem)
        leaf_of = {gpu: leaf for leaf, gpus in enumerate(case.vacancy.gpus) for gpu in gpus}
        values = {f"whole[{u}]": 1.0 for u in case.spared(solution)}
        for j, job in enumerate(problem.jobs):
            gpus = solution.placed.get(job.name, ())
            if not gpus:
                continue
            leaves = sorted(leaf_of[gpu] for gpu in gpus)
            values |= {f"count[{j},{v}]": float(len(list(same))) for v, same in groupby(leaves)}
            values |= {f"touch[{j},{u}]": 1.0 for v in leaves for u in case.vacancy.path(v)}
            values[f"on[{j},{case.vacancy.nodes[case.joined(leaves)].level}]"] = 1.0
        return values


counts = Counts()
