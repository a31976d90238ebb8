"""Window: the next rounds, what each job gains from its rounds of them, and what a plan is worth."""

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
    """What a job may get in a window."""

    gpus: int  # that it holds in each of its rounds
    gains: tuple[float, ...]  # what its first, second, ... round is worth; none more than the one before
    left: float  # seconds that it has still to run
    least: int = 0  # fewest rounds that it must get
    weight: float = 1.0  # how much it counts that its rounds come early


@dataclass(frozen=True, eq=False)
class Window:
    """Rounds of one length, on so many GPUs each.

    A plan is worth what the jobs gain, less a price for each second that the job with most left to run has
    left after it. Rounds are alike, so that only the numbers of rounds matter for that.
    """

    gpus: int
    rounds: int
    length: float
    claims: Sequence[WindowClaim]
    price: float  # of a second of the longest remaining time; not negative

    @cached_property
    def sizes(self) -> Counts:
        """GPUs of each job, shape (jobs,)."""
        return np.array([claim.gpus for claim in self.claims], dtype=np.int64)

    @cached_property
    def gains(self) -> NDArray[np.float64]:
        """What further rounds are worth to each job, shape (jobs, rounds)."""
        rows = np.array([claim.gains for claim in self.claims], dtype=np.float64)
        return rows.reshape(len(self.claims), self.rounds)

    @cached_property
    def remainders(self) -> NDArray[np.float64]:
        """Seconds that each job has left after 0, 1, ... rounds, shape (jobs, rounds + 1)."""
        left = np.array([claim.left for claim in self.claims], dtype=np.float64)
        return np.maximum(left[:, None] - self.length * np.arange(self.rounds + 1), 0.0)

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """All values that the longest remaining time can have, ascending."""
        return np.unique(self.remainders)

    def least(self, level: float) -> Counts | None:
        """Find the fewest rounds of each job so that none has more seconds left; None if there are too few."""
        needed = (self.remainders > level).sum(axis=1)
        least = np.maximum(needed, [claim.least for claim in self.claims])
        return None if (least > self.rounds).any() else least

    def gained(self, counts: Counts) -> float:
        """Return what the jobs gain from numbers of rounds."""
        return float(sum(sum(row[:count]) for row, count in zip(self.gains, counts, strict=True)))

    def longest(self, counts: Counts) -> float:
        """Return the seconds that the job with most left to run has left."""
        return float(self.remainders[np.arange(len(counts)), counts].max(initial=0.0))

    def worth(self, counts: Counts) -> float:
        """Return what numbers of rounds are worth."""
        return self.gained(counts) - self.price * self.longest(counts)

    def load(self, plan: Plan) -> Counts:
        """Return the GPUs that a plan takes in each round, shape (rounds,)."""
        return self.sizes @ plan.astype(np.int64)
