"""Jobs that start as the best orders say."""

from gsopt.scenario.job import Job
from gsopt.simulation import simulate
from heuristics.policies.allox.sequenced import Sequenced
from tests.gsopt.simulation.scenarios import bundle


def test_busy_gpus_have_places_too() -> None:
    """Where the GPU that is free is no worse, it is taken, and nobody waits for the other one."""
    jobs = bundle(Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in (("a", 0, 9), ("b", 1, 5)))
    assert simulate(jobs, Sequenced, cluster=2).start_times == (0, 1)


def test_nobody_is_stopped() -> None:
    """A long job keeps its GPU when a short one comes."""
    jobs = bundle(Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in (("a", 0, 99), ("b", 1, 1)))
    run = simulate(jobs, Sequenced, cluster=1)
    assert (run.completion_times, run.metrics.preemptions) == ((99, 100), 0)
