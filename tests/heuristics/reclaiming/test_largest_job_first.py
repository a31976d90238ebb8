"""Tests of preempting the largest jobs first."""

from gsopt.problems.reclaiming import Job, Reclaiming, Server
from heuristics.reclaiming import largest_job_first
from tests.strategies.reclaiming import figure_5


def test_the_largest_job_goes_first() -> None:
    """The job with the most base GPUs is preempted before smaller ones, whatever its cost or span."""
    problem = Reclaiming(
        demand=1,
        servers=tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3", "s4")),
        jobs=(
            Job(name="many servers", workers={"s1": 2, "s2": 2}),
            Job(name="many flexible", workers={"s3": 1}, flexible={"s3": 6}),
            Job(name="most GPUs", workers={"s4": 7}, cost=5.0),
        ),
    )
    solution = largest_job_first(problem).solution

    assert solution is not None
    assert solution.servers == ("s4",)


def test_equal_jobs_go_in_the_order_of_the_instance() -> None:
    """Jobs a and b of Figure 5 are of one size: job a goes first, then job b."""
    solution = largest_job_first(figure_5(demand=3)).solution

    assert solution is not None
    assert solution.servers == ("s1", "s2", "s3")


def test_a_job_killed_in_vain_is_spared() -> None:
    """The largest job shares its servers with small ones, so only the second one's server is returned."""
    problem = Reclaiming(
        demand=1,
        servers=tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3")),
        jobs=(
            Job(name="largest", workers={"s1": 7, "s2": 7}),
            Job(name="second", workers={"s3": 6}),
            Job(name="small", workers={"s1": 1, "s2": 1}),
        ),
    )
    result = largest_job_first(problem)

    assert result.solution is not None
    assert result.solution.servers == ("s3",)
    assert result.objective == 1
