"""Table: a dynamic program for the multiple-choice knapsack with one capacity per GPU type."""

from dataclasses import dataclass
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from formulations.configuration.case import LARGEST_TOTAL, ConfigurationCase, Option
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported

#: Maximum number of cells in a table, which take 160 MB. There is one cell for each job and each combination of
#: numbers of GPUs by type.
LARGEST_TABLE = 20_000_000

#: Cost that marks infeasible cells: above any total, even after all costs are added to it or subtracted from
#: it.
_NEVER = np.int64(4 * LARGEST_TOTAL)

Wholes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LeastCosts:
    """The minimum costs of the last k jobs, for every k, by the GPUs of each type that are left for them."""

    case: ConfigurationCase  # the problem in integers
    # GPUs of each type in a cell: the greatest common divisor of all options of the type
    blocks: tuple[int, ...]
    costs: Wholes  # minimum cost of each job and later ones, shape (jobs + 1, blocks of first type + 1, ...)

    @classmethod
    def of(cls, case: ConfigurationCase, budget: Budget) -> "LeastCosts | None":
        """Compute the table, or return None if time runs out.

        Raises `Unsupported` if the table would have more than `LARGEST_TABLE` cells.
        """
        blocks, sizes = _sizes(case)
        if (len(case.options) + 1) * prod(sizes) > LARGEST_TABLE:
            raise Unsupported(
                f"a table of {len(case.options):,} jobs by {prod(sizes):,} sets of GPUs is too large"
            )
        table = cls(case, blocks, np.full((len(case.options) + 1, *sizes), _NEVER))
        table.costs[-1] = 0
        for job in reversed(range(len(case.options))):
            if budget.passed:
                return None
            table._add(job)
        return table

    @property
    def least(self) -> int:
        """The minimum total of the jobs' integer costs when all GPUs are available."""
        return int(self.costs[0].flat[-1])

    def choice(self) -> list[Option]:
        """Return the options with the minimum total cost.

        Ties are broken by the preferences of the first job, then by those of the second one, and so on.
        """
        left = [size - 1 for size in self.costs.shape[1:]]
        chosen: list[Option] = []
        for job, options in enumerate(self.case.options):
            least = self.costs[(job, *left)]
            for option in options:
                needs = option.gpus // self.blocks[option.kind] if option.gpus else 0
                rest = [free - needs * (kind == option.kind) for kind, free in enumerate(left)]
                if min(rest, default=0) >= 0 and option.cost + self.costs[(job + 1, *rest)] == least:
                    left = rest
                    chosen.append(option)
                    break
        return chosen

    def _add(self, job: int) -> None:
        after, here = self.costs[job + 1, ...], self.costs[job, ...]  # arrays also where there is no type
        for option in self.case.options[job]:
            if not option.gpus:
                np.minimum(here, after + option.cost, out=here)
                continue
            needs = option.gpus // self.blocks[option.kind]
            upper = _part(option.kind, slice(needs, None))
            lower = _part(option.kind, slice(None, max(after.shape[option.kind] - needs, 0)))
            part = here[upper]
            np.minimum(part, after[lower] + option.cost, out=part)


def _part(kind: int, cells: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * kind, cells)


def _sizes(case: ConfigurationCase) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the GPUs per cell and the number of cells, by type, considering only GPUs that jobs can use."""
    blocks, sizes = [], []
    for kind, gpus in enumerate(case.problem.gpus.values()):
        wanted = [
            [each.gpus for each in options if each.gpus and each.kind == kind] for options in case.options
        ]
        block = gcd(*(count for counts in wanted for count in counts)) or 1
        useful = min(gpus, sum(max(counts, default=0) for counts in wanted))
        blocks.append(block)
        sizes.append(useful // block + 1)
    return tuple(blocks), tuple(sizes)
