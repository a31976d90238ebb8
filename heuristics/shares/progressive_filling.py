"""Progressive filling: time granted in small parts to the worst-off job."""

from collections.abc import Mapping
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import inf

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import InvalidInput
from gsopt.core.method import NoSolution, heuristic
from gsopt.core.problem import Sense
from gsopt.problems.shares import Shares, TimeShares


@heuristic
def progressive_filling(
    problem: Shares, *, parts: int = 100, budget: Budget = UNLIMITED
) -> TimeShares | NoSolution:
    """Repeatedly grant the worst-off job another part of its time, on its fastest type with room.

    At first, every job gets one part if there is room, in the order of the problem. The heuristic ends when no
    job can have more. With the criterion ``fifo``, the first job that can have more is served; with
    ``max_sum``, the job with the most steps per second and GPU on its fastest type. Jobs on fast GPUs are never
    moved to slower ones, so linear programs may find better shares. If the objective depends on completion
    times, there is no solution unless every job has a share, because jobs without one would never end.

    Complexity: O(n J (T + log J)) for n parts, J jobs and T types.

    Parameters
    ----------
    problem
        The problem.
    parts
        Number of parts into which each job's time is divided, from 1 to 10,000.
    budget
        Time limit.

    Notes
    -----
    Source: progressive filling in networks (Bertsekas and Gallager, Data Networks, section 6.5.2), with a
    choice of GPU types. It is not from a paper on GPUs.

    Examples
    --------
    >>> from instances.shares import typed_jobs
    >>> round(float(progressive_filling(typed_jobs(jobs=12, seed=1)).objective), 2)
    0.8
    """
    if not 1 <= parts <= 10_000:  # noqa: PLR2004
        raise InvalidInput("parts", str(parts), "must be between 1 and 10,000")
    left = {kind: count * parts for kind, count in problem.gpus.items()}
    given: list[dict[str, int]] = [{} for _ in problem.jobs]
    queue = [(-inf, place) for place in range(len(problem.jobs))]
    heapify(queue)
    while queue and not budget.passed:
        _, place = heappop(queue)
        job, own = problem.jobs[place], given[place]
        rates = {kind: rate for kind, rate in problem.rates[job.name].items() if left[kind] >= job.gpus}
        if rates and sum(own.values()) < parts:
            kind = max(rates, key=rates.__getitem__)
            left[kind] -= job.gpus
            own[kind] = own.get(kind, 0) + 1
            heappush(queue, (_height(problem, place, own, parts), place))
    if problem.sense is Sense.MINIMIZE and not all(given):
        return NoSolution("jobs without time would never end")
    shares = {
        job.name: {kind: Fraction(count, parts) for kind, count in own.items()}
        for job, own in zip(problem.jobs, given, strict=True)
    }
    return problem.fitted(shares)


def _height(problem: Shares, place: int, given: Mapping[str, int], parts: int) -> float:
    """Return a job's level under the criterion; the job with the lowest level is served first."""
    job = problem.jobs[place]
    rates = problem.rates[job.name]
    rate = float(sum(rates[kind] * count for kind, count in given.items())) / parts
    if problem.criterion == "fifo":
        return place
    if problem.criterion == "max_sum":
        return -float(max(rates.values())) / job.gpus
    if problem.criterion == "max_min":
        return job.gpus * rate / (job.weight * float(problem.proportional[job.name]))
    if problem.criterion == "makespan":
        return rate / job.steps
    return -(job.age + job.steps / rate) / float(problem.isolated_times[job.name])
