"""Groups of jobs that take turns."""

from gsopt.scenario.job import Job
from gsopt.simulation import simulate
from heuristics.policies.gandiva.rotating import Rotating, RotationGroup
from tests.gsopt.simulation.scenarios import bundle


def test_somebody_waits_where_not_all_run() -> None:
    """A group with more jobs than run has one that waits."""
    assert RotationGroup(1, (0,), [1, 2], {1}).waits
    assert not RotationGroup(1, (0,), [1], {1}).waits


def test_nobody_is_stopped_while_nobody_waits() -> None:
    """Jobs with GPUs of their own run to their ends, over any number of slices."""
    jobs = bundle(Job(name=n, release_date=0, duration=500, gpus=g) for n, g in (("a", 1), ("b", 3)))
    run = simulate(jobs, Rotating, cluster=4, record=True)
    assert run.schedule is not None
    assert len(run.schedule.segments) == 2


def test_many_jobs_on_few_gpus_all_get_their_turns() -> None:
    """Of ten jobs of five minutes on one GPU each has run after ten minutes."""
    jobs = bundle(Job(name=f"j{i}", release_date=0, duration=300, gpus=1) for i in range(10))
    run = simulate(jobs, Rotating, cluster=1)
    assert run.start_times == tuple(60.0 * i for i in range(10))
    assert min(time for time in run.completion_times if time is not None) == 2460
