"""Reduced: an integer program over the remaining options, which merges single-node jobs of the same size."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.goodput.case import GoodputOption, Vector
from formulations.goodput.program import OptionProgram
from formulations.goodput.rows import Key, KeyedRows


@dataclass(frozen=True, eq=False)
class ReducedOptions(OptionProgram):
    """The integer program with the remaining options of each job, and the GPUs of every node.

    Single-node jobs with the same number of GPUs are interchangeable, so the program only decides how many of
    each size a node holds. Each spread job has variables for its GPUs on every node. A job that keeps its GPUs
    needs none.

    Columns besides `runs`: `holds`, the number of jobs of each size on each node; `parts` and `gpus`, whether a
    node holds a part of a spread job, and how many of its GPUs. Rows: `sized`, all jobs of each size are on
    some node; `all`, the GPUs of a spread job; `filled` and `empty`, a part has at least one GPU and other
    nodes have none; `room` and `wide`, the GPUs of a node, and at most one part on it.
    """

    def _place(self, rows: KeyedRows) -> None:
        nodes = range(len(self.case.problem.nodes))
        for job, options in enumerate(self.alive):
            for place, option in enumerate(options):
                self._use(rows, job, option, ("runs", job, place))
        for size in self.sizes:
            for node in nodes:
                if self.case.problem.nodes[node] >= size:
                    rows.column(("holds", size, node), self.case.problem.nodes[node] // size)
                    rows.add(("sized", size), ("holds", size, node), 1, 0, 0)
                    self._room(rows, node, ("holds", size, node), size)
        for job in self.spread:
            for node in nodes:
                self._share(rows, job, node)

    def _use(self, rows: KeyedRows, job: int, option: GoodputOption, column: Key) -> None:
        """Add the entries of an option's column to the rows."""
        if option.keeps:
            for node, count in enumerate(self.case.problem.currents[job]):
                if count:
                    self._room(rows, node, column, count)
                    if option.is_wide:
                        rows.add(("wide", node), column, 1, -np.inf, 1)
        elif option.is_single:
            rows.add(("sized", option.gpus), column, -1, 0, 0)
        elif option.is_spread:
            rows.add(("all", job), column, -option.gpus, 0, 0)

    def _share(self, rows: KeyedRows, job: int, node: int) -> None:
        """Add columns and rows for a spread job on a node."""
        gpus = self.case.problem.nodes[node]
        part, count = ("parts", job, node), ("gpus", job, node)
        rows.column(part, 1)
        rows.column(count, gpus)
        self._part(rows, job, part)
        rows.add(("all", job), count, 1, 0, 0)
        rows.add(("filled", job, node), count, 1, 0, np.inf)
        rows.add(("filled", job, node), part, -1, 0, np.inf)
        rows.add(("empty", job, node), count, 1, -np.inf, 0)
        rows.add(("empty", job, node), part, -gpus, -np.inf, 0)
        rows.add(("wide", node), part, 1, -np.inf, 1)
        self._room(rows, node, count, 1)

    def _room(self, rows: KeyedRows, node: int, column: Key, gpus: int) -> None:
        rows.add(("room", node), column, gpus, -np.inf, self.case.problem.nodes[node])

    def vectors(self, values: NDArray[np.float64]) -> list[Vector]:
        """Read the GPUs of each job on every node from the column values."""
        found = self.read(values)
        nodes = range(len(self.case.problem.nodes))
        homes = _homes(found)
        vectors: list[Vector] = []
        for job, option in enumerate(self.chosen(found)):
            if option.keeps:
                vectors.append(self.case.problem.currents[job])
            elif option.is_single:
                home = homes[option.gpus].pop()
                vectors.append(tuple(option.gpus if node == home else 0 for node in nodes))
            else:
                vectors.append(tuple(found.get(("gpus", job, node), 0) for node in nodes))
        return vectors

    def point(self, chosen: Sequence[GoodputOption], vectors: Iterable[Vector]) -> NDArray[np.float64]:
        """Return the column values for the given options and their GPUs.

        All of the options must be among the remaining ones.
        """
        found: dict[Key, float] = {}
        for job, (option, vector) in enumerate(zip(chosen, vectors, strict=True)):
            found["runs", job, self.alive[job].index(option)] = 1
            for node, count in enumerate(vector):
                if count and option.is_single:
                    found["holds", count, node] = found.get(("holds", count, node), 0) + 1
                elif count and not option.keeps:
                    found["parts", job, node], found["gpus", job, node] = 1, count
        return np.array([found.get(key, 0.0) for key in self.rows.columns])


def _homes(found: Mapping[Key, int]) -> dict[int, list[int]]:
    """Return, by size, the nodes of the single-node jobs, with one entry per job."""
    homes: dict[int, list[int]] = {}
    for (kind, size, *node), count in found.items():
        if kind == "holds":
            homes.setdefault(size, []).extend(node * count)
    return homes
