"""What is known of a sharing problem before anything is searched."""

from fractions import Fraction

from formulations.sharing.best import Best
from gsopt.budget import Budget
from gsopt.job import Job
from gsopt.problems.sharing import Sharing


def test_the_first_bound_is_that_of_jobs_alone() -> None:
    """No job ends sooner than alone and at once, so the mean is bounded by that of durations, and no higher."""
    jobs = [Job(name=name, release_date=5, duration=seconds, gpus=1) for name, seconds in [("a", 1), ("b", 4)]]

    assert Best(Sharing(gpus=1, jobs=jobs), Budget(), "test").bound == Fraction(5, 2)
