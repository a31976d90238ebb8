"""Counts that elastic fair queuing may use."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.scheduling import elastic_jobs
from instances.scheduling.counts import restricted


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 1000), alpha=st.floats(0.1, 1))
def test_all_counts_that_stay_are_efficient(seed: int, alpha: float) -> None:
    """The demanded count stays, what stays is a beginning of the doublings, and the next one is inefficient."""
    problem = elastic_jobs(jobs=4, gpus=32, seed=seed)
    for job, left in zip(problem.jobs, restricted(problem, alpha).jobs, strict=True):
        counts = sorted(job.rates)
        efficiency = [job.rates[count] / count for count in counts]
        kept = len(left.rates)

        assert sorted(left.rates) == counts[:kept]
        assert left.demand == job.demand
        assert all(share >= alpha * (1 - 1e-6) for share in efficiency[:kept])
        assert kept == len(counts) or efficiency[kept] < alpha * (1 + 1e-6)


def test_the_first_failure_stops() -> None:
    """A count behind an inefficient one goes, however efficient it is, and so do counts below the demand."""
    job = ElasticJob(name="a", release=0, work=9, rates={1: 1.0, 2: 2.0, 4: 2.2, 8: 8.0}, gpus=2)

    assert restricted(Scheduling(gpus=8, jobs=[job]), 0.75).jobs[0].rates == {2: 2.0}


def test_nothing_of_the_old_problem_is_left() -> None:
    """The workload of the restricted problem has its counts, although the old one was derived before."""
    problem = elastic_jobs(jobs=3, gpus=32, seed=1)
    old = [job.counts for job in problem.workload.jobs]
    new = [job.counts for job in restricted(problem, 1.0).workload.jobs]

    assert new == [counts[:1] for counts in old]
