"""Patterned: an integer program over the remaining options, which assigns a pattern to every node."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from formulations.goodput.case import GoodputOption, Vector
from formulations.goodput.patterns import NodeKind, Pattern, kinds
from formulations.goodput.program import OptionProgram
from formulations.goodput.rows import Key, KeyedRows

#: Maximum number of GPUs per node for which patterns are listed.
LARGEST_NODE = 32

#: Maximum number of patterns up to which the program is faster than `ReducedOptions`.
MOST_PATTERNS = 4_000


@dataclass(frozen=True, eq=False)
class Patterned(OptionProgram):
    """The integer program with the remaining options of each job, and a pattern for every node.

    Identical nodes are interchangeable, so the program counts, for each kind of node, the nodes that have each
    pattern. The linear relaxation mixes complete patterns, so it never puts, for example, a job on four GPUs
    and a job on five GPUs together on a node with eight. In contrast, `ReducedOptions` only limits the sum of
    GPUs on a node, so its relaxation admits large fractions of both jobs.

    Columns besides `runs`: `holds`, the number of nodes of a kind that have a pattern; `parts`, the number of
    nodes with a given room (GPUs left by the pattern) on which a spread job runs. Rows: `nodes`, the nodes of
    each kind; `stays`, a job that keeps its GPUs is in the patterns of all nodes on which it has GPUs;
    `sized`, enough places for single-node jobs of each size; `room`, enough nodes for all parts, with one part
    each; `all`, the parts have room for the whole job.
    """

    @cached_property
    def kinds(self) -> list[NodeKind]:
        """The kinds of nodes. The nodes of a kind are identical."""
        return kinds(self.case, self.alive)

    @cached_property
    def patterns(self) -> list[list[Pattern]]:
        """All patterns of each kind of node."""
        return [list(self._patterns(kind)) for kind in self.kinds]

    @property
    def is_small(self) -> bool:
        """Whether nodes are small and patterns few enough for this program to beat `ReducedOptions`."""
        if max(self.case.problem.nodes, default=0) > LARGEST_NODE:
            return False
        every = chain.from_iterable(map(self._patterns, self.kinds))
        return next(islice(every, MOST_PATTERNS, None), None) is None

    def _patterns(self, kind: NodeKind) -> Iterable[Pattern]:
        return kind.patterns(self.sizes, parts=bool(self.spread))

    def _place(self, rows: KeyedRows) -> None:
        for number, patterns in enumerate(self.patterns):
            for place, pattern in enumerate(patterns):
                self._hold(rows, number, pattern, ("holds", number, place))
        for job in self.spread:
            for room in self._rooms:
                self._share(rows, job, room)
        for job, options in enumerate(self.alive):
            for place, option in enumerate(options):
                self._use(rows, job, option, ("runs", job, place))

    def _hold(self, rows: KeyedRows, number: int, pattern: Pattern, column: Key) -> None:
        """Add a column for a pattern on nodes of a kind, with its entries in the rows."""
        nodes = len(self.kinds[number].nodes)
        rows.column(column, nodes)
        rows.add(("nodes", number), column, 1, -np.inf, nodes)
        for stay in pattern.stays:
            rows.add(("stays", stay.job, number), column, 1, 0, np.inf)
        for size, count in Counter(pattern.sizes).items():
            rows.add(("sized", size), column, count, 0, np.inf)
        if pattern.room:
            rows.add(("room", pattern.room), column, 1, 0, np.inf)

    @cached_property
    def _rooms(self) -> list[int]:
        return sorted({pattern.room for patterns in self.patterns for pattern in patterns if pattern.room})

    def _share(self, rows: KeyedRows, job: int, room: int) -> None:
        """Add a column for the parts of a spread job on nodes with the given room."""
        part = ("parts", job, room)
        rows.column(part, len(self.case.problem.nodes))
        self._part(rows, job, part)
        rows.add(("all", job), part, room, 0, np.inf)
        rows.add(("room", room), part, -1, 0, np.inf)

    def _use(self, rows: KeyedRows, job: int, option: GoodputOption, column: Key) -> None:
        """Add the entries of an option's column to the rows."""
        if option.keeps:
            for number, kind in enumerate(self.kinds):
                if any(stay.job == job for stay in kind.stays):
                    rows.add(("stays", job, number), column, -len(kind.nodes), 0, np.inf)
        elif option.is_single:
            rows.add(("sized", option.gpus), column, -1, 0, np.inf)
        elif option.is_spread:
            rows.add(("all", job), column, -option.gpus, 0, np.inf)

    def vectors(self, values: NDArray[np.float64]) -> list[Vector]:
        """Read the GPUs of each job on every node from the column values."""
        found = self.read(values)
        homes, rooms = self._places(found)
        vectors: list[Vector] = []
        for job, option in enumerate(self.chosen(found)):
            if option.keeps:
                vectors.append(self.case.problem.currents[job])
            elif option.is_single:
                vectors.append(self._vector({homes[option.gpus].pop(): option.gpus}))
            else:
                parts = [(room, found.get(("parts", job, room), 0)) for room in self._rooms]
                nodes = {rooms[room].pop(): room for room, number in parts for _ in range(number)}
                vectors.append(self._vector(_divided(nodes, option.gpus)))
        return vectors

    def _places(self, found: Mapping[Key, int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Return the nodes that hold jobs of each size, and the nodes with each amount of room for a part."""
        homes: defaultdict[int, list[int]] = defaultdict(list)
        rooms: defaultdict[int, list[int]] = defaultdict(list)
        for number, (kind, patterns) in enumerate(zip(self.kinds, self.patterns, strict=True)):
            nodes = iter(kind.nodes)
            for place, pattern in enumerate(patterns):
                for node in islice(nodes, found["holds", number, place]):
                    rooms[pattern.room].append(node)
                    for size in pattern.sizes:
                        homes[size].append(node)
        return homes, rooms

    def _vector(self, gpus: Mapping[int, int]) -> Vector:
        return tuple(gpus.get(node, 0) for node in range(len(self.case.problem.nodes)))

    def point(self, chosen: Sequence[GoodputOption], vectors: Iterable[Vector]) -> NDArray[np.float64]:
        """Return the column values for the given options and their GPUs.

        All of the options must be among the remaining ones.
        """
        standing = list(zip(chosen, vectors, strict=True))
        found: Counter[Key] = Counter()
        for job, option in enumerate(chosen):
            found["runs", job, self.alive[job].index(option)] = 1
        for number, kind in enumerate(self.kinds):
            for node in kind.nodes:
                pattern = self._pattern(kind, node, standing)
                found["holds", number, self.patterns[number].index(pattern)] += 1
                for job, (option, vector) in enumerate(standing):
                    if option.is_spread and vector[node]:
                        found["parts", job, pattern.room] += 1
        return np.array([float(found[key]) for key in self.rows.columns])

    def _pattern(self, kind: NodeKind, node: int, standing: Sequence[tuple[GoodputOption, Vector]]) -> Pattern:
        """Return the pattern of a node. Idle GPUs become room for a part, or places for the smallest jobs."""
        stays = tuple(stay for stay in kind.stays if standing[stay.job][0].keeps)
        sizes = [vector[node] for option, vector in standing if option.is_single and vector[node]]
        room = kind.gpus - sum(stay.gpus for stay in stays) - sum(sizes)
        if not self.spread or any(stay.is_wide for stay in stays):
            idle = room // self.sizes[0] if self.sizes else 0
            sizes, room = [*sizes, *self.sizes[:1] * idle], 0
        return Pattern(stays, tuple(sorted(sizes)), room)


def _divided(rooms: Mapping[int, int], gpus: int) -> dict[int, int]:
    """Divide the GPUs of a job among nodes with the given room, with at least one GPU on each."""
    spare, parts = gpus - len(rooms), {}
    for node, room in rooms.items():
        more = min(room - 1, spare)
        parts[node], spare = 1 + more, spare - more
    return parts
