"""What is known from the beginning."""

from formulations.shares.best import Best
from formulations.shares.needs import alone
from gsopt.core.budget import Budget
from heuristics.shares import progressive_filling
from instances.shares import typed_jobs


def test_it_begins_with_isolated_shares_and_every_job_alone() -> None:
    """Shares and bound are those that cost next to nothing."""
    for criterion in ("max_min", "finish_time", "makespan", "fifo"):
        problem = typed_jobs(criterion=criterion, seed=2)
        best = Best(problem, Budget(), "best")
        assert best.solution == problem.fitted(problem.isolated_shares)
        assert best.bound == alone(problem)


def test_a_better_start_is_kept() -> None:
    """A start that is better than isolated shares is what is known."""
    problem = typed_jobs(seed=2)
    start = progressive_filling(problem)
    assert Best(problem, Budget(start=start.solution), "best").value == start.objective
