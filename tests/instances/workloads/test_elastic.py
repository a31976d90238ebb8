"""Elastic jobs as a workload."""

from instances.scheduling import elastic_jobs
from instances.workloads import elastic


def test_the_jobs_are_those_of_the_problem() -> None:
    """Names, release dates, work and menus are those of the scheduling problem with the same arguments."""
    workload = elastic(jobs=30, gpus=8, load=1.5, scaling="linear", seed=3)
    problem = elastic_jobs(jobs=30, gpus=8, load=1.5, scaling="linear", seed=3)

    assert workload.jobs == problem.workload.jobs
    assert workload.name == "elastic-30"
    assert any(len(job.counts) > 1 for job in workload.jobs)


def test_the_seed_decides() -> None:
    """The same seed gives the same workload, another seed another."""
    assert elastic(seed=1) == elastic(seed=1) != elastic(seed=2)
