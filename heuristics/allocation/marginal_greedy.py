"""Greedy by marginal value per GPU: one step at a time to the job that gains most from it."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise

from gsopt.method import NoSolution, heuristic
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from heuristics.allocation.value_table import value_table


@heuristic
def marginal_greedy(problem: Allocation) -> AllocationSolution | NoSolution:
    """Give one step after the other to the job whose next step saves most time per GPU.

    A step leads to the next allowed number of workers; that is one worker more where a job allows every number.
    A job leaves the race when its next step does not fit any more, saves nothing, or is above its maximum. Of
    equal ones the job that comes first in the instance gets the step.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: the rule by which Optimus allocates, the largest marginal gain; AFS likewise takes the largest
    improvement. Both as described in Aryl, Appendix F.

    Complexity: O(I + P log J) for J jobs, I items and P steps given.

    Optimal when all steps have the same size and none of a job saves more than the one before it. With
    different sizes it can leave GPUs idle that a better choice would use; with other value tables it cannot see
    a gain behind a step that saves nothing.

    Departures from the papers: AFS and Optimus set up whole allocations from nothing, from predicted
    throughput; here they share the remaining GPUs, by the time saved, in the range of each job.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> marginal_greedy(Allocation(capacity=3, jobs=[a, b])).solution.extra
    {'B': 3}
    """
    if problem.obstacle:
        return NoSolution(problem.obstacle, proven=True)
    left = problem.remaining
    steps = [_steps(j, job, left) for j, job in enumerate(problem.jobs)]
    extra = [0] * len(steps)
    race = [step for coming in steps if (step := next(coming, None))]
    heapify(race)
    while race:
        loss, j, needed, workers = heappop(race)
        if loss >= 0 or needed > left:
            continue
        left -= needed
        extra[j] = workers
        if step := next(steps[j], None):
            heappush(race, step)
    return AllocationSolution(extra={job.name: w for job, w in zip(problem.jobs, extra, strict=True) if w})


def _steps(number: int, job: ElasticJob, gpus: int) -> Iterator[tuple[float, int, int, int]]:
    """Give for every step the negated value per GPU, the job's number, the GPUs, and the workers after it."""
    for (before, had), (extra, value) in pairwise(chain([(0, 0.0)], zip(*value_table(job, gpus), strict=True))):
        needed = (extra - before) * job.gpus_per_worker
        yield (had - value) / needed, number, needed, extra
