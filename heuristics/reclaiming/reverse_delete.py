"""Reverse delete: an improvement that spares preempted jobs while enough servers stay vacated."""

from collections import Counter
from collections.abc import Iterable

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.core.result import judged_value
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from heuristics.reclaiming.greedy import greedy
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.largest_job_first import largest_job_first


@heuristic
def reverse_delete(
    problem: Reclaiming, *, start: ReclaimingSolution | None = None, budget: Budget = UNLIMITED
) -> ReclaimingSolution:
    """Improve a solution by sparing jobs that need not be preempted.

    Jobs are spared one by one while enough servers stay vacated: each time, the job whose cost is highest
    relative to the number of servers that would then no longer be vacated. Without a start, the solutions of
    `greedy` and `largest_job_first` are both improved, and the better one is kept.

    Parameters
    ----------
    problem
        The problem.
    start
        The solution to improve; if None, the solutions of the two heuristics.
    budget
        Time limit.

    Raises
    ------
    InvalidSolution
        The start violates a rule of the problem.

    Notes
    -----
    Source: Aryl, Appendix B, Algorithm 1, for `greedy`. The improvement is not in the paper: it is the
    reverse-delete step known from covering problems.

    Complexity: O(J^2 + H log H) for J jobs and H pairs of a job and one of its servers.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> poor = problem.solution_type(servers=["s3", "s4"])
    >>> reverse_delete(problem, start=poor).objective, reverse_delete(problem).objective
    (2, 1)
    """
    if start is not None:
        return improve(problem, start, budget)
    found = (method(problem).solution for method in (greedy, largest_job_first))
    return min((improve(problem, solution, budget) for solution in found if solution), key=problem.objective)


def improve(
    problem: Reclaiming, solution: ReclaimingSolution, budget: Budget = UNLIMITED
) -> ReclaimingSolution:
    """Spare some of the jobs that a feasible solution preempts, while enough servers stay vacated.

    At first, all jobs with a base worker on a returned server are preempted, and all servers that host no other
    job are vacated. Jobs with a cost above 0 are then spared one by one while enough servers stay vacated: each
    time, the job whose cost is highest relative to the number of servers that would then no longer be vacated.
    Of the servers that are vacated in the end, those on which preempted jobs use the most GPUs are returned,
    for the least collateral damage. The given solution is returned unless the result has a lower objective.
    Only base workers count, as in `greedy`, even if the problem's `elasticity` is ``"fungible"``.
    """
    value = judged_value(problem, "start", solution)
    hosting = Hosting.of(problem)
    position = {name: server for server, name in enumerate(hosting.names)}
    preempted = {job for name in solution.servers for job in hosting.jobs_of[position[name]]}
    vacated, still = _spare(hosting, preempted, problem.demand, budget)
    gpus = _gpus_in_use(problem, hosting, still)
    fullest = sorted(vacated, key=lambda server: -gpus[server])
    improved = hosting.solution(fullest[: problem.demand])
    return improved if problem.objective(improved) < value else solution


def _spare(hosting: Hosting, preempted: set[int], demand: int, budget: Budget) -> tuple[list[int], set[int]]:
    """Spare preempted jobs, and return the servers still vacated and the jobs still preempted."""
    still = set(preempted)
    vacated = {server for server, jobs in enumerate(hosting.jobs_of) if still.issuperset(jobs)}
    needs = {job: len(vacated.intersection(hosting.servers_of[job])) for job in sorted(still)}
    while True:
        surplus = len(vacated) - demand
        candidates = [job for job, need in needs.items() if need <= surplus and hosting.weights[job]]
        if not candidates or budget.passed:
            return sorted(vacated), still
        dearest = min(candidates, key=lambda job: needs[job] / hosting.weights[job])
        del needs[dearest]
        still.remove(dearest)
        for server in vacated.intersection(hosting.servers_of[dearest]):
            vacated.remove(server)
            for other in hosting.jobs_of[server]:
                if other in needs:
                    needs[other] -= 1


def _gpus_in_use(problem: Reclaiming, hosting: Hosting, jobs: Iterable[int]) -> list[int]:
    """Return the number of GPUs that the given jobs use on each server."""
    used: Counter[str] = Counter()
    for job in jobs:
        used.update(problem.jobs[job].workers)
        used.update(problem.jobs[job].flexible)
    return [used[name] for name in hosting.names]
