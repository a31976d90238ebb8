"""Exact: list schedules, a search over orders, the time-indexed relaxation, and constraint programming."""

from importlib.util import find_spec
from math import inf

from formulations.waiting.best import BestRuns
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.intervals import solve_intervals
from formulations.waiting.listing import search_lists
from formulations.waiting.search import DepthFirstSearch
from formulations.waiting.simple_bounds import bound_at_once
from formulations.waiting.time_indexed import solve_relaxation
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.solvers.backends import CpSat

#: Maximum number of jobs for which intervals prove the optimal mean before the relaxation is even solved.
_FEW_JOBS = 7

#: Maximum number of states in a search that takes less time than starting a solver, and in one that no other
#: technique can replace.
_FEW_NODES, _NODES = 5_000, 1_000_000

#: Fraction of the remaining time for the relaxation, and how often it is solved again because its schedule
#: requires jobs to move.
_RELAXATION_SHARE, _CONFLICTS = 0.8, 20


@exact_method()
def exact(problem: Waiting, budget: Budget) -> Result[WaitingSolution]:
    """Solve a problem with the techniques that suit its objective.

    1. List schedules and a simple bound. With at most 7 jobs, also a short search over all orders and
       placements.
    2. For the mean completion time of more than 7 jobs, the method of `time_indexed`. If no GPUs suit the
       schedule of the relaxation, the relaxation is tightened and solved again.
    3. If a gap remains, the method of `intervals`.
    4. With at most 7 jobs, a longer search over all orders and placements, if step 3 had to round times.

    With many jobs, a gap usually remains at the time limit. If CP-SAT is not installed, step 2 replaces step 3
    for both objectives and any number of jobs.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback and log. The backend solves the relaxation; step 3 always uses CP-SAT.

    Notes
    -----
    Source: see `time_indexed` and `intervals`.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=10, gpus=2, model="alexnet") for n in "abc"]
    >>> cluster = Cluster.uniform(racks=2, machines=1, gpus=3)
    >>> exact(Waiting(cluster=cluster, jobs=jobs, minimize="makespan")).objective
    20
    """
    best = BestRuns(SlottedInstance.of(problem), budget, "exact")
    technique = "lists"
    try:
        bound_at_once(best)
        search_lists(best)
        few = len(problem.jobs) <= _FEW_JOBS
        if few and not best.finished and DepthFirstSearch(best).run(_FEW_NODES):
            technique = "search"
        has_intervals = find_spec(CpSat.package) is not None
        if not best.finished and not has_intervals:
            technique = solve_relaxation(best, conflicts=inf)
        elif not best.finished and problem.minimize == "mean_jct" and not few:
            technique = solve_relaxation(best, _RELAXATION_SHARE, _CONFLICTS)
        if not best.finished and has_intervals:
            technique = "intervals"
            solve_intervals(best)
        if (
            few
            and not best.finished
            and not best.instance.limited.is_exact
            and DepthFirstSearch(best).run(_NODES)
        ):
            technique = "search"
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, message=technique)
