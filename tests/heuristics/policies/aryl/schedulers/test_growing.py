"""Growing: step after step to the job that ranks first."""

from heuristics.policies.aryl.epoch import Elastic
from heuristics.policies.aryl.schedulers.growing import grow, none
from tests.heuristics.policies.aryl.schedulers.epochs import calm, linear


def test_a_step_that_does_not_fit_ends_a_job_and_nobody_else() -> None:
    """Of 3 GPUs the first job, whose workers need 2, gets one, and the second the rest."""
    epoch = calm(linear(0, 9, gpus=2), linear(1, 9), training=3)
    assert grow(epoch, lambda job, *_: float(job.job)) == {0: 1, 1: 1}


def test_gaps_are_stepped_over() -> None:
    """A job that may have one or three workers goes from one to three, or stays."""
    gap = Elastic(0, 9.0, 1, 1, 3, 0, "training", (1.0, 0.0, 3.0))
    assert [grow(calm(gap, training=gpus), lambda *_: 0.0) for gpus in (1, 2)] == [{0: 0}, {0: 2}]


def test_no_rank_ends_a_job() -> None:
    """A job whose next step has no rank keeps the steps before it."""
    rank = {0: 1.0, 1: None, 2: 1.0}
    assert grow(calm(linear(0, 9), training=9), lambda _, before, __: rank[before]) == {0: 1}


def test_pools_are_apart() -> None:
    """Idle GPUs of one pool are of no use to a job of the other, but to one that runs on any mixture."""
    jobs = [linear(0, 9, pool="training"), linear(1, 9, pool="inference"), linear(2, 9, pool="mixed")]
    assert grow(calm(*jobs, training=1, inference=3), lambda job, *_: float(job.job)) == {0: 1, 1: 3, 2: 0}
    assert grow(calm(*jobs, training=1, inference=3), lambda job, *_: -float(job.job)) == {0: 0, 1: 1, 2: 3}


def test_nobody_grows() -> None:
    """Every elastic job is named, also those that get nothing."""
    assert none(calm(linear(3, 9, extra=1), linear(5, 9))) == {3: 0, 5: 0}
