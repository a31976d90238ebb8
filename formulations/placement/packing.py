"""Packing: a placement problem with identical servers and workers merged, and the way back to a placement."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, hstack

from gsopt.core.errors import Unsupported
from gsopt.problems.placement import Placed, Placement, PlacementSolution, Server, Workers
from gsopt.solvers.standard_form import StandardForm

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

#: Amounts of the packing's resources, in its units.
Amounts = tuple[int, ...]

#: Index of a line of workers, and a number of its workers.
Some = tuple[int, int]


@dataclass(frozen=True)
class ServerKind:
    """Servers that are interchangeable in a packing."""

    pool: str  # pool of the servers; empty if pools do not matter
    in_use: bool  # whether workers are already running on them
    room: tuple[int, ...]  # free amounts on one of them, in the packing's units
    cost: int  # what using one of them adds to the objective
    names: tuple[str, ...]


@dataclass(frozen=True)
class Zone:
    """A role that servers can have, such as that of inference servers for flexible workers only.

    A zone consists of the kinds of servers that can have the role, and of the demands that such servers may
    hold.
    """

    kinds: tuple[int, ...]  # indices of the kinds
    demands: tuple[int, ...]  # indices of the demands


@dataclass(frozen=True)
class Unit:
    """A group of workers that can move between the pools only together, merged with all identical groups."""

    # the workers of each group that moves together, and how often the group exists
    members: tuple[tuple[tuple[Some, ...], int], ...]
    moving: int  # what moving one copy to the inference servers adds to the objective

    @property
    def number(self) -> int:
        """Number of copies of the unit."""
        return sum(times for _, times in self.members)

    @property
    def alone(self) -> bool:
        """Whether the unit consists of a single worker."""
        return sum(number for _, number in self.members[0][0]) == 1


@dataclass(frozen=True, eq=False)
class FillPatterns:
    """Ways to fill one server with workers."""

    # zone, kind: zone and kind of the server, shape (patterns,)
    zone: Integers
    kind: Integers
    counts: Integers  # number of workers of each demand on the server, shape (patterns, demands)

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, Any]], demands: int) -> "FillPatterns":
        """Build patterns from (zone, kind, counts) rows."""
        listed = list(rows)
        return cls(
            zone=np.array([zone for zone, _, _ in listed], dtype=np.int64),
            kind=np.array([kind for _, kind, _ in listed], dtype=np.int64),
            counts=np.array([counts for _, _, counts in listed], dtype=np.int64).reshape(-1, demands),
        )

    def __len__(self) -> int:
        return self.zone.size

    def keys(self) -> list[tuple[int, int, bytes]]:
        """Return a hashable key for each pattern; equal patterns have equal keys."""
        each = zip(self.zone.tolist(), self.kind.tolist(), self.counts, strict=True)
        return [(zone, kind, counts.tobytes()) for zone, kind, counts in each]

    def without(self, known: Collection[tuple[int, int, bytes]]) -> "FillPatterns":
        """Return the patterns without duplicates and without those whose keys are known."""
        first = {key: index for index, key in reversed(list(enumerate(self.keys()))) if key not in known}
        kept = np.zeros(len(self), dtype=np.bool_)
        kept[list(first.values())] = True
        return self.only(kept)

    def only(self, chosen: NDArray[np.bool_]) -> "FillPatterns":
        """Return the patterns selected by a mask."""
        return FillPatterns(self.zone[chosen], self.kind[chosen], self.counts[chosen])

    def __add__(self, other: "FillPatterns") -> "FillPatterns":
        return FillPatterns(
            zone=np.append(self.zone, other.zone),
            kind=np.append(self.kind, other.kind),
            counts=np.vstack([self.counts, other.counts]),
        )


@dataclass(frozen=True, eq=False)
class Filled:
    """A solution of a packing: fill patterns, and the values of the columns (moves first, then patterns)."""

    patterns: FillPatterns
    values: Integers


@dataclass(frozen=True, eq=False)
class Packing:
    """A placement problem in terms of kinds of servers, distinct demands, and zones.

    In the pattern model, each server that gets workers is filled according to one pattern. The model requires
    room for at least the existing workers, so maximal patterns suffice, and some places in them may stay empty.
    A resource is left out if no worker needs it. Resources of which every server has enough for all workers
    together are left out, too, provided that every worker needs some resource that is kept. GPUs, however, are
    kept if preferences are minimized. Amounts of a resource are divided by the greatest common divisor of all
    needs for it. Free amounts are then rounded down, which loses nothing.

    Sets
    ----
    i: demands, which are the distinct vectors of needs. k: kinds of servers. z: zones: a single one for all
    servers or, if pools matter (preferences are minimized or jobs must not be split), training servers,
    inference servers for all workers and, if preferences are minimized and there are flexible workers,
    inference servers for flexible workers only (without those already in use). p: patterns, each a filling of
    one server of kind k(p) in zone z(p). u: units, which are workers that move between the pools together: a
    job if jobs must not be split, otherwise a single worker.

    Parameters
    ----------
    a_pi: number of workers of demand i in pattern p. d_i: number of workers of demand i. n_k: number of servers
    of kind k. c_k: cost of using one of them: 1, or its number of GPUs if fragmentation is minimized; 0 if it
    is already in use. m_u: number of copies of unit u. b_ui, f_ui: numbers of workers of demand i in unit u
    that are not flexible and that are flexible; without a zone for flexible workers, no worker counts as
    flexible. w_u: cost of moving unit u to the inference servers, which may be negative. v_i: cost of a
    flexible worker of demand i that shares a server.

    Variables
    ---------
    y_p: number of servers filled by pattern p. If pools matter, h_u: number of copies of unit u on inference
    servers. If there are servers for flexible workers only, s_i: number of flexible workers of demand i that
    share an inference server with others. All are non-negative integers.

    Objective
    ---------
    Minimize the sum of c_k(p) y_p, plus the sums of w_u h_u and v_i s_i, plus a constant.

    Constraints
    -----------
    One zone: the a_pi y_p add up to at least d_i. If pools matter, instead: on training servers: the a_pi y_p
    add up to at least the sum of (b_ui + f_ui) (m_u - h_u); on inference servers for all workers: to at least
    the sum of b_ui h_u, plus s_i; on those for flexible workers only: to at least the sum of f_ui h_u, minus
    s_i. Of each kind: the y_p with k(p) = k add up to at most n_k. h_u <= m_u. s_i is at most the number of
    flexible workers of demand i.

    Size
    ----
    One column per pattern, one row per demand and zone, and one row per kind of server. If pools matter, also
    one column per unit and at most one per demand.

    Source
    ------
    Aryl, section 5.3; Gilmore and Gomory, "A linear programming approach to the cutting-stock problem",
    Operations Research 9 (1961), with several kinds of bins.
    """

    problem: Placement
    demands: Integers  # distinct needs in the packing's units, shape (demands, resources)
    demand_of: tuple[int, ...]  # index of the demand of each line of workers
    kinds: tuple[ServerKind, ...]
    zones: tuple[Zone, ...]
    units: tuple[Unit, ...]
    offset: int  # objective when all units are on training servers and no server is opened

    @classmethod
    def of(cls, problem: Placement) -> "Packing":
        """Merge the identical servers and workers of a problem.

        Raise `Unsupported` if racks are minimized, if workers may stay unplaced, or if they have requirements
        other than amounts of resources.
        """
        if problem.minimize == "racks":
            raise Unsupported("patterns ignore racks; use racks or milp to minimize racks")
        if problem.beyond_amounts:
            raise Unsupported(f"patterns: {problem.beyond_amounts}; use milp or search")
        needs, rooms = _amounts(problem)
        index: dict[Amounts, int] = {}
        demand_of = tuple(index.setdefault(need, len(index)) for need in map(tuple, needs.tolist()))
        demands = np.array(list(index), dtype=np.int64).reshape(len(index), needs.shape[1])
        pooled = problem.minimize == "preferences" or not problem.split_jobs
        kinds = tuple(_kinds(problem, rooms, demands, pooled=pooled))
        zones = tuple(_zones(problem, demand_of, kinds, pooled=pooled))
        return cls(
            problem=problem,
            demands=demands,
            demand_of=demand_of,
            kinds=kinds,
            zones=zones,
            units=tuple(_units(problem, demand_of)) if pooled else (),
            offset=_offset(problem),
        )

    @property
    def moves(self) -> int:
        """Number of move columns: one per unit and, if flexible workers have their own zone, one per demand."""
        return len(self.units) + len(self.demands) * self._grouped

    @property
    def floor(self) -> int:
        """A lower bound on the objective that follows from the moves alone."""
        _, costs, most = self.moving
        return self.offset + int(np.minimum(costs * most, 0).sum())

    def worth(self, duals: Reals) -> Reals:
        """Return the worth of a worker by zone and demand, from the duals of `form`, shape (zones, demands)."""
        zones, demands = len(self.zones), len(self.demands)
        worth: Reals = np.maximum(duals[: zones * demands], 0.0).reshape(zones, demands)
        return worth

    def rents(self, duals: Reals, *, counting_cost: bool = True) -> Reals:
        """Return the rent of each kind of server, shape (kinds,).

        The rent is the price that the duals of `form` give to one of these servers plus, with `counting_cost`,
        the cost of using it.
        """
        rents: Reals = -np.minimum(duals[-len(self.kinds) :], 0.0)
        return rents + self.costs if counting_cost else rents

    @property
    def _grouped(self) -> bool:
        return len(self.zones) == _GROUPED

    @cached_property
    def rooms(self) -> Integers:
        """Free amounts on one server of each kind, shape (kinds, resources)."""
        rooms = np.array([kind.room for kind in self.kinds], dtype=np.int64)
        return rooms.reshape(len(self.kinds), self.demands.shape[1])

    @cached_property
    def costs(self) -> Integers:
        """Objective cost of using one server of each kind, shape (kinds,)."""
        return np.array([kind.cost for kind in self.kinds], dtype=np.int64)

    @cached_property
    def limits(self) -> Integers:
        """Number of servers of each kind, shape (kinds,)."""
        return np.array([len(kind.names) for kind in self.kinds], dtype=np.int64)

    @cached_property
    def totals(self) -> Integers:
        """Number of workers of each demand, shape (demands,)."""
        totals = np.zeros(len(self.demands), dtype=np.int64)
        for demand, workers in zip(self.demand_of, self.problem.workers, strict=True):
            totals[demand] += workers.count
        return totals

    def form(self, patterns: FillPatterns) -> StandardForm:
        """Return the integer program over the given patterns, with the columns of moves before the patterns."""
        covers, kinds = len(self.zones) * len(self.demands), len(self.kinds)
        moving, costs, most = self.moving
        return StandardForm.build(
            cost=np.concatenate([costs, self.costs[patterns.kind]]),
            matrix=hstack([moving, self.filling(patterns)], format="csr"),
            row_lower=np.append(self.needed, np.full(kinds, -np.inf)),
            row_upper=np.concatenate([np.full(covers, np.inf), self.limits]),
            column_upper=np.concatenate([most, np.full(len(patterns), np.inf)]),
            offset=self.offset,
        )

    def filling(self, patterns: FillPatterns) -> coo_array[Any]:
        """Return the columns of the given patterns in `form`."""
        demands, covers = len(self.demands), len(self.zones) * len(self.demands)
        row, column = np.nonzero(patterns.counts.T)
        rows = np.concatenate([patterns.zone[column] * demands + row, covers + patterns.kind])
        columns = np.concatenate([column, np.arange(len(patterns))])
        entries = np.concatenate([patterns.counts.T[row, column], np.ones(len(patterns), dtype=np.int64)])
        return coo_array((entries, (rows, columns)), shape=(covers + len(self.kinds), len(patterns)))

    @cached_property
    def needed(self) -> Integers:
        """Number of workers to place if none is moved, by zone and demand, shape (zones * demands,)."""
        needed = np.zeros(len(self.zones) * len(self.demands), dtype=np.int64)
        needed[: len(self.demands)] = self.totals
        return needed

    @cached_property
    def moving(self) -> tuple[csr_array[Any, Any], Integers, Integers]:
        """Columns of the moves in `form`: their matrix, costs and upper bounds."""
        n, rows = len(self.demands), len(self.demands) * len(self.zones) + len(self.kinds)
        entries: list[tuple[int, int, int]] = []
        costs, most = np.zeros((2, self.moves), dtype=np.int64)
        for column, unit in enumerate(self.units):
            costs[column], most[column] = unit.moving, unit.number
            for line, number in unit.members[0][0]:
                there = self._inference_zone(line) * n + self.demand_of[line]
                entries += [(self.demand_of[line], column, number), (there, column, -number)]
        for column in range(len(self.units), self.moves):
            demand = column - len(self.units)
            entries += [(_SHARED * n + demand, column, -1), (_FLEXIBLE * n + demand, column, 1)]
        if self._grouped:
            for demand, workers in zip(self.demand_of, self.problem.workers, strict=True):
                if workers.kind == "flexible":
                    most[len(self.units) + demand] += workers.count
                    costs[len(self.units) + demand] = workers.demand.gpu * self.problem.preference_weight
        row, position, entry = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        matrix = coo_array((entry.astype(np.float64), (row, position)), shape=(rows, self.moves))
        return csr_array(matrix), costs, most

    @property
    def shared_zone(self) -> int:
        """Index of the zone of inference servers for all workers."""
        return _SHARED

    def parts(self, unit: Unit) -> list[tuple[int, int, int]]:
        """Return, for each line of a unit, its demand, its zone after a move, and its number of workers."""
        return [
            (self.demand_of[line], self._inference_zone(line), number) for line, number in unit.members[0][0]
        ]

    def value(self, filled: Filled) -> int:
        """Return the objective of a solution."""
        moved, times = filled.values[: self.moves], filled.values[self.moves :]
        return self.offset + int(self.moving[1] @ moved + self.costs[filled.patterns.kind] @ times)

    def filled(self, moved: Integers, servers: Iterable[tuple[int, int, Mapping[int, int]]]) -> Filled:
        """Build a solution from the moves and each server's zone, kind, and number of workers by demand."""
        alike = Counter((zone, kind, tuple(sorted(holds.items()))) for zone, kind, holds in servers if holds)
        counts = np.zeros((len(alike), len(self.demands)), dtype=np.int64)
        for row, (_, _, holds) in enumerate(alike):
            for demand, number in holds:
                counts[row, demand] = number
        zones, kinds = (np.array([key[part] for key in alike], dtype=np.int64) for part in (0, 1))
        times = np.array(list(alike.values()), dtype=np.int64)
        return Filled(FillPatterns(zones, kinds, counts), np.append(moved, times))

    def encode(self, solution: PlacementSolution) -> Filled:
        """Convert a placement to a solution of the packing."""
        kind_of = {name: kind for kind, each in enumerate(self.kinds) for name in each.names}
        contents: defaultdict[str, Counter[int]] = defaultdict(Counter)
        on_inference: Counter[int] = Counter()
        stays: set[str] = set()
        for name, line, number in solution.placed:
            contents[name][self.demand_of[line]] += number
            if self.problem.workers[line].kind != "flexible":
                stays.add(name)
            if self.kinds[kind_of[name]].pool == "inference":
                on_inference[line] += number
        zone_of = {name: self._zone(self.kinds[kind_of[name]], name in stays) for name in contents}
        moved = np.zeros(self.moves, dtype=np.int64)
        for column, unit in enumerate(self.units):
            for together, _ in unit.members:
                line, number = together[0]
                moved[column] += on_inference[line] // number
        if self._grouped:
            for name, line, number in solution.placed:
                if self.problem.workers[line].kind == "flexible" and zone_of[name] == _SHARED:
                    moved[len(self.units) + self.demand_of[line]] += number
        return self.filled(moved, ((zone_of[name], kind_of[name], holds) for name, holds in contents.items()))

    def _zone(self, kind: ServerKind, stays: bool) -> int:
        if kind.pool != "inference":
            return 0
        return _SHARED if stays or kind.in_use or not self._grouped else _FLEXIBLE

    def _inference_zone(self, line: int) -> int:
        flexible = self._grouped and self.problem.workers[line].kind == "flexible"
        return _FLEXIBLE if flexible else _SHARED

    def solution(self, values: Integers, patterns: FillPatterns) -> PlacementSolution:
        """Convert integer values of the columns of `form` to a placement."""
        moved, filled = values[: self.moves], values[self.moves :]
        stock = self._stock(moved)
        names = [iter(kind.names) for kind in self.kinds]
        placed = []
        for pattern in np.flatnonzero(filled):
            counts = [
                (demand, number) for demand, number in enumerate(patterns.counts[pattern].tolist()) if number
            ]
            shelf = stock[patterns.zone[pattern]]
            for _ in range(filled[pattern]):
                name = next(names[patterns.kind[pattern]])
                for demand, number in counts:
                    placed += [Placed(name, line, some) for line, some in _take(shelf[demand], number)]
        return PlacementSolution(placed=tuple(placed))

    def _stock(self, moved: Integers) -> list[defaultdict[int, list[Some]]]:
        """Return the workers to place in each zone, grouped by demand."""
        stock: list[defaultdict[int, list[Some]]] = [defaultdict(list) for _ in self.zones]
        if not self.units:
            for line, workers in enumerate(self.problem.workers):
                stock[0][self.demand_of[line]].append((line, workers.count))
            return stock
        for unit, to_move in zip(self.units, moved, strict=False):
            left = int(to_move)
            for together, times in unit.members:
                moving = min(left, times)
                left -= moving
                for line, number in together:
                    demand = self.demand_of[line]
                    stock[0][demand].append((line, number * (times - moving)))
                    stock[self._inference_zone(line)][demand].append((line, number * moving))
        for demand, sharing in enumerate(moved[len(self.units) :]):
            stock[_SHARED][demand] += list(_take(stock[_FLEXIBLE][demand], int(sharing)))
        return stock


_TRAINING, _SHARED, _FLEXIBLE = range(3)
_GROUPED = 3


def _amounts(problem: Placement) -> tuple[Integers, Integers]:
    """Return the lines' needs and the servers' free amounts, in the packing's resources and units."""
    resources = len(problem.resources)
    needs = np.array(problem.demands, dtype=np.int64).reshape(-1, resources)
    rooms = np.array(problem.rooms, dtype=np.int64).reshape(-1, resources)
    together = np.array([line.count for line in problem.workers], dtype=np.int64) @ needs
    scarce = np.flatnonzero((together > rooms.min(axis=0)) & (together > 0))
    if problem.minimize == "preferences":  # GPUs are counted, so their numbers must be kept
        gpus = [problem.resources.index("gpu")] if together[problem.resources.index("gpu")] else []
        scarce = np.union1d(scarce, np.array(gpus, dtype=np.int64))
    asked = needs[:, scarce].any(axis=1).all()  # every worker must still need something
    kept = scarce if scarce.size and asked else np.flatnonzero(together > 0)
    units = np.gcd.reduce(needs[:, kept], axis=0)
    units = np.maximum(units, 1)
    return needs[:, kept] // units, rooms[:, kept] // units


def _kinds(problem: Placement, rooms: Integers, demands: Integers, *, pooled: bool) -> Iterator[ServerKind]:
    alike: defaultdict[tuple[str, bool, Amounts, int], list[str]] = defaultdict(list)
    of_use: dict[Amounts, bool] = {}
    for server, room in zip(problem.servers, map(tuple, rooms.tolist()), strict=True):
        if room not in of_use:
            of_use[room] = bool((demands <= room).all(axis=1).any())
        if of_use[room]:
            key = (server.pool if pooled else "", server.in_use, room, _cost(problem, server))
            alike[key] += server.names
    return (ServerKind(*key, names=tuple(names)) for key, names in alike.items())


def _cost(problem: Placement, server: Server) -> int:
    if server.in_use:
        return 0
    return server.capacity.gpu if problem.minimize == "fragmentation" else 1


def _zones(
    problem: Placement, demand_of: tuple[int, ...], kinds: tuple[ServerKind, ...], *, pooled: bool
) -> Iterator[Zone]:
    everything = tuple(sorted(set(demand_of)))
    if not pooled:
        yield Zone(tuple(range(len(kinds))), everything)
        return
    pools = [
        tuple(k for k, kind in enumerate(kinds) if kind.pool == pool) for pool in ("training", "inference")
    ]
    yield from (Zone(pool, everything) for pool in pools)
    flexible = {
        demand for demand, workers in zip(demand_of, problem.workers, strict=True) if workers.kind == "flexible"
    }
    if problem.minimize == "preferences" and flexible:
        yield Zone(tuple(k for k in pools[1] if not kinds[k].in_use), tuple(sorted(flexible)))


def _units(problem: Placement, demand_of: tuple[int, ...]) -> Iterator[Unit]:
    alike: defaultdict[Any, list[tuple[tuple[Some, ...], int]]] = defaultdict(list)
    if problem.split_jobs:
        for line, workers in enumerate(problem.workers):
            alike[demand_of[line], workers.kind].append((((line, 1),), workers.count))
    else:
        jobs: defaultdict[str, list[tuple[int, Workers]]] = defaultdict(list)
        for line, workers in enumerate(problem.workers):
            jobs[workers.job].append((line, workers))
        for job in jobs.values():
            profile = sorted((demand_of[line], workers.kind, workers.count) for line, workers in job)
            alike[tuple(profile)].append((tuple((line, workers.count) for line, workers in job), 1))
    for members in alike.values():
        together = members[0][0]
        yield Unit(tuple(members), sum(_moving(problem, line) * number for line, number in together))


def _moving(problem: Placement, line: int) -> int:
    """Return what moving one worker to the inference servers adds to the objective."""
    workers = problem.workers[line]
    if problem.minimize != "preferences":
        return 0
    return workers.demand.gpu * problem.preference_weight * (1 if workers.kind == "inelastic" else -1)


def _offset(problem: Placement) -> int:
    """Return the objective if all units are on training servers and no server is opened."""
    if problem.minimize == "fragmentation":
        free = sum(server.free_gpus * server.count for server in problem.servers if server.in_use)
        return free - sum(line.demand.gpu * line.count for line in problem.workers)
    used = sum(server.count for server in problem.servers if server.in_use)
    if problem.minimize == "servers":
        return used
    elastic = sum(line.demand.gpu * line.count for line in problem.workers if line.kind != "inelastic")
    return used + elastic * problem.preference_weight


def _take(shelf: list[Some], number: int) -> Iterator[Some]:
    """Remove up to the given number of workers from a shelf, and yield them."""
    while number and shelf:
        line, there = shelf.pop()
        taken = min(there, number)
        number -= taken
        if there > taken:
            shelf.append((line, there - taken))
        if taken:
            yield line, taken
