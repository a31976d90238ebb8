"""Merged: the common part of two models that count the jobs in each rack by demand."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from formulations.consolidation.case import ConsolidationCase, Stays
from formulations.consolidation.model import GroupModel
from formulations.consolidation.program import NamedProgram
from gsopt.core.errors import Unsupported
from gsopt.problems.consolidation import Consolidation


@dataclass(frozen=True, eq=False)
class Indices:
    """The index sets of the merged models."""

    case: ConsolidationCase  # the problem by groups

    @cached_property
    def take(self) -> list[tuple[int, int]]:
        """Pairs of a job kind and a level on which its jobs may be placed."""
        return [(k, level) for k, kind in enumerate(self.case.kinds) for level in kind.levels]

    @cached_property
    def levels(self) -> list[tuple[int, int]]:
        """Pairs of a demand and a level on which jobs with that demand may be placed."""
        return sorted({(self.case.kinds[k].gpus, level) for k, level in self.take})

    @cached_property
    def alone(self) -> list[tuple[int, int]]:
        """Pairs of a demand and a stem (`Vacancy.stems`) in which an innermost group has room for it."""
        nodes, leaves = self.case.vacancy.nodes, self.case.vacancy.leaves
        return [
            (d, p)
            for d, level in self.levels
            if level == 0
            for p in self.case.vacancy.stems
            if any(nodes[leaf].free >= d for leaf in leaves[p])
        ]

    @cached_property
    def across(self) -> list[tuple[int, int]]:
        """Pairs of a demand and a group, except innermost ones, in which jobs with that demand may stay."""
        nodes, levels = self.case.vacancy.nodes, self.case.vacancy.levels
        return [(d, v) for d, level in self.levels if level for v in levels[level] if nodes[v].free >= d]

    @cached_property
    def whole(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """The machines in `ConsolidationCase.untouched`, keyed by stem and number of GPUs."""
        found: dict[tuple[int, int], tuple[int, ...]] = {}
        for v in self.case.untouched:
            node = self.case.vacancy.nodes[v]
            found[node.parent, node.free] = (*found.get((node.parent, node.free), ()), v)
        return found

    @cached_property
    def wider(self) -> list[int]:
        """The groups, except innermost ones, in which jobs may be placed or machines may stay free."""
        stays = {p for _, p in self.alone} | {v for _, v in self.across} | {p for p, _ in self.whole}
        return sorted({u for v in stays for u in self.case.vacancy.path(v)})


class Merged(GroupModel):
    """The common part of `patterns` and `divisible`, without the packing of jobs on single machines.

    Jobs with the same demand are interchangeable on machines and racks. So the model decides, for every rack,
    only the number of jobs by demand; it decides their kinds for the cluster as a whole.
    """

    @abstractmethod
    def pack(self, model: Any, indices: Indices) -> None:
        """Add to a Pyomo model the constraints that make the jobs on single machines fit.

        There are separate constraints for each stem (`Vacancy.stems`).
        """

    @abstractmethod
    def pack_rows(self, program: NamedProgram, indices: Indices) -> None:
        """Add the constraints of `pack` to the arrays."""

    @abstractmethod
    def unpack(self, values: Mapping[str, float], indices: Indices) -> Iterator[tuple[int, int]]:
        """Yield the demand and the group of each job that stays within one innermost group.

        Machines that stay entirely free are avoided.
        """

    def build(self, problem: Consolidation) -> Any:
        """Build the Pyomo model."""
        from pyomo.environ import ConcreteModel, Constraint, NonNegativeIntegers, Objective, Var, maximize

        case = ConsolidationCase.of(problem)
        self.check(case)
        indices, kinds, nodes = Indices(case), case.kinds, case.vacancy.nodes
        model = ConcreteModel(problem.name or "consolidation")
        model.take = Var(
            indices.take, domain=NonNegativeIntegers, bounds=lambda _, k, _t: (0, len(kinds[k].jobs))
        )
        model.alone = Var(indices.alone, domain=NonNegativeIntegers)
        model.across = Var(indices.across, domain=NonNegativeIntegers)
        model.whole = Var(
            list(indices.whole),
            domain=NonNegativeIntegers,
            bounds=lambda _, p, f: (0, len(indices.whole[p, f])),
        )
        model.once = Constraint(
            range(len(kinds)),
            rule=lambda m, k: sum(m.take[k, t] for t in kinds[k].levels) <= len(kinds[k].jobs),
        )
        model.link = Constraint(
            indices.levels,
            rule=lambda m, d, t: (
                sum(m.take[k, t] for k, own in m.take if own == t and kinds[k].gpus == d)
                == (
                    sum(m.across[d, v] for own, v in m.across if own == d and nodes[v].level == t)
                    if t
                    else sum(m.alone[d, p] for own, p in m.alone if own == d)
                )
            ),
        )
        model.room = Constraint(
            indices.wider,
            rule=lambda m, v: (
                sum(
                    d * stays[d, u]
                    for stays in (m.alone, m.across)
                    for d, u in stays
                    if u in case.vacancy.within[v]
                )
                + sum(f * m.whole[p, f] for p, f in m.whole if p in case.vacancy.within[v])
                <= nodes[v].free
            ),
        )
        if case.required:
            model.number = Constraint(expr=sum(model.take.values()) >= case.required)
        self.pack(model, indices)
        model.worth = Objective(
            expr=float(case.bonus)
            + sum(float(kinds[k].worths[t]) * model.take[k, t] for k, t in model.take)
            + sum(float(problem.machine_bonus) * model.whole[pair] for pair in model.whole),
            sense=maximize,
        )
        return model

    def program(self, case: ConsolidationCase) -> NamedProgram:
        """Return the same model as `build`, assembled directly as arrays."""
        self.check(case)
        indices, program = Indices(case), NamedProgram()
        linked: dict[tuple[int, int], list[tuple[str, int]]] = {pair: [] for pair in indices.levels}
        inside: dict[int, list[tuple[str, int]]] = {v: [] for v in indices.wider}
        for k, level in indices.take:
            kind = case.kinds[k]
            program.column(f"take[{k},{level}]", cost=kind.worths[level], upper=len(kind.jobs))
            linked[kind.gpus, level].append((f"take[{k},{level}]", 1))
        for name, d, level, v in _stays(indices):
            program.column(name)
            linked[d, level].append((name, -1))
            for u in case.vacancy.path(v):
                inside[u].append((name, d))
        for (p, f), machines in indices.whole.items():
            program.column(f"whole[{p},{f}]", cost=case.problem.machine_bonus, upper=len(machines))
            for u in case.vacancy.path(p):
                inside[u].append((f"whole[{p},{f}]", f))
        for k, kind in enumerate(case.kinds):
            program.row(f"once[{k}]", [(f"take[{k},{t}]", 1) for t in kind.levels], upper=len(kind.jobs))
        for (d, level), entries in linked.items():
            program.row(f"link[{d},{level}]", entries, lower=0, upper=0)
        for v, entries in inside.items():
            program.row(f"room[{v}]", entries, upper=case.vacancy.nodes[v].free)
        if case.required:
            program.row("number", [(f"take[{k},{t}]", 1) for k, t in indices.take], lower=case.required)
        self.pack_rows(program, indices)
        return program

    def check(self, case: ConsolidationCase) -> None:
        """Raise `Unsupported` if the objective counts entirely free machines and these have islands."""
        if any(case.vacancy.nodes[v].level for v in case.untouched):
            raise Unsupported(f"{self.name}: machines left whole consist of islands; use laminar")

    def choose(self, values: Mapping[str, float], case: ConsolidationCase) -> tuple[Stays, Collection[int]]:
        """Return how many jobs of each kind stay in each group, and which machines stay entirely free.

        The columns count the jobs in each group only by demand. Which kinds they belong to is decided here.
        """
        indices = Indices(case)
        places: dict[tuple[int, int], list[int]] = {pair: [] for pair in indices.levels}
        for d, leaf in self.unpack(values, indices):
            places[d, 0].append(leaf)
        for d, v in indices.across:
            places[d, case.vacancy.nodes[v].level] += [v] * round(values.get(f"across[{d},{v}]", 0.0))
        stays: Counter[tuple[int, int]] = Counter()
        for k, level in indices.take:
            for _ in range(round(values.get(f"take[{k},{level}]", 0.0))):
                stays[k, places[case.kinds[k].gpus, level].pop()] += 1
        return stays, self.spared(values, indices)

    def spared(self, values: Mapping[str, float], indices: Indices) -> list[int]:
        """Return the machines that stay entirely free: in each rack, the first ones of each size."""
        return [
            v
            for (p, f), machines in indices.whole.items()
            for v in machines[: round(values.get(f"whole[{p},{f}]", 0.0))]
        ]

    def fill(self, stays: Stays, spared: Collection[int], case: ConsolidationCase) -> Mapping[str, float]:
        """Return the column values for the given stays and entirely free machines, keyed by column name."""
        nodes, values = case.vacancy.nodes, Counter[str]()
        for (k, v), count in stays.items():
            d, level = case.kinds[k].gpus, nodes[v].level
            values[f"take[{k},{level}]"] += count
            values[f"across[{d},{v}]" if level else f"alone[{d},{nodes[v].parent}]"] += count
        for v in spared:
            values[f"whole[{nodes[v].parent},{nodes[v].free}]"] += 1
        return {name: float(count) for name, count in values.items()}


def _stays(indices: Indices) -> Iterator[tuple[str, int, int, int]]:
    """Yield the name, demand, level and group of each column that counts jobs by demand."""
    nodes = indices.case.vacancy.nodes
    yield from ((f"alone[{d},{p}]", d, 0, p) for d, p in indices.alone)
    yield from ((f"across[{d},{v}]", d, nodes[v].level, v) for d, v in indices.across)
