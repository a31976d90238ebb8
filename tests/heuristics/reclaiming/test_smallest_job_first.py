"""Tests of preempting the smallest jobs first."""

from gsopt.problems.reclaiming import Job, Reclaiming, Server
from heuristics.reclaiming import smallest_job_first
from tests.strategies.reclaiming import figure_5


def test_the_smallest_job_goes_first() -> None:
    """The job with the fewest base GPUs is preempted before larger ones, whatever its cost."""
    problem = Reclaiming(
        demand=1,
        servers=(Server(name="s1", gpus=8), Server(name="s2", gpus=8)),
        jobs=(
            Job(name="large", workers={"s1": 2}),
            Job(name="small", workers={"s2": 1}, flexible={"s2": 4}, cost=5.0),
        ),
    )
    solution = smallest_job_first(problem).solution

    assert solution is not None
    assert solution.servers == ("s2",)


def test_equal_jobs_go_in_the_order_of_the_instance() -> None:
    """Jobs c and d of Figure 5 are of one size: job c goes first (server 4), then job d (servers 5, 6)."""
    solution = smallest_job_first(figure_5(demand=3)).solution

    assert solution is not None
    assert solution.servers == ("s4", "s5", "s6")
