"""MILP: a model of how many workers of each moved or pending gang run on each machine."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import gcd
from typing import Any, ClassVar

from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, Number, decimal
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Places
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm

#: Maximum coefficient in a row of resources. Larger amounts are written in two digits of this base.
_BASE = 2**15

#: Maximum number of pairs of a part and a machine. With more, the model takes minutes to build.
_LARGEST = 50_000


class Milp(Formulation[Admission, AdmissionSolution]):
    """Decide which gangs are evicted or moved, and how many workers are on every machine.

    Sets
    ----
    r: running gangs. g: pending gangs and those that may be moved. p: parts of a gang. m: machines. k: groups
    at the level at which one group must hold a gang. h: groups at the level at which one group must hold a
    slice. i: resources.

    Parameters
    ----------
    c_r: cost of evicting gang r. d_r: cost of moving it. n_p: workers of part p. s_p: workers in each slice of
    part p. a_pi: amount of resource i that a worker of part p needs. u_pm: workers of part p that machine m can
    hold if all gangs that may stop do so; 0 if part p may not run on m. f_mi: free amount of resource i on
    machine m. w_rmi: amount of resource i that gang r uses on machine m.

    Variables
    ---------
    evicted[r], moved[r], binary: whether gang r is evicted or moved, if it may be. x[g, p, m], integer from 0
    to u_pm: workers of part p of gang g on machine m. group[g, k], binary: group k holds gang g. slices[g, p,
    h], integer: slices of part p in group h. carry[m, i], integer: carry from the lower to the upper digit.

    Objective
    ---------
    Minimize the sum of c_r evicted[r] and d_r moved[r]. With the second objective `gangs`, each stopped gang
    costs a little more.

    Constraints
    -----------
    once[r]: evicted[r] + moved[r] <= 1.

    place[g, p]: the x[g, p, m] add up to n_p, or to n_p moved[g] if gang g is running.

    one[g]: the group[g, k] add up to 1, or to moved[g] if gang g is running.

    together[g, p, k]: the x[g, p, m] in group k add up to n_p group[g, k].

    sliced[g, p, h]: the x[g, p, m] in group h add up to s_p slices[g, p, h].

    hold[m, i]: the a_pi x[g, p, m] add up to at most f_mi plus the w_rmi (evicted[r] + moved[r]). The amounts
    are divided by their greatest common divisor.

    low[m, i], if some of these amounts exceed 2^15: the amounts are split into two digits to this base. low[m,
    i] is the row for the lower digits, whose right-hand side is raised by carry[m, i] times the base. hold[m,
    i] is then the row for the upper digits, whose left-hand side is raised by the carry.

    Size
    ----
    Mainly one column per pair of a part and a machine, and one row per machine and resource. At most 50,000
    pairs of a part and a machine are allowed.

    Source
    ------
    Ours. The groups are those of Kueue's topology-aware scheduling, and the slices are its slices of pod sets.

    Examples
    --------
    >>> import gsopt
    >>> milp(gsopt.load("admission/small/move-one")).objective
    Fraction(1, 2)
    """

    name: ClassVar[str] = "milp"

    def obstacle(self, problem: Admission) -> str:
        """Return a message about the first part of a pending gang that cannot fit, or an empty string.

        Each part is considered alone, and all gangs that may stop are assumed to do so.
        """
        return problem.obstacle

    def build(self, problem: Admission) -> Any:
        """Build the Pyomo model; raise `Unsupported` if it would be too large."""
        import pyomo.environ as pyo

        data = _Data(problem)
        gangs, machines = data.gangs, problem.cluster.machines
        model = pyo.ConcreteModel()
        model.evicted = pyo.Var(data.evictable, domain=pyo.Binary)
        model.moved = pyo.Var(data.movable, domain=pyo.Binary)
        model.x = pyo.Var(
            list(data.most), domain=pyo.NonNegativeIntegers, bounds=lambda _, *at: (0, data.most[at])
        )
        model.group = pyo.Var(
            [(g, k) for g, gang in enumerate(gangs) if gang.within for k in range(len(problem.groups(gang)))],
            domain=pyo.Binary,
        )
        model.slices = pyo.Var(
            [
                (g, p, h)
                for g, p, part in data.parts
                if part.slice
                for h in range(len(problem.cluster.groups[part.slice_within]))
            ],
            domain=pyo.NonNegativeIntegers,
            bounds=lambda _, g, p, *__: (0, gangs[g].parts[p].slices),
        )

        def placed(m: Any, g: int) -> Any:
            """Return the expression for whether a gang needs a place, which is 1 for pending gangs."""
            return m.moved[data.movable[g]] if g < len(data.movable) else 1

        model.once = pyo.Constraint(
            [r for r in data.movable if r in set(data.evictable)],
            rule=lambda m, r: m.evicted[r] + m.moved[r] <= 1,
        )
        model.place = pyo.Constraint(
            [(g, p) for g, p, _ in data.parts],
            rule=lambda m, g, p: (
                _total(m.x, g, p, range(len(machines))) == gangs[g].parts[p].count * placed(m, g)
            ),
        )
        model.one = pyo.Constraint(
            [g for g, gang in enumerate(gangs) if gang.within],
            rule=lambda m, g: (
                pyo.quicksum(m.group[g, k] for k in range(len(problem.groups(gangs[g])))) == placed(m, g)
            ),
        )
        model.together = pyo.Constraint(
            [(g, p, k) for g, k in model.group for p in range(len(gangs[g].parts))],
            rule=lambda m, g, p, k: (
                _total(m.x, g, p, problem.groups(gangs[g])[k].machines)
                == gangs[g].parts[p].count * m.group[g, k]
            ),
        )
        model.sliced = pyo.Constraint(
            list(model.slices),
            rule=lambda m, g, p, h: (
                _total(m.x, g, p, problem.cluster.groups[gangs[g].parts[p].slice_within][h].machines)
                == gangs[g].parts[p].slice * m.slices[g, p, h]
            ),
        )
        rows = {(m, i): row for m in range(len(machines)) for i, row in data.rows(m).items()}
        wide = [at for at, row in rows.items() if row.largest > _BASE]
        model.carry = pyo.Var(wide, domain=pyo.Integers, bounds=lambda _, m, i: rows[m, i].carries)
        model.low = pyo.Constraint(wide, rule=lambda m, *at: rows[at].low(m) <= _BASE * m.carry[at])
        model.hold = pyo.Constraint(list(rows), rule=lambda m, *at: rows[at].high(m, m.carry, at) <= 0)
        model.cost = pyo.Objective(
            expr=pyo.quicksum(float(data.costs[f"evicted[{r}]"]) * model.evicted[r] for r in data.evictable)
            + pyo.quicksum(float(data.costs[f"moved[{r}]"]) * model.moved[r] for r in data.movable)
        )
        return model

    def exact_costs(self, problem: Admission, form: StandardForm) -> Sequence[Number]:
        """Return the exact costs of the columns; only evictions and moves have a cost."""
        costs = _Data(problem).costs
        return [costs.get(name, 0) for name in form.columns]

    def extract(self, values: Mapping[str, float], problem: Admission) -> AdmissionSolution:
        """Read evictions, moves and places from the values of the columns."""
        data = _Data(problem)
        running = problem.running
        moved = [r for r in data.movable if values.get(f"moved[{r}]", 0) > 0.5]  # noqa: PLR2004 - a rounded binary
        evicted = [r for r in data.evictable if values.get(f"evicted[{r}]", 0) > 0.5]  # noqa: PLR2004
        number = {r: g for g, r in enumerate(data.movable)}

        def places(g: int) -> Places:
            found: list[dict[str, int]] = [{} for _ in data.gangs[g].parts]
            for p, here in enumerate(found):
                for m, machine in enumerate(problem.cluster.machines):
                    workers = round(values.get(f"x[{g},{p},{m}]", 0))
                    if workers:
                        here[machine.name] = workers
            return tuple(found)

        first = len(data.movable)
        return AdmissionSolution(
            evicted=tuple(running[r].name for r in evicted),
            moved={running[r].name: places(number[r]) for r in moved},
            placed={gang.name: places(first + g) for g, gang in enumerate(problem.pending)},
        )

    def encode(self, solution: AdmissionSolution, problem: Admission) -> Mapping[str, float]:
        """Return the non-zero column values of a solution, keyed by column name."""
        data = _Data(problem)
        number = {gang.name: r for r, gang in enumerate(problem.running)}
        values = {f"evicted[{number[name]}]": 1.0 for name in solution.evicted}
        values |= {f"moved[{number[name]}]": 1.0 for name in solution.moved}
        for g, gang in enumerate(data.gangs):
            where = solution.moved if g < len(data.movable) else solution.placed
            if gang.name in where:
                values |= _standing(problem, g, gang, where[gang.name])
        for m in range(len(problem.cluster.machines)):
            for i, row in data.rows(m).items():
                if row.largest > _BASE:
                    values[f"carry[{m},{i}]"] = row.carry(values)
        return values


def _standing(problem: Admission, g: int, gang: Gang, places: Places) -> dict[str, float]:
    """Return the non-zero column values for the places of one gang, keyed by column name."""
    values: dict[str, float] = {}
    for p, (part, machines) in enumerate(zip(gang.parts, places, strict=True)):
        for name, workers in machines.items():
            m = problem.position[name]
            values[f"x[{g},{p},{m}]"] = workers
            if gang.within:
                values[f"group[{g},{problem.cluster.group_of(gang.within)[m]}]"] = 1.0
            if part.slice:
                at = f"slices[{g},{p},{problem.cluster.group_of(part.slice_within)[m]}]"
                values[at] = values.get(at, 0.0) + workers / part.slice
    return values


milp = Milp()


class _Data:
    """The sets and parameters of the model."""

    def __init__(self, problem: Admission) -> None:
        self.problem = problem
        self.evictable = [r for r, gang in enumerate(problem.running) if problem.evictable(gang)]
        self.movable = [r for r, gang in enumerate(problem.running) if gang.move_cost is not None]
        moving: list[Gang] = [problem.running[r] for r in self.movable]
        self.gangs = [*moving, *problem.pending]
        self.parts = [(g, p, part) for g, gang in enumerate(self.gangs) for p, part in enumerate(gang.parts)]
        size = len(self.parts) * len(problem.cluster.machines)
        if size > _LARGEST:
            raise Unsupported(
                f"milp: {len(self.parts):,} parts on {len(problem.cluster.machines):,} machines: the model is "
                f"for at most {_LARGEST:,} pairs of them; exact takes more"
            )

    @cached_property
    def costs(self) -> dict[str, Exact]:
        """Exact costs of all columns that have a cost, keyed by column name."""
        problem, found = self.problem, dict[str, Exact]()
        for r in self.evictable:
            found[f"evicted[{r}]"] = decimal(problem.running[r].cost) + problem.tie
        for r in self.movable:
            found[f"moved[{r}]"] = decimal(problem.running[r].move_cost or 0) + problem.tie
        return found

    @cached_property
    def loads(self) -> list[dict[int, list[int]]]:
        """Resources that each running gang uses: one mapping per gang, keyed by machine index."""
        return [self.problem.load([(gang, gang.on)]) for gang in self.problem.running]

    @cached_property
    def stopping(self) -> list[dict[int, list[int]]]:
        """Resources used by the gangs that may stop on each machine: one mapping per machine, by gang."""
        may, found = {*self.evictable, *self.movable}, [dict[int, list[int]]() for _ in self.problem.rooms]
        for r in sorted(may):
            for m, amounts in self.loads[r].items():
                found[m][r] = amounts
        return found

    @cached_property
    def needs(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """Resources that a worker of each part needs, keyed by the indices of gang and part."""
        return {(g, p): part.needs.vector(self.problem.resources) for g, p, part in self.parts}

    @cached_property
    def most(self) -> dict[tuple[int, int, int], int]:
        """How many workers of each part fit on each machine (if any) when all gangs that may stop do so."""
        rooms = [
            [has + sum(freed) for has, *freed in zip(free, *self.stopping[m].values(), strict=True)]
            for m, free in enumerate(self.problem.free)
        ]
        found = {}
        for g, p, part in self.parts:
            need = self.needs[g, p]
            for m in sorted(self.problem.eligible(part)):
                most = min(has // amount for has, amount in zip(rooms[m], need, strict=True) if amount)
                if most > 0:
                    found[g, p, m] = min(most, part.count)
        return found

    @cached_property
    def _workers(self) -> list[list[tuple[int, int]]]:
        """The parts that may be placed on each machine."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.problem.rooms]
        for g, p, m in self.most:
            found[m].append((g, p))
        return found

    def rows(self, m: int) -> dict[int, "_Row"]:
        """Return a machine's rows, keyed by resource, without those that always hold."""
        found = {}
        for i, free in enumerate(self.problem.free[m]):
            needed = {(g, p, m): self.needs[g, p][i] for g, p in self._workers[m] if self.needs[g, p][i]}
            if sum(amount * self.most[at] for at, amount in needed.items()) > free:
                freed = {r: amounts[i] for r, amounts in self.stopping[m].items() if amounts[i]}
                unit = gcd(*needed.values(), *freed.values())
                found[i] = _Row(
                    {at: amount // unit for at, amount in needed.items()},
                    {r: amount // unit for r, amount in freed.items()},
                    free // unit,
                    {at: self.most[at] for at in needed},
                    (set(self.evictable), set(self.movable)),
                )
        return found


class _Row:
    """The row for one resource on one machine: the amount needed is at most the amount free or freed."""

    def __init__(
        self,
        needed: Mapping[tuple[int, int, int], int],
        freed: Mapping[int, int],
        free: int,
        most: Mapping[tuple[int, int, int], int],
        may: tuple[set[int], set[int]],
    ) -> None:
        self._needed, self._freed, self._free, self._most, self._may = needed, freed, free, most, may
        self.largest = max(*needed.values(), *freed.values(), 0)

    def low(self, model: Any) -> Any:
        """Return the lower digit of the amount that is needed but not free."""
        return self._missing(model, lambda amount: amount % _BASE)

    def high(self, model: Any, carry: Any, at: tuple[int, int]) -> Any:
        """Return the upper digit (or the only digit) of the amount that is needed but not free."""
        if self.largest <= _BASE:
            return self._missing(model, lambda amount: amount)
        return self._missing(model, lambda amount: amount // _BASE) + carry[at]

    def _missing(self, model: Any, digit: Any) -> Any:
        return (
            sum(digit(amount) * model.x[at] for at, amount in self._needed.items())
            - sum(digit(amount) * self._stops(model, r) for r, amount in self._freed.items())
            - digit(self._free)
        )

    def _stops(self, model: Any, r: int) -> Any:
        evictable, movable = self._may
        evicted = model.evicted[r] if r in evictable else 0
        return evicted + (model.moved[r] if r in movable else 0)

    @property
    def carries(self) -> tuple[int, int]:
        """Return the minimum and the maximum value of the carry."""
        most = sum(amount % _BASE * self._most[at] for at, amount in self._needed.items())
        freed = sum(amount % _BASE for amount in self._freed.values())
        return -((freed + self._free % _BASE) // _BASE), -(-most // _BASE)

    def carry(self, values: Mapping[str, float]) -> int:
        """Return the minimum carry for the given values of the other columns."""
        needed = sum(
            amount % _BASE * round(values.get(f"x[{g},{p},{m}]", 0))
            for (g, p, m), amount in self._needed.items()
        )
        freed = sum(
            amount % _BASE * round(values.get(f"evicted[{r}]", 0) + values.get(f"moved[{r}]", 0))
            for r, amount in self._freed.items()
        )
        return -((freed + self._free % _BASE - needed) // _BASE)


def _total(x: Any, g: int, p: int, machines: Sequence[int]) -> Any:
    """Return the total number of a part's workers on the given machines, as an expression."""
    import pyomo.environ as pyo

    return pyo.quicksum(x[g, p, m] for m in machines if (g, p, m) in x)
