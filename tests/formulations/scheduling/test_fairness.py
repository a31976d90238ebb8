"""The smallest fairness with which there is a schedule."""

import pytest

from formulations.scheduling import event_orders, smallest_fairness
from gsopt.core.result import Status
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.schedule.fairness import gps_finish_times
from tests.effort import cases
from tests.strategies.scheduling import figure_4, tiny


def test_the_smallest_fairness_is_feasible_and_less_is_not() -> None:
    """Just above it there is a schedule, by enumeration of all orders; just below there is none."""
    positive = 0
    for seed in range(cases(40)):
        problem = tiny(seed, jobs=(2, 3, 4))
        least = smallest_fairness(problem)
        above = problem.model_copy(update={"fairness": least + 1e-5})
        assert event_orders(above).status is Status.OPTIMAL, problem.name
        if least > 1e-3:
            positive += 1
            below = problem.model_copy(update={"fairness": least - 1e-3})
            assert event_orders(below).status is Status.INFEASIBLE, problem.name
    assert positive >= cases(20)


def test_a_job_alone_is_late_by_what_it_cannot_share() -> None:
    """A job of one GPU in a cluster of four takes 2 s instead of the fluid's 0.5."""
    job = ElasticJob(name="a", release=3, work=2, rates={1: 1.0})

    assert smallest_fairness(Scheduling(gpus=4, jobs=[job])) == pytest.approx(1.5)


def test_nobody_need_be_late_in_figure_4() -> None:
    """In Figure 4 every job can complete as early as under generalized processor sharing."""
    assert smallest_fairness(figure_4()) == pytest.approx(0, abs=1e-7)


def test_late_arrivals_count() -> None:
    """On one GPU the fluid delays the first job and a schedule need not, whenever the second arrives."""
    for release in (0.5, 1.0, 1.5):
        jobs = [ElasticJob(name=n, release=r, work=2, rates={1: 1.0}) for n, r in [("a", 0.0), ("b", release)]]
        problem = Scheduling(gpus=1, jobs=jobs)
        assert gps_finish_times(problem.workload, 1)[0] > 2
        assert smallest_fairness(problem) == pytest.approx(0, abs=1e-7)


def test_too_little_time_is_said() -> None:
    """Without time there is no answer but a clear error."""
    with pytest.raises(TimeoutError, match="0"):
        smallest_fairness(figure_4(), time_limit=0.0)
