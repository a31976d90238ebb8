"""Rules: ways to grant GPUs step by step, by an exact allocation, or by pairwise comparisons."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

from gsopt.core.errors import InvalidInput
from gsopt.core.method import MethodLike, run
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.simulation.parts.pool import Count
from heuristics.policies.optimus.candidates import GpuCandidate
from heuristics.policies.optimus.granting import Grants
from heuristics.policies.optimus.race import by_time_saved, race


class _GainStep(NamedTuple):
    rank: Any


def by_steps(jobs: Sequence[GpuCandidate], grants: Grants, *, stops: bool = False) -> None:
    """Grant jobs their smallest numbers of GPUs, then repeatedly the step that saves the most time per GPU.

    A step takes a job from one of its numbers of GPUs to the next. Jobs whose smallest number does not fit are
    skipped. A step that saves no time ends the steps of its job. Ties go to the earlier job in the list. A step
    that does not fit ends the steps of its job only or, if `stops` is set, the steps of all jobs.

    Source: Optimus, section 4.1. O(J + W log J) for W steps of J jobs.
    """
    started = grants.start(jobs)
    for _ in race([_steps(job) for job in started], lambda place, _: grants.grow(started[place]), stops=stops):
        pass


def _steps(job: GpuCandidate) -> Iterator[_GainStep]:
    """Yield the steps of a job beyond its smallest number of GPUs, as long as each saves time."""
    for rung in range(len(job.counts) - 1):
        gpus = job.counts[rung + 1] - job.counts[rung]
        rank = by_time_saved(job.left[rung], job.left[rung + 1], gpus)
        if rank is None:
            return
        yield _GainStep(rank)


def by_method(
    jobs: Sequence[GpuCandidate], grants: Grants, method: MethodLike, *, shortest_first: bool = False
) -> None:
    """Grant jobs their smallest numbers of GPUs, and divide the rest to minimize the sum of remaining times.

    Jobs get their smallest numbers of GPUs in the given order or, with `shortest_first`, in ascending order of
    remaining time; those that do not fit are skipped. The rest is divided by a method of the decision
    `gsopt.problems.Allocation`.

    Raises
    ------
    InvalidInput
        GPUs are of several kinds, or the method finds no solution.
    """
    if not isinstance(grants.pool, Count):
        rule = "must be alike: `exact` divides GPUs of one kind"
        raise InvalidInput("cluster", "GPUs of several kinds", rule)
    started = grants.start(sorted(jobs, key=lambda job: job.left[0]) if shortest_first else jobs)
    if not started:
        return
    result = run(method, Allocation(capacity=grants.pool.free, jobs=[_asked(job) for job in started]))
    if result.solution is None:
        raise InvalidInput("exact", result.method, "must find a solution at every event")
    for job in started:
        count = job.counts[0] + result.solution.extra.get(str(job.number), 0)
        grants.set(job, job.counts.index(count))


def _asked(job: GpuCandidate) -> ElasticJob:
    """Return a job as an item of the decision `allocation`."""
    least, *more = job.counts
    longest, *shorter = map(float, job.left)
    return ElasticJob(
        name=str(job.number),
        min_workers=least,
        counts=[count - least for count in more],
        values=[longest - left for left in shorter],
        time_at_min=longest,
    )


def by_pairs(jobs: Sequence[GpuCandidate], grants: Grants) -> None:
    """Grant steps one by one, each to the winner of a scan over the jobs that can still gain.

    The scan compares each job with the winner so far. Source: AFS (NSDI 2021), AFS-L, interpreted as in `afs`.
    O(J G) for G steps granted among J jobs.
    """

    def winner(one: GpuCandidate, other: GpuCandidate) -> GpuCandidate:
        return other if wins(other, grants.rung(other), one, grants.rung(one)) else one

    left = list(jobs)
    while left := [job for job in left if _may_gain(job, grants)]:
        grants.grow(reduce(winner, left))


def _may_gain(job: GpuCandidate, grants: Grants) -> bool:
    """Check whether the next step of a job fits, and makes it faster."""
    rung = grants.rung(job)
    return grants.may_grow(job) and (rung < 0 or job.left[rung + 1] < job.left[rung])


def wins(one: GpuCandidate, rung: int, other: GpuCandidate, other_rung: int) -> bool:
    """Check whether a job wins its comparison (see `afs`) with another one, the winner so far.

    A rung is the index of the job's current count, or -1 for a job without GPUs.
    """
    if rung < 0 and other_rung < 0:
        return bool(one.left[0] <= other.left[0])
    if rung >= 0 and (other_rung < 0 or one.left[rung] < other.left[other_rung]):
        return bool(_share_of_present(one, rung) > _share_of_next(other, other_rung))
    return not _share_of_present(other, other_rung) > _share_of_next(one, rung)


def _share_of_present(job: GpuCandidate, rung: int) -> Any:
    """Return the gain in speed by the next step, relative to the current speed, per GPU of the step."""
    step = job.counts[rung + 1] - job.counts[rung]
    return (job.left[rung] / job.left[rung + 1] - 1) / step


def _share_of_next(job: GpuCandidate, rung: int) -> Any:
    """Return the gain in speed by the next step, relative to the speed after it, per GPU of the step.

    The result is 1 for a job's first step.
    """
    if rung < 0:
        return 1
    step = job.counts[rung + 1] - job.counts[rung]
    return (1 - job.left[rung + 1] / job.left[rung]) / step
