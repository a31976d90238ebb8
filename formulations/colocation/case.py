"""Case: what every pair of jobs saves in its best mode, where it saves anything."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from gsopt.budget import Budget
from gsopt.grid import Exact, exact_total, whole
from gsopt.problems.colocation import Colocation, ColocationSolution, Share


class Saving(NamedTuple):
    """What a pair saves, and the mode of the new job in which it does."""

    seconds: Exact
    mode: str


class Case(NamedTuple):
    """A problem by the pairs that save something.

    Attributes
    ----------
    problem
        The problem.
    savings
        The best that a pair can save, by the places of the running and the pending job.
    complete
        Whether all pairs were looked at before time ran out.
    """

    problem: Colocation
    savings: Mapping[tuple[int, int], Saving]
    complete: bool = True

    @classmethod
    def of(cls, problem: Colocation, budget: Budget | None = None) -> "Case":
        """Look at every pair, as far as the time goes.

        For one partner the least seconds alone are best, with the whole batch or with whatever mode fits: the
        sum of both completions grows with the seconds of the new job.

        Examples
        --------
        >>> from instances.colocation import full_cluster
        >>> case = Case.of(full_cluster(running=12, pending=12, seed=1))
        >>> len(case.savings), case.complete
        (21, True)
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

    @property
    def bound(self) -> Exact:
        """The best of each running job, or of each pending one, as if nobody wanted the same partner."""
        return min(self._bests(0), self._bests(1))

    def _bests(self, side: int) -> Exact:
        bests: dict[int, Exact] = {}
        for pair, saving in self.savings.items():
            bests[pair[side]] = max(bests.get(pair[side], 0), saving.seconds)
        return exact_total(bests.values())

    def greedy(self) -> list[tuple[int, int]]:
        """Take the pairs that save most, one after the other: at least half of what is possible."""
        order = sorted(self.savings, key=lambda pair: (-Fraction(self.savings[pair].seconds), *pair))
        running, pending = set[int](), set[int]()
        taken: list[tuple[int, int]] = []
        for r, p in order:
            if r not in running and p not in pending:
                running.add(r)
                pending.add(p)
                taken.append((r, p))
        return taken

    def solution(self, pairs: Iterable[tuple[int, int]]) -> ColocationSolution:
        """Give pairs as a solution."""
        running, pending = self.problem.running, self.problem.pending
        return ColocationSolution(
            shares={
                pending[p].name: Share(running=running[r].name, mode=self.savings[r, p].mode)
                for r, p in sorted(pairs, key=lambda pair: pair[1])
            }
        )
