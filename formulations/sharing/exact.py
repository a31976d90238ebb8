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

    Sets: jobs j; at each event (the arrival or the end of a job), the classes of GPUs: free GPUs, and those
    that a given job holds alone. Parameters: p_j: seconds of a job; G_j: its GPUs; r_j: its release date;
    xi_jk: its slowdown when sharing with job k. Variables: which pending jobs start at each event, and how many
    GPUs of each class they take. Objective: the sum of completion times. Constraints: a job starts once, at its
    release or later, on G_j GPUs, each of which is free or held by a single job with which it may share GPUs,
    and runs on them until it ends; its speed is 1 / max(1, max_k xi_jk), where k are its partners. Size: a node
    for each start and each event; the number of nodes grows exponentially with the number of jobs.

    The branch and bound (`formulations.sharing.search`) starts from the best known schedule. Its bounds come
    from areas (`formulations.sharing.areas`) and from the minimum delay that each start causes
    (`formulations.sharing.insertion`). It skips states that it has reached before at no higher cost. From 16
    jobs on, prices of GPU time may yield a better bound. A long search is compiled if numba is installed and
    there is enough time to compile. Groups of more than 64 jobs that may overlap are not searched; if the
    search cannot be compiled, the limit is 12 jobs.

    If jobs may start at any time, the search yields only a schedule, because the best start may lie between two
    events. The bound then comes from areas and prices. For groups of at most four jobs that may overlap, the
    method of `orders` finds the best schedule and proves it optimal. The message names the model that was
    solved.

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
