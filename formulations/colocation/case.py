"""Case: the pairs of jobs that save time by sharing GPUs, each with its best mode and saving."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import NamedTuple

from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact, decimal, exact_total, whole
from gsopt.problems.colocation import Colocation, ColocationSolution, Share


class Saving(NamedTuple):
    """The time that a pair saves, in seconds, and the mode of the pending job that achieves this."""

    seconds: Exact
    mode: str


@dataclass(frozen=True)
class ColocationCase:
    """A problem reduced to the pairs that save time."""

    problem: Colocation
    # largest saving of each pair, by the indices of the running and the pending job
    savings: Mapping[tuple[int, int], Saving]
    complete: bool = True  # whether all pairs were evaluated before time ran out

    @classmethod
    def of(cls, problem: Colocation, budget: Budget | None = None) -> "ColocationCase":
        """Evaluate every pair, stopping early if time runs out.

        For a given partner, the mode in which the pending job has the shortest run time is best, because the
        sum of both completion times increases with this run time.
        """
        savings: dict[tuple[int, int], Saving] = {}
        for r, beside in enumerate(problem.running):
            if budget is not None and budget.passed:
                return cls(problem, savings, complete=False)
            for p, job in enumerate(problem.pending):
                offered = problem.offered(beside, job)
                if offered:
                    best = min(offered, key=lambda each: each.pair.seconds)
                    saved = best.pair.saved
                    if saved > 0:
                        savings[r, p] = Saving(whole(saved), best.name)
        return cls(problem, savings)

    @cached_property
    def weights(self) -> Mapping[tuple[int, int], int]:
        """The savings as integer multiples of one unit, which are much faster to compare than fractions."""
        common = lcm(*(saving.seconds.denominator for saving in self.savings.values()))
        return {
            pair: saving.seconds.numerator * (common // saving.seconds.denominator)
            for pair, saving in self.savings.items()
        }

    @property
    def bound(self) -> Exact:
        """An upper bound on the total saving: the lowest of several bounds that are cheap to compute.

        No job finishes sooner when sharing than when running alone, so a pair saves at most the remaining time
        of its running job. The longest remaining times, one per pending job, therefore add up to a bound. If
        all pairs were evaluated, the sum of the best savings of all running jobs is a bound too, and so is the
        sum of the best savings of all pending jobs.
        """
        left = sorted((decimal(job.seconds) for job in self.problem.running), reverse=True)
        most = exact_total(left[: len(self.problem.pending)])
        return min(most, self._bests(0), self._bests(1)) if self.complete else most

    def _bests(self, side: int) -> Exact:
        bests: dict[int, tuple[int, tuple[int, int]]] = {}
        for pair, weight in self.weights.items():
            bests[pair[side]] = max(bests.get(pair[side], (0, pair)), (weight, pair))
        return exact_total(self.savings[pair].seconds for _, pair in bests.values())

    def greedy(self) -> list[tuple[int, int]]:
        """Return pairs chosen one by one, largest saving first.

        Their total saving is at least half of the maximum over the evaluated pairs.
        """
        order = sorted(self.weights, key=lambda pair: (-self.weights[pair], *pair))
        running, pending = set[int](), set[int]()
        taken: list[tuple[int, int]] = []
        for r, p in order:
            if r not in running and p not in pending:
                running.add(r)
                pending.add(p)
                taken.append((r, p))
        return taken

    def solution(self, pairs: Iterable[tuple[int, int]]) -> ColocationSolution:
        """Convert pairs of (running, pending) indices to a solution."""
        running, pending = self.problem.running, self.problem.pending
        return ColocationSolution(
            shares={
                pending[p].name: Share(running=running[r].name, mode=self.savings[r, p].mode)
                for r, p in sorted(pairs, key=lambda pair: pair[1])
            }
        )
