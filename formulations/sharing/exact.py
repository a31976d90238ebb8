"""Exact: a search over starts at events; for starts at any time orders of few jobs, and else a bracket."""

from formulations.sharing.best import BestSharing, Parts
from formulations.sharing.events import search_events
from formulations.sharing.orders import MOST_JOBS, search_orders
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.sharing import Sharing, SharingSolution

#: What is proven, by when jobs may start.
_MODELS = {
    "events": "Model E: starts at arrivals and ends",
    "any": "Model C: starts at any time",
}


@exact_method(unused=["backend", "log"])
def exact(problem: Sharing, budget: Budget) -> Result[SharingSolution]:
    """Prove the best schedule of starts at events by branch and bound; for starts at any time, bracket it.

    Sets: jobs j; at each event the classes of GPUs, that nobody holds or that one job holds alone.
    Parameters: p_j seconds and G_j GPUs of a job, r_j its release; xi_jk its slowdown beside job k.
    Variables: at each event which pending jobs start, and how many GPUs of each class each of them takes.
    Objective: the sum of the ends.
    Constraints: a job starts once, after its release, on G_j GPUs, none of which has two users already, and
    runs on them until it ends; its speed is 1 / max(1, xi_jk) over its partners k.
    Size: a node for each start and each event, some thousand to some millions for 8 jobs.

    The search (`formulations.sharing.search`) starts from the best schedule known, bounds by what each start at
    least delays (`formulations.sharing.insertion`) and by areas (`formulations.sharing.areas`), and goes
    through what follows from a state only once; with 16 jobs and more, prices of GPU time may prove more. It is
    compiled where numba is installed and there is time for that. Up to 8 jobs take a second or two, and 10 jobs
    on 8 GPUs most often less than 10 s.

    With starts at any time, what the search finds is a schedule and no more; the bound is that of areas and
    prices, as the best start may lie between two events. Up to four jobs are proven order by order (`orders`)
    then. The message says which of the two models it is.

    Source: the model is that of Castor, Eq. 6-13, without slots; the search is our own.

    Parameters
    ----------
    problem
        The problem.
    budget
        When to stop.

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
