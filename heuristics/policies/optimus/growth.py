"""Growth: jobs get their fewest GPUs, and more by a race for time saved or by the best division of all."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gsopt.core.errors import InvalidInput
from gsopt.core.method import MethodLike, run
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.simulation.parts.pool import Count
from heuristics.policies.optimus.contender import Contender
from heuristics.policies.optimus.grants import Grants
from heuristics.policies.optimus.race import by_time_saved, race


class _Step(NamedTuple):
    rank: Any


def by_race(jobs: Sequence[Contender], grants: Grants, *, stops: bool = False) -> None:
    """Grant every job its fewest GPUs, then step after step to the job whose time left falls most per GPU.

    No step is taken that saves no time. Ties go to the job that is named first. `stops` as in
    `heuristics.policies.optimus.race.race`.

    Source: Optimus, section 4.1. O(J + W log J) for W steps of J jobs.
    """
    started = grants.start(jobs)
    for _ in race([_steps(job) for job in started], lambda place, _: grants.grow(started[place]), stops=stops):
        pass


def _steps(job: Contender) -> Iterator[_Step]:
    """Yield the steps of a job from its fewest GPUs on, as far as each saves time."""
    for rung in range(len(job.counts) - 1):
        gpus = job.counts[rung + 1] - job.counts[rung]
        rank = by_time_saved(job.left[rung], job.left[rung + 1], gpus)
        if rank is None:
            return
        yield _Step(rank)


def by_method(
    jobs: Sequence[Contender], grants: Grants, method: MethodLike, *, shortest_first: bool = False
) -> None:
    """Grant every job its fewest GPUs, and divide the others so that the times left fall the most in total.

    That is the decision `gsopt.problems.Allocation`.

    Parameters
    ----------
    jobs, grants
        Who asks, and for what.
    method
        A method of the decision.
    shortest_first
        Whether jobs with less time left get their fewest GPUs first; else they do in the given order.

    Raises
    ------
    InvalidInput
        GPUs are of several kinds, or the method finds no solution.
    """
    if not isinstance(grants.pool, Count):
        rule = "must be alike: `exact` divides GPUs of one kind"
        raise InvalidInput("", "cluster", "GPUs of several kinds", rule)
    started = grants.start(sorted(jobs, key=lambda job: job.left[0]) if shortest_first else jobs)
    if not started:
        return
    result = run(method, Allocation(capacity=grants.pool.free, jobs=[_asked(job) for job in started]))
    if result.solution is None:
        raise InvalidInput("", "exact", result.method, "must find a solution at every event")
    for job in started:
        count = job.counts[0] + result.solution.extra.get(str(job.number), 0)
        grants.set(job, job.counts.index(count))


def _asked(job: Contender) -> ElasticJob:
    """Return a job as the decision `allocation` knows it."""
    least, *more = job.counts
    longest, *shorter = map(float, job.left)
    return ElasticJob(
        name=str(job.number),
        min_workers=least,
        counts=[count - least for count in more],
        values=[longest - left for left in shorter],
        time_at_min=longest,
    )
