"""Search: candidates evolved by crossover, mutation and repair, and selected as in NSGA-II."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import Budget, rounds
from heuristics.goodput.cells import HeldCells
from heuristics.goodput.fronts import ranks, survivors
from heuristics.goodput.table import Counts, Floats, SpeedupTable

#: Probabilities that a job is reset, that a job loses GPUs, and that it then loses its GPUs on a given node.
_BACK, _LOSER, _LOST = 0.1, 0.1, 0.1


def search(
    table: SpeedupTable,
    start: Counts,
    random: np.random.Generator,
    *,
    population: int,
    generations: int,
    most_nodes: int,
    budget: Budget,
) -> Counts:
    """Return the final candidates that no other dominates in fitness and utilization, fittest first.

    `start` needs at least one job, node and candidate. Candidates have the shape (candidates, jobs, nodes) and
    hold the GPUs of each job on every node.
    """
    operators = _Operators(table, most_nodes, random)
    pool = operators.repaired(start).without(set())
    for _ in rounds(generations, budget):
        children = operators.repaired(operators.mutated(operators.crossed(pool.candidates, population)))
        both = pool.and_(children.without(set(pool.names)))
        pool = both.at(survivors(both.scores, population))
    best = np.flatnonzero(ranks(pool.scores) == 0)
    return pool.candidates[best[np.argsort(-pool.scores[best, 0], kind="stable")]]


@dataclass(frozen=True, eq=False)
class _Pool:
    """Candidates with their fitness and utilisation, and with their bytes, which identify duplicates."""

    candidates: Counts
    scores: Floats
    names: list[bytes]

    def at(self, places: NDArray[np.int64]) -> "_Pool":
        """Return the candidates at the given indices."""
        return _Pool(self.candidates[places], self.scores[places], [self.names[place] for place in places])

    def and_(self, other: "_Pool") -> "_Pool":
        """Return the candidates of both pools."""
        return _Pool(
            np.concatenate([self.candidates, other.candidates]),
            np.concatenate([self.scores, other.scores]),
            [*self.names, *other.names],
        )

    def without(self, seen: set[bytes]) -> "_Pool":
        """Return the candidates not in `seen`, without duplicates."""
        first = {name: place for place, name in reversed(list(enumerate(self.names))) if name not in seen}
        return self.at(np.array(sorted(first.values()), dtype=np.int64))


class _Operators:
    """The genetic operators, on candidates of shape (candidates, jobs, nodes)."""

    def __init__(self, table: SpeedupTable, most_nodes: int, random: np.random.Generator) -> None:
        self.table, self.most_nodes, self.random = table, most_nodes, random
        self.gpus = np.array(table.problem.nodes, dtype=np.int64)
        total = self.gpus.sum()
        self.limits = np.array([job.max_gpus or total for job in table.problem.jobs], dtype=np.int64)
        self.stood = np.count_nonzero(table.current, axis=1)

    def crossed(self, candidates: Counts, number: int) -> Counts:
        """Cross pairs of parents, each the better of two random candidates.

        The given candidates must be sorted, best first.
        """
        one, other = self.random.integers(len(candidates), size=(2, 2, -(-number // 2))).min(axis=0)
        jobs = np.arange(candidates.shape[1])
        swapped = jobs < self.random.integers(len(jobs), size=(len(one), 1))
        parents = [np.where(swapped, a[:, None], b[:, None]) for a, b in ((other, one), (one, other))]
        children: Counts = candidates[np.concatenate(parents)[:number], jobs]
        return children

    def mutated(self, candidates: Counts) -> Counts:
        """Reset some jobs, take GPUs from others, and grant GPUs to others; modify the candidates in place."""
        _, jobs, nodes = candidates.shape
        back = np.nonzero(self.random.random(candidates.shape[:2]) < _BACK)
        candidates[back] = self.table.current[back[1]]
        loser = np.nonzero(self.random.random(candidates.shape[:2]) < _LOSER)
        candidates[loser] *= self.random.random((len(loser[0]), nodes)) >= _LOST
        flat, cells = candidates.reshape(-1), HeldCells.of(candidates)
        room = (cells.gpus_on_nodes < self.gpus).reshape(-1)
        stands = np.bincount(cells.places, minlength=len(room))
        anyone = self.random.binomial(candidates.size, 1 / jobs)
        someone = self.random.random(len(cells.at)) * stands[cells.places] < 1
        grows = np.concatenate(
            [self.random.choice(candidates.size, anyone, replace=False, shuffle=False), cells.at[someone]]
        )
        grows = grows[room[grows // (jobs * nodes) * nodes + grows % nodes]]
        most = np.maximum(self.gpus[grows % nodes], flat[grows])
        flat[grows] = self.random.integers(flat[grows], most + 1)
        return candidates

    def repaired(self, candidates: Counts) -> _Pool:
        """Remove GPUs that break a rule: on nodes with several wide jobs, beyond job limits, on full nodes."""
        cells = HeldCells.of(candidates)
        self._part_wide_jobs(cells)
        self._limit_jobs(cells)
        self._limit_nodes(cells)
        speedups = self._speedups(cells)
        impossible = (speedups < 0).reshape(-1)[cells.rows]
        if impossible.any():
            cells.gpus[impossible] = 0
            speedups = self._speedups(cells)
        filled = cells.filled()
        return _Pool(filled, self._scores(cells, speedups), [candidate.tobytes() for candidate in filled])

    def _part_wide_jobs(self, cells: HeldCells) -> None:
        """On each node, keep only the first of the jobs that run on several nodes; single-node jobs stay."""
        wide = np.flatnonzero(cells.nodes_of_jobs.reshape(-1)[cells.rows] > 1)
        _, first = np.unique(cells.places[wide], return_index=True)
        cells.gpus[np.delete(wide, first)] = 0

    def _limit_jobs(self, cells: HeldCells) -> None:
        """Enforce each job's limits on GPUs and nodes, taking its nodes in random order."""
        beyond = (cells.gpus_of_jobs > self.limits) | (cells.nodes_of_jobs > self.most_nodes)
        at = self.random.permutation(np.flatnonzero(beyond.reshape(-1)[cells.rows] & (cells.gpus > 0)))
        at = at[np.argsort(cells.rows[at], kind="stable")]
        cells.fill(at, cells.rows, self.limits[cells.jobs[at]])
        at = at[cells.gpus[at] > 0]
        rows = cells.rows[at]
        cells.gpus[at[np.arange(len(at)) - np.searchsorted(rows, rows) >= self.most_nodes]] = 0

    def _limit_nodes(self, cells: HeldCells) -> None:
        """Enforce the capacity of each node. Jobs that are listed first keep their GPUs."""
        full = (cells.gpus_on_nodes > self.gpus).reshape(-1)
        at = np.flatnonzero(full[cells.places])
        at = at[np.argsort(cells.places[at], kind="stable")]
        cells.fill(at, cells.places, self.gpus[cells.nodes[at]])

    def _speedups(self, cells: HeldCells) -> Floats:
        return self.table.at(np.arange(cells.shape[1]), cells.nodes_of_jobs, cells.gpus_of_jobs)

    def _scores(self, cells: HeldCells, speedups: Floats) -> Floats:
        """Return the fitness and utilisation of each candidate, shape (candidates, 2)."""
        same = (cells.gpus == self.table.current[cells.jobs, cells.nodes]) & (cells.gpus > 0)
        restarts = (cells.in_rows(same) != self.stood) | (cells.nodes_of_jobs != self.stood)
        counted = self.table.counted(speedups, restarts).mean(axis=-1)
        used = (cells.gpus_on_nodes > 0) @ self.gpus
        fitness = counted ** (1 / self.table.problem.power)
        return np.stack([fitness, speedups.sum(axis=-1) / np.maximum(used, 1)], axis=-1)
