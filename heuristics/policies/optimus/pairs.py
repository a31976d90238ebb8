"""Pairs: every step goes to the winner of pairwise comparisons of the shorter and the longer job."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from heuristics.policies.optimus.contender import Contender
from heuristics.policies.optimus.grants import Grants


def by_pairs(jobs: Sequence[Contender], grants: Grants) -> None:
    """Grant step after step to the winner of a scan that compares each job with the winner so far.

    Source: AFS (NSDI 2021), AFS-L; the readings are those of `heuristics.policies.afs`. O(J G) for G steps
    granted among J jobs.
    """

    def stays(job: Contender) -> bool:
        return grants.may_grow(job) and _gains(job, grants.rung(job))

    def winner(one: Contender, other: Contender) -> Contender:
        return other if wins(other, grants.rung(other), one, grants.rung(one)) else one

    racing = [job for job in jobs if stays(job)]
    while racing:
        grants.grow(reduce(winner, racing))
        racing = [job for job in racing if stays(job)]


def _gains(job: Contender, rung: int) -> bool:
    """Check whether the next step makes a job faster."""
    return rung < 0 or job.left[rung + 1] < job.left[rung]


def wins(one: Contender, rung: int, other: Contender, other_rung: int) -> bool:
    """Check whether a job wins its comparison with the winner so far, each at a place among its counts.

    The place is -1 where a job has no GPUs.
    """
    if rung < 0 and other_rung < 0:
        return bool(one.left[0] <= other.left[0])
    if rung >= 0 and (other_rung < 0 or one.left[rung] < other.left[other_rung]):
        return bool(_share_of_present(one, rung) > _share_of_next(other, other_rung))
    return not _share_of_present(other, other_rung) > _share_of_next(one, rung)


def _share_of_present(job: Contender, rung: int) -> Any:
    """Return by what share of its present speed the next step speeds a job up, for each GPU."""
    step = job.counts[rung + 1] - job.counts[rung]
    return (job.left[rung] / job.left[rung + 1] - 1) / step


def _share_of_next(job: Contender, rung: int) -> Any:
    """Return by what share of its next speed the next step speeds a job up, for each GPU; 1 for the first."""
    if rung < 0:
        return 1
    step = job.counts[rung + 1] - job.counts[rung]
    return (1 - job.left[rung + 1] / job.left[rung]) / step
