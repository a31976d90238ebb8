"""Laminar: a model of how many jobs of each kind stay within each group of GPUs."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from formulations.consolidation.case import ConsolidationCase, Stays
from formulations.consolidation.model import GroupModel
from formulations.consolidation.program import NamedProgram
from gsopt.problems.consolidation import Consolidation


class Laminar(GroupModel):
    """A model that assigns jobs to groups of GPUs, so that the jobs within each group fit on its free GPUs.

    Sets
    ----
    K: kinds of jobs with the same demand and, on each level, the same value. V: groups of GPUs on all levels,
    such as machines, racks and the whole cluster. U: machines without a busy GPU, if the objective counts
    entirely free machines.

    Parameters
    ----------
    n_k: jobs of kind k. d_k: GPUs of each. w_kv: value of one on the level of group v. f_v: free GPUs in v. J:
    if the number of placed jobs is the primary objective, its maximum; otherwise, 0. b: bonus per placed job.
    h: bonus per entirely free machine.

    Variables
    ---------
    stay[k, v], integer: jobs of kind k that stay within v, but not within one group inside v. It exists only if
    such a job fits in v and is worth more there than on the next wider level, if any. whole[m], binary: machine
    m of U stays entirely free.

    Objective
    ---------
    Maximize the sum of w_kv stay[k, v] and h whole[m], plus b J.

    Constraints
    -----------
    once[k]: the stay[k, v] add up to at most n_k.

    room[v]: the d_k stay[k, u] over all u within v (including v), plus the f_m whole[m] of the machines within
    v, add up to at most f_v. If v lies within machine m, f_v whole[m] replaces the f_m whole[m].

    number: all stay[k, v] add up to at least J.

    Size
    ----
    At most |K| |V| + |U| columns and |K| + |V| + 1 rows.

    Source
    ------
    Dally, section III-B, for values by tier. These rows suffice, as
    `formulations.consolidation.case.ConsolidationCase` explains.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> result = laminar(half_busy(racks=2, machines=2, jobs=8, seed=3))
    >>> result.status, round(float(result.objective), 6)
    (<Status.OPTIMAL: 'optimal'>, 11.456834)
    """

    name: ClassVar[str] = "laminar"

    def build(self, problem: Consolidation) -> Any:
        """Build the Pyomo model."""
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
        kinds, nodes, within = case.kinds, case.vacancy.nodes, case.vacancy.within
        model = ConcreteModel(problem.name or "consolidation")
        model.stay = Var(
            _places(case), domain=NonNegativeIntegers, bounds=lambda _, k, _v: (0, len(kinds[k].jobs))
        )
        model.whole = Var(case.untouched, domain=Binary)
        model.once = Constraint(
            range(len(kinds)),
            rule=lambda m, k: sum(m.stay[place] for place in m.stay if place[0] == k) <= len(kinds[k].jobs),
        )
        model.room = Constraint(
            [v for v in range(len(nodes)) if _is_used(case, v)],
            rule=lambda m, v: (
                sum(kinds[k].gpus * m.stay[k, u] for k, u in m.stay if u in within[v])
                + sum(_taken_whole(case, u, v) * m.whole[u] for u in m.whole)
                <= nodes[v].free
            ),
        )
        if case.required:
            model.number = Constraint(expr=sum(model.stay.values()) >= case.required)
        model.worth = Objective(
            expr=float(case.bonus)
            + sum(float(kinds[k].worths[nodes[v].level]) * model.stay[k, v] for k, v in model.stay)
            + sum(float(problem.machine_bonus) * model.whole[u] for u in model.whole),
            sense=maximize,
        )
        return model

    def program(self, case: ConsolidationCase) -> NamedProgram:
        """Return the same model as `build`, assembled directly as arrays."""
        program, places = NamedProgram(), _places(case)
        for k, v in places:
            kind = case.kinds[k]
            program.column(_stay(k, v), cost=kind.worths[case.vacancy.nodes[v].level], upper=len(kind.jobs))
        for u in case.untouched:
            program.column(_whole(u), cost=case.problem.machine_bonus, upper=1)
        inside: list[list[tuple[str, int]]] = [[] for _ in case.vacancy.nodes]
        of_kind: list[list[tuple[str, int]]] = [[] for _ in case.kinds]
        for k, v in places:
            of_kind[k].append((_stay(k, v), 1))
            for u in case.vacancy.path(v):
                inside[u].append((_stay(k, v), case.kinds[k].gpus))
        for k, entries in enumerate(of_kind):
            program.row(f"once[{k}]", entries, upper=len(case.kinds[k].jobs))
        for v, entries in enumerate(inside):
            taken = [(_whole(u), _taken_whole(case, u, v)) for u in case.untouched]
            if entries or any(gpus for _, gpus in taken):
                whole = [(name, gpus) for name, gpus in taken if gpus]
                program.row(f"room[{v}]", entries + whole, upper=case.vacancy.nodes[v].free)
        if case.required:
            program.row("number", [(_stay(k, v), 1) for k, v in places], lower=case.required)
        return program

    def choose(self, values: Mapping[str, float], case: ConsolidationCase) -> tuple[Stays, Collection[int]]:
        """Read from column values how many jobs stay in each group, and which machines stay entirely free."""
        stays = {(k, v): round(values.get(_stay(k, v), 0.0)) for k, v in _places(case)}
        return stays, [u for u in case.untouched if values.get(_whole(u), 0.0) == 1]

    def fill(self, stays: Stays, spared: Collection[int], case: ConsolidationCase) -> Mapping[str, float]:
        """Return the non-zero column values, keyed by name, for given stays and entirely free machines."""
        del case
        counts = {_stay(k, v): float(count) for (k, v), count in stays.items()}
        return counts | {_whole(u): 1.0 for u in spared}


def _places(case: ConsolidationCase) -> list[tuple[int, int]]:
    """Return all pairs of a job kind and a group in which jobs of this kind may stay."""
    nodes, levels = case.vacancy.nodes, case.vacancy.levels
    return [
        (k, v)
        for k, kind in enumerate(case.kinds)
        for level in kind.levels
        for v in levels[level]
        if nodes[v].free >= kind.gpus
    ]


def _taken_whole(case: ConsolidationCase, machine: int, v: int) -> int:
    """Return how many free GPUs of group v are blocked by leaving a machine whole."""
    if v in case.vacancy.within[machine]:
        return case.vacancy.nodes[v].free
    return case.vacancy.nodes[machine].free if machine in case.vacancy.within[v] else 0


def _is_used(case: ConsolidationCase, v: int) -> bool:
    """Check whether any job may stay within a group, or any machine in it may stay entirely free."""
    within = case.vacancy.within[v]
    return any(u in within for _, u in _places(case)) or any(_taken_whole(case, u, v) for u in case.untouched)


def _stay(k: int, v: int) -> str:
    return f"stay[{k},{v}]"


def _whole(machine: int) -> str:
    return f"whole[{machine}]"


laminar = Laminar()
