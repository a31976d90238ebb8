"""Equal share: GPUs are shared as the menus allow."""

from gsopt.scenario.job import Job
from gsopt.simulation import simulate
from heuristics.policies import equal_share
from tests.gsopt.simulation.scenarios import bundle

_MENU = ((1, 1.0), (2, 2.0), (4, 4.0))


def test_jobs_shrink_for_newcomers_and_grow_again() -> None:
    """Alone 4 GPUs, then 2 each, then 4 again."""
    jobs = bundle(
        [
            Job(name="a", release_date=0, duration=16, gpus=1, menu=_MENU),
            Job(name="b", release_date=2, duration=4, gpus=1, menu=_MENU),
        ]
    )
    run = simulate(jobs, equal_share, cluster=4, record=True)
    assert run.completion_times == (5.0, 4.0)
    assert run.schedule is not None
    assert [segment.gpus for segment in run.schedule.segments if segment.job == "a"] == [4, 2, 4]


def test_what_is_left_goes_to_the_lower_number() -> None:
    """Three jobs on four GPUs: the first one gets the fourth GPU."""
    jobs = bundle([Job(name=name, release_date=0, duration=4, gpus=1, menu=_MENU) for name in "abc"])
    run = simulate(jobs, equal_share, cluster=4, record=True)
    assert run.schedule is not None
    assert [segment.gpus for segment in run.schedule.segments[:3]] == [2, 1, 1]


def test_jobs_wait_when_smallest_counts_do_not_fit() -> None:
    """A fifth job on four GPUs waits until one is done."""
    jobs = bundle([Job(name=name, release_date=0, duration=4, gpus=1, menu=_MENU) for name in "abcde"])
    run = simulate(jobs, equal_share, cluster=4)
    assert run.start_times == (0.0, 0.0, 0.0, 0.0, 4.0)
