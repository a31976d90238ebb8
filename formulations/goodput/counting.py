"""Counting: the knapsack in which only numbers of GPUs matter, and the options that it rules out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from formulations.goodput.case import Floats, GoodputCase, GoodputOption
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.performance.batching.split import least_costs, read_back

#: Maximum number of cells (job, number of GPUs) in a table.
LARGEST_TABLE = 50_000_000


@dataclass(frozen=True, eq=False)
class Counting:
    """The minimum costs of the jobs if only the total number of GPUs were limited, and not that of each node.

    This is a multiple-choice knapsack.
    """

    case: GoodputCase  # the problem
    # minimum cost of each job on 0, 1, ... GPUs, on any nodes, shape (jobs, most GPUs of a job + 1)
    costs: Floats
    # before, behind: minimum cost of the first, and of the last, jobs on an exact number of GPUs, shape (jobs +
    # 1, GPUs + 1)
    before: Floats
    behind: Floats

    @classmethod
    def of(cls, case: GoodputCase) -> "Counting":
        """Fill the tables, or raise `Unsupported` if they would have more than `LARGEST_TABLE` cells each."""
        gpus, jobs = case.problem.total, len(case.options)
        width = max((option.gpus for options in case.options for option in options), default=0)
        if (jobs + 1) * (gpus + 1) > LARGEST_TABLE:
            raise Unsupported(f"a table of {jobs:,} jobs by {gpus:,} GPUs is too large")
        costs = np.full((jobs, width + 1), np.inf)
        for job, options in enumerate(case.options):
            for option in options:
                costs[job, option.gpus] = min(costs[job, option.gpus], option.cost)
        return cls(case, costs, least_costs(costs, gpus), least_costs(costs[::-1], gpus))

    @property
    def least(self) -> float:
        """The minimum total cost in the knapsack, which is a lower bound except for rounding errors."""
        return float(self.before[-1].min())

    def choice(self) -> list[GoodputOption]:
        """Return an optimal solution of the knapsack: one option for each job."""
        last = self.before[-1]
        counts = read_back(self.before, self.costs, int(last.argmin()))
        return [
            min((option for option in options if option.gpus == gpus), key=lambda option: option.cost)
            for options, gpus in zip(self.case.options, counts.tolist(), strict=True)
        ]

    def alive(self, limit: float, budget: Budget) -> list[Sequence[GoodputOption]]:
        """List the options of each job with which the knapsack can meet a limit on the total cost.

        If time runs out, all options are listed.
        """
        slack = limit * (1 + 4 * self.case.error)
        kept: list[Sequence[GoodputOption]] = []
        for job, options in enumerate(self.case.options):
            if budget.passed:
                return list(self.case.options)
            others = self._others(job)
            kept.append([option for option in options if option.cost + others[option.gpus] <= slack])
        return kept

    def _others(self, job: int) -> Floats:
        """Return the minimum cost of all other jobs, by the number of GPUs that the given job takes."""
        behind = np.append(self._rest[len(self.case.options) - job - 1], np.inf)
        totals: Floats = (self.before[job] + behind[self._left]).min(axis=1)
        return totals

    @cached_property
    def _rest(self) -> Floats:
        rest: Floats = np.minimum.accumulate(self.behind, axis=1)
        return rest

    @cached_property
    def _left(self) -> NDArray[np.int64]:
        """The GPUs left, by the GPUs of a job (rows) and of the jobs before it (columns); -1 if too few."""
        gpus = self.case.problem.total
        left: NDArray[np.int64] = gpus - np.arange(self.costs.shape[1])[:, None] - np.arange(gpus + 1)
        return np.maximum(left, -1)
