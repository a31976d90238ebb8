"""Kinds: groups of interchangeable waiting jobs, and the levels worth considering for them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gsopt.core.numbers.grid import Exact
from gsopt.problems.consolidation import Consolidation


@dataclass(frozen=True)
class JobKind:
    """Jobs with the same demand and, on each level, the same value."""

    gpus: int  # GPUs of each
    worths: tuple[Exact, ...]  # value of each by level
    jobs: tuple[int, ...]  # indices of the jobs in the problem
    # the levels on which they may be placed, innermost first, without levels on which they fit nowhere, and
    # without levels on which they are worth no more than on the next: a place there counts as one on the next
    levels: tuple[int, ...]

    def counted(self, level: int) -> int:
        """Return the first level worth considering for these jobs, searching outward from the given one."""
        return next(own for own in self.levels if own >= level)

    @property
    def without_innermost(self) -> "JobKind":
        """The same jobs in a network without its innermost level, on which they may not be placed.

        The other levels are renumbered.
        """
        levels = tuple(level - 1 for level in self.levels)
        return JobKind(self.gpus, self.worths[1:], self.jobs, levels)


def kinds(problem: Consolidation, room: Sequence[int]) -> tuple[JobKind, ...]:
    """Group the jobs that fit and are worth placing into kinds, in descending order of value per GPU."""
    alike: dict[tuple[int, tuple[Exact, ...]], list[int]] = defaultdict(list)
    for index, job in enumerate(problem.jobs):
        alike[job.gpus, tuple(problem.worth(job, tier) for tier in problem.tiers)].append(index)
    found = [
        JobKind(gpus, worths, tuple(jobs), _levels(problem, gpus, worths, room))
        for (gpus, worths), jobs in alike.items()
    ]
    return tuple(
        sorted(
            (kind for kind in found if kind.levels),
            key=lambda kind: (-Fraction(kind.worths[kind.levels[0]]) / kind.gpus, kind.gpus, kind.jobs),
        )
    )


def _levels(problem: Consolidation, gpus: int, worths: Sequence[Exact], room: Sequence[int]) -> tuple[int, ...]:
    last = len(worths) - 1
    return tuple(
        level
        for level, worth in enumerate(worths)
        if gpus <= room[level]
        and (worth > 0 or problem.job_bonus)
        and (level == last or worth > worths[level + 1])
    )
