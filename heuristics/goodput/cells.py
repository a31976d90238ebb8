"""Cells: candidate allocations, stored as the GPUs of jobs on nodes, without the zeros."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heuristics.goodput.table import Counts


@dataclass(frozen=True, eq=False)
class HeldCells:
    """The non-empty cells of an array with each candidate's GPUs by job and node.

    Attributes
    ----------
    shape
        Numbers of candidates, jobs and nodes.
    at
        Indices of the cells in the flattened array, in ascending order.
    gpus
        GPUs in each cell. The numbers may be changed, also to 0.
    """

    shape: tuple[int, int, int]
    at: NDArray[np.int64]
    gpus: Counts

    @classmethod
    def of(cls, candidates: Counts) -> "HeldCells":
        """Return the non-empty cells of candidates, given as an array of shape (candidates, jobs, nodes)."""
        count, jobs, nodes = candidates.shape
        flat = candidates.reshape(-1)
        at = np.flatnonzero(flat != 0)
        return cls((count, jobs, nodes), at, flat[at].astype(np.int64))

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """Node of each cell."""
        return self.at % self.shape[2]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Combined index of the candidate and job of each cell."""
        return self.at // self.shape[2]

    @cached_property
    def jobs(self) -> NDArray[np.int64]:
        """Job of each cell."""
        return self.rows % self.shape[1]

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Combined index of the candidate and node of each cell."""
        return self.rows // self.shape[1] * self.shape[2] + self.nodes

    @property
    def nodes_of_jobs(self) -> Counts:
        """Number of nodes of each job in each candidate."""
        return self.in_rows(self.gpus > 0)

    @property
    def gpus_of_jobs(self) -> Counts:
        """Number of GPUs of each job in each candidate."""
        return self.in_rows(self.gpus)

    @property
    def gpus_on_nodes(self) -> Counts:
        """Number of used GPUs on each node in each candidate."""
        count, _, nodes = self.shape
        return _sums(self.places, self.gpus, (count, nodes))

    def in_rows(self, values: NDArray[np.bool_] | Counts) -> Counts:
        """Add up the values of cells by candidate and job."""
        return _sums(self.rows, values, self.shape[:2])

    def filled(self) -> Counts:
        """Return the candidates as a full array of shape (candidates, jobs, nodes)."""
        candidates = np.zeros(self.shape, dtype=np.int16 if self.gpus.max(initial=0) < 2**15 else np.int64)
        candidates.reshape(-1)[self.at] = self.gpus
        return candidates

    def fill(self, cells: NDArray[np.int64], groups: NDArray[np.int64], limits: NDArray[np.int64]) -> None:
        """Limit the total number of GPUs in each group of cells; a group's last cells lose GPUs first.

        `cells` are indices into `at`, sorted by group. `groups` has the group of every entry of `at`. `limits`
        has one entry for each of the `cells`: the limit of its group.
        """
        gpus = self.gpus[cells]
        total = gpus.cumsum()
        begins = np.diff(groups[cells], prepend=-1) != 0
        before = total - gpus
        before -= np.maximum.accumulate(np.where(begins, before, 0))
        self.gpus[cells] = np.minimum(before + gpus, limits) - np.minimum(before, limits)


def _sums(groups: NDArray[np.int64], values: NDArray[np.bool_] | Counts, shape: tuple[int, int]) -> Counts:
    counted = np.bincount(groups, weights=values, minlength=shape[0] * shape[1])
    return counted.astype(np.int64).reshape(shape)
