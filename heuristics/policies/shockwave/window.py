"""Window: the next rounds, each job's gains from them, and the value of a plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Whether a job runs in a round, shape (jobs, rounds).
Plan = NDArray[np.bool_]

#: A number of rounds for each job, shape (jobs,).
Counts = NDArray[np.int64]


class WindowClaim(NamedTuple):
    """What determines a job's rounds in a window: its GPUs, gains, remaining time, fewest rounds and weight."""

    gpus: int  # that it holds in each of its rounds
    gains: tuple[float, ...]  # what its first, second, ... round is worth; none more than the one before
    left: float  # seconds that it has still to run
    least: int = 0  # fewest rounds that it must get
    weight: float = 1.0  # how much it counts that its rounds come early


@dataclass(frozen=True, eq=False)
class Window:
    """The next rounds, which have the same length and the same number of GPUs.

    The value of a plan is the jobs' total gain, minus a price for each second of the longest remaining time
    after the window. Because rounds are identical, the value depends only on each job's number of rounds.
    """

    gpus: int
    rounds: int
    length: float
    claims: Sequence[WindowClaim]
    price: float  # of a second of the longest remaining time; not negative

    @cached_property
    def sizes(self) -> Counts:
        """Number of GPUs of each job, shape (jobs,)."""
        return np.array([claim.gpus for claim in self.claims], dtype=np.int64)

    @cached_property
    def gains(self) -> NDArray[np.float64]:
        """The gain of each job from its first, second, ... round, shape (jobs, rounds)."""
        rows = np.array([claim.gains for claim in self.claims], dtype=np.float64)
        return rows.reshape(len(self.claims), self.rounds)

    @cached_property
    def remainders(self) -> NDArray[np.float64]:
        """The remaining seconds of each job after 0, 1, ... rounds, shape (jobs, rounds + 1)."""
        left = np.array([claim.left for claim in self.claims], dtype=np.float64)
        return np.maximum(left[:, None] - self.length * np.arange(self.rounds + 1), 0.0)

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """All remaining times, in seconds, that some job may have after the window, in ascending order."""
        return np.unique(self.remainders)

    def least(self, level: float) -> Counts | None:
        """Return the fewest rounds for each job so that no job has more than `level` seconds left afterwards.

        No job gets fewer rounds than its claim requires. Return None if a job would need more rounds than there
        are.
        """
        needed = (self.remainders > level).sum(axis=1)
        least = np.maximum(needed, [claim.least for claim in self.claims])
        return None if (least > self.rounds).any() else least

    def gained(self, counts: Counts) -> float:
        """Return the jobs' total gain for the given numbers of rounds."""
        return float(sum(sum(row[:count]) for row, count in zip(self.gains, counts, strict=True)))

    def longest(self, counts: Counts) -> float:
        """Return the longest remaining time of any job after the given numbers of rounds, in seconds."""
        return float(self.remainders[np.arange(len(counts)), counts].max(initial=0.0))

    def worth(self, counts: Counts) -> float:
        """Return the value of a plan with the given numbers of rounds."""
        return self.gained(counts) - self.price * self.longest(counts)

    def load(self, plan: Plan) -> Counts:
        """Return the GPUs that a plan uses in each round, shape (rounds,)."""
        return self.sizes @ plan.astype(np.int64)
