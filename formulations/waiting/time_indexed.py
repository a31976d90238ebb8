"""Time-indexed: the relaxation with counted GPUs, solved slot by slot, and GPUs found for its schedule."""

from formulations.waiting.best import Best
from formulations.waiting.instance import Instance
from formulations.waiting.listing import search_lists
from formulations.waiting.relaxation import Relaxation, latest_ends
from formulations.waiting.simple_bounds import simple_bound
from formulations.waiting.split import find_split
from gsopt.budget import Budget
from gsopt.method import exact_method
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.result import Result, StoppedBy
from gsopt.scaling import optimize

#: Entries of the capacity rows up to which slots are not made longer.
_MOST_ENTRIES = 1_000_000


@exact_method()
def time_indexed(problem: Waiting, budget: Budget) -> Result[WaitingSolution]:
    """Solve the time-indexed relaxation; its schedule is optimal where GPUs are found for it that stay.

    It begins with lists (`search_lists`) and a simple bound. The value of the best list says until when each job
    must have ended (`latest_ends`), which keeps the horizon short. The relaxation counts GPUs by machine, rack
    and cluster (`Relaxation`). Its optimum is a bound and no more than that, until GPUs are found for its
    schedule, from the start of each job to its end (`find_split`); else the best schedule known is returned with
    that bound. The message says which of the two it is.

    Where times are no whole slots of a few thousand, slots are longer and times are rounded down: what comes out
    is a bound again, and its order another list.

    Parameters
    ----------
    problem
        The problem.
    budget
        When to stop.

    Source: the model and its horizon as in `Relaxation`; the split as in `find_split`.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=10, gpus=2, model="alexnet") for n in "abc"]
    >>> result = time_indexed(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=3), jobs=jobs))
    >>> result.status, result.objective, result.message
    (<Status.OPTIMAL: 'optimal'>, Fraction(68, 5), 'exact: GPUs were found for the schedule of the relaxation')
    """
    best = Best(Instance.of(problem), budget, "time_indexed")
    message = "lists"
    try:
        best.raise_bound(simple_bound(best.instance))
        search_lists(best)
        if not best.finished:
            message = solve_relaxation(best)
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, solver=best.budget.solver.name, message=message)


def solve_relaxation(best: Best) -> str:
    """Solve the relaxation of a problem, raise the bound, and look for GPUs; say what came of it."""
    model = model_of(best)
    if best.budget.passed:
        return "lists"
    form = model.form()
    if best.budget.passed:
        return "lists"
    proof = optimize(form, best.budget, costs=model.costs, start=model.point(best_on(best, model)))
    if proof.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    if proof.bound is not None:
        best.raise_bound(proof.bound)
    if proof.values is None or best.finished:
        return "the relaxation is no better than the best list" if best.finished else "relaxation: a bound only"
    split = find_split(model.instance, model.choices(proof.values), best.budget)
    if split is not None:
        best.take(model.instance.solution(split))
    if best.finished is StoppedBy.FINISHED:
        return "exact: GPUs were found for the schedule of the relaxation"
    return "relaxation: a bound only"


def model_of(best: Best) -> Relaxation:
    """Give the relaxation that covers all schedules as good as the best, on slots that are short enough."""
    if best.value is None:
        raise AssertionError  # lists find a schedule
    latest = latest_ends(best.instance, best.value)
    model, factor = Relaxation(best.instance, latest), 1
    while _entries(model) > _MOST_ENTRIES:
        factor *= 2
        model = Relaxation(best.instance.coarser(factor), latest)
    return model


def best_on(best: Best, model: Relaxation) -> list:
    return model.instance.choices(best.solution)


def _entries(model: Relaxation) -> int:
    """Guess the entries of the capacity rows: those of each column on every tier."""
    mean = [sum(own) / len(own) for own in model.instance.lengths]
    longest = max(mean, default=0) + 1
    return int(model.size * longest * len(model.instance.problem.tiers))
