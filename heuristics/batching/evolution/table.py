"""Table: the costs of each job on each number of GPUs, as arrays; a search minimizes the sum over jobs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gsopt.core.errors import InvalidInput, shorten

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

#: A function that draws the weights of all jobs, shape (jobs,).
Draw = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True, eq=False)
class CostTable:
    """The costs of jobs: job j on c GPUs costs ``weight[j] * unit_cost[j, c] + extra_cost[j, c]``.

    A search minimizes the sum over all jobs. For the smallest remaining utilization (ONES, Eq. 8), the weight
    is the number of remaining samples, and the unit cost is the GPU-seconds of one sample.

    The constructor needs complete arrays. `CostTable.of` has the defaults stated below.

    Attributes
    ----------
    names
        Names of the jobs, in the order of their arrival.
    unit_cost
        Cost per unit of weight on 0, 1, ... GPUs, shape (jobs, GPUs + 1); infinite where a job cannot run.
    weight
        Weight of each job, known or expected, shape (jobs,).
    extra_cost
        Cost that does not depend on the weight, such as that of a reconfiguration; default 0.
    forced
        Which jobs must run, such as new ones; none by default.
    processed_seconds
        How long each job has run, in seconds; default 0. Jobs that have run longest are the first to give up
        GPUs to jobs that must run.
    batch_limit, local_limit
        Largest batch size of each job, in total and per GPU. They determine how a job shrinks when its batch
        limit falls. Defaults: the largest number of GPUs on which the job can run, and 1.
    target
        Lower limit on the number of GPUs in use in any candidate of the search; default 0.
    draw
        A function that draws new weights in every generation (Algorithm 1, line 2); if None, `weight` is used.

    Raises
    ------
    InvalidInput
        Shapes do not match, a weight is not finite, or jobs that must run cannot all run at once.

    Examples
    --------
    >>> table = CostTable.of(["a", "b"], [[0, 4, 6], [0, 1, np.inf]], weight=[2, 1])
    >>> table.gpus, table.cap.tolist(), table.used_cost.tolist()
    (2, [2, 1], [[0.0, 8.0, 12.0], [0.0, 1.0, inf]])
    """

    names: tuple[str, ...]
    unit_cost: Floats
    weight: Floats
    extra_cost: Floats
    forced: NDArray[np.bool_]
    processed_seconds: Floats
    batch_limit: Whole
    local_limit: Whole
    target: int = 0
    draw: Draw | None = None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        unit_cost: ArrayLike,
        *,
        weight: ArrayLike,
        extra_cost: ArrayLike | None = None,
        forced: ArrayLike | None = None,
        processed_seconds: ArrayLike | None = None,
        batch_limit: ArrayLike | None = None,
        local_limit: ArrayLike | None = None,
        target: int = 0,
        draw: Draw | None = None,
    ) -> "CostTable":
        """Build a table from anything that numpy can convert to arrays, with defaults for omitted arguments.

        Examples
        --------
        >>> CostTable.of(["a"], [[0, 4]], weight=[2]).forced.tolist()
        [False]
        """
        jobs = len(names)
        unit = np.asarray(unit_cost, dtype=np.float64)
        unit = unit if unit.ndim == _MATRIX else unit.reshape(jobs, -1 if jobs else 1)
        extra = np.zeros_like(unit) if extra_cost is None else np.asarray(extra_cost, dtype=np.float64)
        return cls(
            names=tuple(names),
            unit_cost=unit,
            weight=np.asarray(weight, dtype=np.float64),
            extra_cost=extra,
            forced=np.zeros(jobs, dtype=bool) if forced is None else np.asarray(forced, dtype=bool),
            processed_seconds=_floats(processed_seconds, jobs),
            batch_limit=_highest(unit) if batch_limit is None else np.asarray(batch_limit, dtype=np.int64),
            local_limit=np.ones(jobs, np.int64) if local_limit is None else np.asarray(local_limit, np.int64),
            target=target,
            draw=draw,
        )

    def __post_init__(self) -> None:
        shapes = {name: getattr(self, name).shape for name in _PER_JOB}
        for name, shape in shapes.items():
            if shape != (self.jobs,):
                raise InvalidInput(name, shorten(shape), f"must have the shape ({self.jobs},)")
        if self.extra_cost.shape != self.unit_cost.shape:
            rule = f"must have the shape of unit_cost, {self.unit_cost.shape}"
            raise InvalidInput("extra_cost", shorten(self.extra_cost.shape), rule)
        if not np.isfinite(self.weight).all():
            raise InvalidInput("weight", shorten(self.weight.tolist()), "must be finite")
        if (self.forced & (self.cap < 1)).any() or self.least.sum() > self.gpus:
            raise InvalidInput("forced", str(int(self.forced.sum())), "must be jobs that can all run at once")

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return len(self.names)

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return int(self.unit_cost.shape[1]) - 1

    @cached_property
    def number(self) -> dict[str, int]:
        """The index of each job, keyed by name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def lower(self) -> Whole:
        """For c = 0, 1, ...: the most GPUs, up to c, on which each job can run; shape (jobs, GPUs + 1)."""
        can = np.isfinite(self.unit_cost)
        can[:, :1] = True
        return np.maximum.accumulate(np.where(can, np.arange(self.unit_cost.shape[1]), 0), axis=1)

    @cached_property
    def cap(self) -> Whole:
        """The most GPUs that each job may have, shape (jobs,)."""
        most: Whole = self.lower[:, -1]
        return most

    @cached_property
    def least(self) -> Whole:
        """The fewest GPUs that each job must get, shape (jobs,).

        The number is 0 for a job that need not run.
        """
        runs = np.isfinite(self.unit_cost[:, 1:])
        return np.where(self.forced & runs.any(axis=1), 1 + runs.argmax(axis=1), 0) if self.gpus else self.cap

    @cached_property
    def victims(self) -> Whole:
        """The indices of the jobs in the order in which they give up GPUs to jobs that must run, shape (jobs,).

        The job that has run longest comes first.
        """
        return np.argsort(-self.processed_seconds, kind="stable")

    @cached_property
    def used_cost(self) -> Floats:
        """The cost of each job on 0, 1, ... GPUs up to the largest cap, with the weights in `weight`."""
        return self._cost(self.weight)

    def drawn_cost(self, generator: np.random.Generator) -> Floats:
        """Return the costs with newly drawn weights, or `used_cost` if `draw` is None (Algorithm 1, line 2)."""
        return self.used_cost if self.draw is None else self._cost(self.draw(generator))

    def _cost(self, weight: Floats) -> Floats:
        width = 1 + int(self.cap.max(initial=0))
        unit = np.where(np.isfinite(self.unit_cost[:, :width]), self.unit_cost[:, :width], 0)
        cost = weight[:, None] * unit + self.extra_cost[:, :width]
        return np.where(np.isfinite(self.unit_cost[:, :width]), cost, np.inf)


def _highest(unit_cost: Floats) -> Whole:
    """Return the largest number of GPUs at which each job has a finite cost, and at least 1."""
    places = np.arange(unit_cost.shape[1])
    highest: Whole = np.where(np.isfinite(unit_cost), places, 0).max(axis=1, initial=1)
    return highest


def _floats(given: ArrayLike | None, jobs: int) -> Floats:
    return np.zeros(jobs) if given is None else np.asarray(given, dtype=np.float64)


_MATRIX = 2

#: Fields with one value for each job.
_PER_JOB = ("weight", "forced", "processed_seconds", "batch_limit", "local_limit")
