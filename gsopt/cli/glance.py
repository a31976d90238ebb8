"""Glance: one-line summaries of the heuristics in a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean, median

from gsopt.core.result import settles
from gsopt.evaluation.comparison import Comparison, ComparisonRow

_EXACT = "exact"


@dataclass(frozen=True)
class Glance:
    """A summary of one heuristic's results on the instances that it handles."""

    method: str
    instances: int
    optimal: int
    unsolved: int  # number of instances on which it finds no solution
    gaps: tuple[float, ...]  # to the best proven bounds, on the instances that have a gap

    @property
    def mean(self) -> float | None:
        """The mean gap, or None if no instance has a gap."""
        return fmean(self.gaps) if self.gaps else None

    @property
    def worst(self) -> float | None:
        """The largest gap, or None if no instance has a gap."""
        return max(self.gaps, default=None)

    def notes(self) -> list[str]:
        """Return notes that state on how many instances the heuristic has no gap, and for what reason."""
        unrelated = self.instances - self.unsolved - len(self.gaps)
        told = {"found no solution": self.unsolved, "misses a bound of 0 and so has no gap": unrelated}
        return [f"{self.method} {what} on {count} of {self.instances}" for what, count in told.items() if count]


def glances(comparison: Comparison) -> list[Glance]:
    """Return a summary of every heuristic that handles any of the instances, starting with the best.

    Heuristics are ranked by the number of instances on which they find a solution, then by their mean gap
    (those without a gap come last), then by the number of optima.
    """
    rows = [row for row in comparison if row.kind != _EXACT and (row.result is not None or row.failed)]
    names = dict.fromkeys(row.method for row in rows)
    found = [_glance(name, [row for row in rows if row.method == name]) for name in names]
    return sorted(found, key=_rank)


def proofs(comparison: Comparison) -> tuple[str, str]:
    """Return the exact method's share of proven optima and its median run time, as in ``7/8`` and ``12 ms``."""
    rows = [row for row in comparison if row.kind == _EXACT and row.result is not None]
    times = [row.result.runtime for row in rows if row.result is not None]
    if not times:
        return "-", "-"
    seconds = median(times)
    time = f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
    return f"{sum(row.optimum_known for row in rows)}/{len(rows)}", time


def _rank(glance: Glance) -> tuple[float, ...]:
    mean = inf if glance.mean is None else glance.mean
    return glance.unsolved - glance.instances, mean, -glance.optimal


def _glance(name: str, rows: Sequence[ComparisonRow]) -> Glance:
    return Glance(
        method=name,
        instances=len(rows),
        optimal=sum(_is_optimal(row) for row in rows),
        unsolved=sum(row.result is None or row.result.objective is None for row in rows),
        gaps=tuple(row.gap for row in rows if row.gap is not None),
    )


def _is_optimal(row: ComparisonRow) -> bool:
    value = None if row.result is None else row.result.objective
    return value is not None and settles(value, row.bound, row.problem.resolution(value))
