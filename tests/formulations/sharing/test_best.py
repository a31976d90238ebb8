"""What is known of a sharing problem before anything is searched."""

from fractions import Fraction

import pytest

from formulations.sharing.best import Best
from formulations.sharing.listing import in_turn
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction
from gsopt.core.result import StoppedBy
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job


def test_the_first_bound_is_that_of_jobs_alone() -> None:
    """No job ends sooner than alone and at once, so the mean is bounded by that of durations, and no higher."""
    jobs = [Job(name=name, release_date=5, duration=seconds, gpus=1) for name, seconds in [("a", 1), ("b", 4)]]

    assert Best(Sharing(gpus=1, jobs=jobs), Budget(), "test").bound == Fraction(5, 2)


def test_a_bound_holds_for_all_schedules_or_for_better_ones() -> None:
    """A bound above the best value known is wrong, or holds only for better schedules and proves it."""
    jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    best = Best(Sharing(gpus=1, jobs=jobs, default_interference=3.0), Budget(), "test")
    best.take(in_turn(best.problem))
    assert (best.value, best.bound, best.finished) == (3, 2, None)

    with pytest.raises(Contradiction):
        best.raise_bound(4)
    best.raise_bound(4, of_better=True)
    assert (best.bound, best.finished) == (3, StoppedBy.FINISHED)
