"""The pairs and the bound that every technique begins with."""

from formulations.colocation.beginning import begin
from formulations.colocation.case import Case
from gsopt.core.budget import Budget
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.colocation import ColocationSolution
from instances.colocation import full_cluster


def test_a_better_start_takes_the_place_of_the_greedy_pairs() -> None:
    """A start of more value is what is begun with."""
    problem = full_cluster(seed=1)
    case = Case.of(problem)
    nothing, worse = ColocationSolution(shares={}), begin(case, Budget(), "x")[0]
    assert begin(case, Budget(start=nothing), "x")[0].objective == worse.objective
    assert begin(case, Budget(start=worse.solution), "x")[0].solution == worse.solution


def test_without_any_time_there_is_a_bound() -> None:
    """Where time ended the look at pairs the bound is what the running jobs still need."""
    problem = full_cluster(seed=1)
    bound = sum(job.seconds for job in problem.running)
    case = Case.of(problem, Budget(time_limit=0.0))
    result, ended = begin(case, Budget(time_limit=0.0), "x")
    assert (result.status, result.bound, result.stopped_by) == (Status.FEASIBLE, bound, StoppedBy.TIME_LIMIT)
    assert ended
