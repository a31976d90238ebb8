"""What is known from the beginning."""

from formulations.sequencing.beginning import begin
from formulations.sequencing.case import Case
from gsopt.core.budget import Budget
from heuristics.sequencing import free_machines
from instances.sequencing import unit_jobs


def test_it_begins_with_the_shortest_first_and_every_job_alone() -> None:
    """Orders and bound are those that cost next to nothing; a better start is kept."""
    problem = unit_jobs(jobs=30, seed=2)
    case, best = begin(problem, Budget(), "begin")
    assert (best.solution, best.bound) == (Case(problem).greedy(), case.bound)
    start = free_machines(problem)
    assert begin(problem, Budget(start=start.solution), "begin")[1].value == start.objective
