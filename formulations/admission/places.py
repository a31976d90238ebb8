"""Places: the mixed-integer program over groups of machines, for problems with identical workers.

On clusters where gangs use whole machines, every worker needs the same amount of each resource. In this case,
it does not matter which machines of a group a gang uses, only how many of its workers are in the group.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.admission.moving import Moving
from formulations.common.rows import SparseRows
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Places
from gsopt.problems.placement import Vector
from gsopt.solvers.scaling import Proof, optimize
from gsopt.solvers.standard_form import StandardForm

#: Maximum number of columns of a program.
_LARGEST = 30_000


@dataclass(frozen=True)
class Worker:
    """The resources that every worker in a problem needs, and the machines on which it may run."""

    need: Vector
    machines: frozenset[int]


def like_worker(problem: Admission, moving: Moving) -> Worker | None:
    """Return the common worker of all gangs that are pending or may stop, or None if workers differ.

    The machines on which workers may run are compared only among gangs that are pending or may be moved. If a
    gang has several parts, the result is None.
    """
    gangs: list[Gang] = [*problem.pending, *moving.running]
    parts = [part for gang in gangs for part in gang.parts]
    needs = {part.needs.vector(problem.resources) for part in parts}
    if len(needs) > 1 or any(len(gang.parts) > 1 for gang in gangs):
        return None
    movers = [gang for gang, weight in zip(moving.running, moving.moves, strict=True) if weight is not None]
    able = {problem.eligible(gang.parts[0]) for gang in (*problem.pending, *movers)}
    return Worker(needs.pop(), able.pop()) if len(able) == 1 else None


class PlacesProgram:
    """A program that decides which gangs are evicted or moved, and how many workers are in each group.

    A gang that must be placed in one group has a binary column for each group at its level. A gang with slices
    also has an integer column for each slice group. Groups are nested. Therefore, the workers fit if, in every
    group, the number of workers that must be inside is at most the number of places that are free or freed
    there. Evictions and moves with a weight of at least `below` are left out.
    """

    def __init__(self, problem: Admission, moving: Moving, worker: Worker, below: int) -> None:
        self._problem, self._moving, self._worker, self._below = problem, moving, worker, below
        self._columns: list[str] = []
        self._upper: list[float] = []
        self._costs: list[Exact] = []
        self._rows = SparseRows()
        self._levels = [level for level in problem.cluster.levels if level in problem.cluster.groups]
        self._levels = self._levels[self._levels.index("machine") :]
        self._of = {level: problem.cluster.group_of(level) for level in self._levels}
        unit = moving.stops.unit
        self._evicted: dict[int, int] = {}
        self._moved: dict[int, int] = {}
        for gang, (evicting, move) in enumerate(zip(moving.evictions, moving.moves, strict=True)):
            if evicting is not None and evicting < below:
                self._evicted[gang] = self._column(f"evicted[{gang}]", 1, unit * evicting)
            if move is not None and move < below:
                self._moved[gang] = self._column(f"moved[{gang}]", 1, unit * move)
            both = [columns[gang] for columns in (self._evicted, self._moved) if gang in columns]
            if len(both) > 1:
                self._rows.add(f"once[{gang}]", [(column, 1) for column in both], upper=1)
        #: Gangs that may be placed: the number in the program, and its columns by level and group.
        self._inside: list[dict[tuple[str, int], int]] = []
        self._demand: dict[tuple[str, int], list[tuple[int, float]]] = {}
        self._placed: list[Gang] = [*problem.pending, *(moving.running[gang] for gang in self._moved)]
        placing: list[int | None] = [None for _ in problem.pending]
        columns = [*placing, *self._moved.values()]
        for number, (placed, column) in enumerate(zip(self._placed, columns, strict=True)):
            self._place(number, placed, column)
        self._capacities()

    @property
    def small(self) -> bool:
        """Whether the program has few enough columns to be solved."""
        return len(self._columns) <= _LARGEST

    def _column(self, name: str, upper: float, cost: Exact = 0) -> int:
        self._columns.append(name)
        self._upper.append(upper)
        self._costs.append(cost)
        return len(self._columns) - 1

    def _place(self, number: int, gang: Gang, column: int | None) -> None:
        """Add the columns and rows that place a gang if `column` (its move) is 1, or always if it is None."""
        part, whole = gang.parts[0], 1.0 if column is None else 0.0
        moved = [] if column is None else [(column, 1.0)]
        inside: dict[tuple[str, int], int] = {}
        self._inside.append(inside)
        if not part.slice:
            if not gang.within:
                top = (self._levels[-1], 0)
                entry = [(column, float(part.count))] if column is not None else []
                self._demand.setdefault(top, []).extend(entry)
                return
            for group in range(len(self._problem.cluster.groups[gang.within])):
                inside[gang.within, group] = self._column(f"in[{number},{group}]", 1)
                self._demand.setdefault((gang.within, group), []).append(
                    (inside[gang.within, group], part.count)
                )
            one = [(each, 1.0) for each in inside.values()]
            self._rows.add(f"one[{number}]", [*one, *((c, -v) for c, v in moved)], whole, whole)
            return
        within = gang.within or self._levels[-1]
        domain_of: dict[int, int] = {}
        for machine, group in enumerate(self._of[part.slice_within]):
            domain_of[group] = self._of[within][machine]
        domains = {
            domain: self._column(f"in[{number},{domain}]", 1) for domain in sorted(set(domain_of.values()))
        }
        one = [(each, 1.0) for each in domains.values()]
        self._rows.add(f"one[{number}]", [*one, *((c, -v) for c, v in moved)], whole, whole)
        slices: dict[int, list[tuple[int, float]]] = {domain: [] for domain in domains}
        for group, domain in domain_of.items():
            each = self._column(f"slices[{number},{group}]", part.slices)
            inside[part.slice_within, group] = each
            slices[domain].append((each, 1.0))
            self._demand.setdefault((part.slice_within, group), []).append((each, part.slice))
        for domain, entries in slices.items():
            self._rows.add(f"all[{number},{domain}]", [*entries, (domains[domain], -part.slices)], 0, 0)

    def _capacities(self) -> None:
        """Add a row for each group that must hold workers, which limits them to the places in the group."""
        problem = self._problem
        need = np.array(self._worker.need)
        asked = np.flatnonzero(need)
        free = np.array(problem.free)[:, asked] // need[asked]
        able = np.zeros(len(free), dtype=np.bool_)
        able[list(self._worker.machines)] = True
        copies = np.where(able, free.min(axis=1), 0)
        fixed = sum(
            gang.parts[0].count for gang in problem.pending if not gang.within and not gang.parts[0].slice
        )
        for place, level in enumerate(self._levels):
            inner = self._levels[: place + 1]
            totals = np.bincount(self._of[level], weights=copies).tolist()
            needed: dict[int, Counter[int]] = {}
            for (own, group), entries in self._demand.items():
                if own in inner:
                    first = problem.cluster.groups[own][group].machines.start
                    target = needed.setdefault(self._of[level][first], Counter())
                    for column, number in entries:
                        target[column] += int(number)
            if place == len(self._levels) - 1:
                needed.setdefault(0, Counter())
            self._level_rows(level, needed, totals, able, fixed if place == len(self._levels) - 1 else 0)

    def _level_rows(
        self,
        level: str,
        needed: dict[int, Counter[int]],
        totals: Sequence[float],
        able: np.ndarray,
        fixed: int,
    ) -> None:
        moving, group_of = self._moving, self._of[level]
        freed: dict[int, Counter[int]] = {group: Counter() for group in needed}
        for gang in {*self._evicted, *self._moved}:
            for name, number in moving.running[gang].on[0].items():
                machine = self._problem.position[name]
                if able[machine] and group_of[machine] in freed:
                    freed[group_of[machine]][gang] += number
        for group, entries in needed.items():
            row = Counter(entries)
            for gang, number in freed[group].items():
                for columns in (self._evicted, self._moved):
                    if gang in columns:
                        row[columns[gang]] -= number
            self._rows.add(f"room[{level},{group}]", list(row.items()), upper=totals[group] - fixed)

    def solve(self, budget: Budget) -> tuple[Proof, AdmissionSolution | None]:
        """Solve the program; return the proof and, if a point was found, the solution that it stands for."""
        form = StandardForm.build(
            cost=[float(cost) for cost in self._costs],
            matrix=self._rows.matrix(len(self._columns)),
            row_lower=self._rows.lower,
            row_upper=self._rows.upper,
            column_upper=self._upper,
            columns=tuple(self._columns),
            rows=tuple(self._rows.names),
        )
        proof = optimize(form, budget, costs=self._costs)
        if proof.values is None:
            return proof, None
        return proof, self._solution(np.rint(proof.values).astype(np.int64).tolist())

    def _solution(self, values: Sequence[int]) -> AdmissionSolution:
        """Place gangs on free machines, starting with the gangs in the narrowest groups."""
        problem, moving = self._problem, self._moving
        evicted = [gang for gang, column in self._evicted.items() if values[column]]
        moved = [gang for gang, column in self._moved.items() if values[column]]
        need = np.array(self._worker.need)
        asked = np.flatnonzero(need)
        free = np.array(problem.free)
        for machine, amounts in problem.load(
            (moving.running[g], moving.running[g].on) for g in (*evicted, *moved)
        ).items():
            free[machine] += amounts
        left = (free[:, asked] // need[asked]).min(axis=1)
        left[[machine for machine in range(len(left)) if machine not in self._worker.machines]] = 0
        numbers = {gang: len(problem.pending) + place for place, gang in enumerate(self._moved)}
        chosen = [*range(len(problem.pending)), *(numbers[gang] for gang in moved)]
        wanted: list[tuple[int, int, int, range]] = []
        for number in chosen:
            part = self._placed[number].parts[0]
            size = part.slice or part.count
            inside = [(key, values[column]) for key, column in self._inside[number].items() if values[column]]
            if not self._inside[number]:
                inside = [((self._levels[-1], 0), 1)]
            for (level, group), times in inside:
                machines = problem.cluster.groups[level][group].machines
                wanted.append((self._levels.index(level), number, times * size, machines))
        places: dict[int, dict[str, int]] = {number: {} for number in chosen}
        names = [machine.name for machine in problem.cluster.machines]
        for _, number, workers, machines in sorted(wanted, key=lambda each: each[:2]):
            for machine in machines:
                here = min(workers, int(left[machine]))
                if here:
                    left[machine] -= here
                    workers -= here  # noqa: PLW2901 - what is left of them
                    places[number][names[machine]] = places[number].get(names[machine], 0) + here
        found: dict[int, Places] = {number: (here,) for number, here in places.items()}
        return AdmissionSolution(
            evicted=[moving.running[gang].name for gang in sorted(evicted)],
            moved={moving.running[gang].name: found[numbers[gang]] for gang in sorted(moved)},
            placed={gang.name: found[number] for number, gang in enumerate(problem.pending)},
        )
