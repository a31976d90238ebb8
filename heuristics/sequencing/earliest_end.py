"""Earliest end: list scheduling, shortest job first, on the machine where each job completes earliest."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import TimeUp
from gsopt.core.method import heuristic
from gsopt.problems.sequencing import Sequences, Sequencing, UnitJob


@heuristic
def earliest_end(problem: Sequencing, *, budget: Budget = UNLIMITED) -> Sequences:
    """Append one job after another, shortest first, to the machine on which it completes earliest.

    Jobs are sorted by their duration on the type of machine on which they are fastest. If all machines have the
    same type and become free at the same time, this is optimal (shortest processing time first).

    Complexity: O(n (m + log n)) for n jobs and m machines. Ties go to the first job, and to the first machine.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, after which there is no solution.

    Notes
    -----
    Source: list scheduling, as in O. Ibarra and C. Kim, Heuristic algorithms for scheduling independent tasks
    on nonidentical processors (1977), here with the shortest jobs first.

    Examples
    --------
    >>> from instances.sequencing import unit_jobs
    >>> earliest_end(unit_jobs(jobs=3, gpus=1, types=2, seed=1)).solution.order
    {'v100-0': ('j2', 'j3'), 'p100-0': ('j1',)}
    """
    ends = {machine.name: machine.available for machine in problem.machines}
    order: dict[str, list[str]] = {name: [] for name in ends}
    kinds = {machine.gpu_type for machine in problem.machines}

    def shortest(job: UnitJob) -> float:
        return min(seconds for kind, seconds in job.seconds.items() if kind in kinds)

    for number, job in enumerate(sorted(problem.jobs, key=shortest)):
        if budget.passed:
            raise TimeUp(f"the time limit expired when {number:,} of {len(problem.jobs):,} jobs had a machine")
        after = {
            machine.name: ends[machine.name] + job.seconds[machine.gpu_type]
            for machine in problem.machines
            if machine.gpu_type in job.seconds
        }
        chosen = min(after, key=after.__getitem__)
        ends[chosen] = after[chosen]
        order[chosen].append(job.name)
    return Sequences(order={name: jobs for name, jobs in order.items() if jobs})
