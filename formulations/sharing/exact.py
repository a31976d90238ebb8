"""Exact: a search over starts at events, and bounds or a proof if jobs may start at any time."""

from formulations.sharing.best import BestSharing, Parts
from formulations.sharing.events import search_events
from formulations.sharing.orders import MOST_JOBS, search_orders
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.sharing import Sharing, SharingSolution

#: Names of the models, keyed by when jobs may start.
_MODELS = {
    "events": "Model E: starts at arrivals and ends",
    "any": "Model C: starts at any time",
}


@exact_method(unused=["backend", "log"])
def exact(problem: Sharing, budget: Budget) -> Result[SharingSolution]:
    """Find a provably best schedule with starts at events, or bracket the optimum with starts at any time.

    If the problem's `starts` is ``"events"``, a branch and bound finds the best schedule. Groups of more than
    64 jobs that may overlap (12 if numba cannot compile the search in time) are not searched. If `starts` is
    ``"any"``, this search yields only a schedule, and the bound comes from `formulations.sharing.areas` and
    from prices of GPU time. Groups of at most four jobs that may overlap are then solved to optimality, as in
    `orders`. The message names the model that was solved.

    Sets: jobs j; events, which are the arrivals and ends of jobs; at each event, classes of GPUs: the free
    ones, and those that a given job holds alone. Parameters: p_j, G_j, r_j: seconds, GPUs and release date of a
    job; xi_jk: its slowdown when sharing with job k. Variables: the jobs that start at each event, and their
    GPUs of each class. Objective: the sum of completion times. Constraints: a job starts once, at its release
    or later; each of its G_j GPUs is then free or held by a single job with which it may share GPUs; the job
    holds them until it ends; its speed is 1 / max(1, max_k xi_jk) for its partners k. Size: the search tree
    grows exponentially with the number of jobs.

    Source: the model is that of Castor, Eq. 6-13, without time slots. The search is gsopt's own.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 1)]]
    >>> result = exact(Sharing(gpus=1, jobs=jobs, default_interference=2.0))
    >>> result.status, result.objective, result.message
    (<Status.OPTIMAL: 'optimal'>, 3, 'Model E: starts at arrivals and ends')
    """
    best = BestSharing(problem, budget, "exact")
    try:
        search_events(best)
        for part in Parts(best).every if problem.starts == "any" else ():
            if len(part.problem.jobs) <= MOST_JOBS:
                search_orders(part)
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, message=_MODELS[problem.starts])
