"""Fragmentation: FGD's measure, the free GPU capacity that typical workers cannot use."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gsopt.problems.placement import WHOLE_GPU, Placement
from heuristics.placement.serving import Integers

#: Indices of GPUs and CPUs, the only resources that the measure considers.
_GPU, _CPU = 0, 1


@dataclass(frozen=True, eq=False)
class TypicalWorkers:
    """The kinds of workers in a workload, with their frequencies."""

    numbers: Integers  # number of workers of each kind
    cpus: Integers
    gpus: Integers  # whole GPUs
    parts: Integers  # thousandths of one GPU
    types: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, problem: Placement, *, most: float = 1.0) -> "TypicalWorkers":
        """Count workers by kind; keep the most frequent kinds until they cover the share `most` of all workers.

        Workers of one kind need the same CPUs and GPUs, and accept the same GPU types.
        """
        counts: Counter[tuple[int, int, int, tuple[str, ...]]] = Counter()
        for line, demand in zip(problem.workers, problem.demands, strict=True):
            counts[demand[_CPU], line.gpu_part, demand[_GPU], tuple(line.gpu_types)] += line.count
        order = sorted(counts, key=lambda kind: (counts[kind], *_size(*kind)))
        kept, covered, total = [], 0, counts.total()
        while order and covered < most * total:
            kept.append(order.pop())
            covered += counts[kept[-1]]
        return cls(
            numbers=np.array([counts[kind] for kind in kept], dtype=np.int64),
            cpus=np.array([cpu for cpu, _, _, _ in kept], dtype=np.int64),
            gpus=np.array([gpu for _, _, gpu, _ in kept], dtype=np.int64),
            parts=np.array([part for _, part, _, _ in kept], dtype=np.int64),
            types=tuple(types for _, _, _, types in kept),
        )

    @property
    def total(self) -> int:
        """Number of typical workers."""
        return int(self.numbers.sum())

    @cached_property
    def _sizes(self) -> tuple[Integers, Integers]:
        """The distinct amounts of a GPU that workers need, and for each kind the index of its amount."""
        sizes, of_kind = np.unique(np.where(self.parts > 0, self.parts, WHOLE_GPU), return_inverse=True)
        return sizes, of_kind

    def useless(self, cpus: Integers, free: Integers, shared: Integers, gpu_types: Iterable[str]) -> Integers:
        """Return, for each server, the unusable thousandths of GPUs, summed over the typical workers.

        The arguments give, for each server, the free CPUs, the free GPUs, the free thousandths of each shared
        GPU, and the GPU type.
        """
        left = free * WHOLE_GPU + shared.sum(axis=1)
        fits = cpus[:, None] >= self.cpus
        fits &= free[:, None] >= self.gpus
        fits &= (free[:, None] > 0) | (shared.max(axis=1)[:, None] >= self.parts) | (self.parts == 0)
        fits &= (self.gpus > 0) | (self.parts > 0)  # a worker that needs no GPUs uses none of the free ones
        if any(self.types):
            fits &= self._suiting(gpu_types)
        sizes, of_kind = self._sizes
        large = np.where(shared[:, :, None] >= sizes, shared[:, :, None], 0).sum(axis=1)
        usable = large + free[:, None] * WHOLE_GPU
        used: Any = (np.where(fits, usable[:, of_kind], 0) * self.numbers).sum(axis=1)
        useless: Integers = left * self.total - used
        return useless

    def _suiting(self, gpu_types: Iterable[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        names, of_server = np.unique(np.array(list(gpu_types)), return_inverse=True)
        table = np.array(
            [[not types or name in types for types in self.types] for name in names], dtype=np.bool_
        )
        suiting: np.ndarray[Any, np.dtype[np.bool_]] = table.reshape(len(names), len(self.types))[of_server]
        return suiting


def _size(cpus: int, part: int, gpus: int, types: tuple[str, ...]) -> tuple[int, int, int, str]:
    """Return the key that sorts equally frequent kinds, as in the authors' program."""
    return cpus, part or WHOLE_GPU * bool(gpus), gpus, "|".join(types)
