"""The generator and the suites of batching."""

from instances.batching import elastic_jobs
from instances.batching.suites import small


def test_limits_are_full_batches_of_doublings() -> None:
    """Each batch limit is a power of two of full local batches, up to the asked one."""
    jobs = elastic_jobs(jobs=200, doublings=3, seed=1).jobs
    factors = {job.batch_limit // job.local_limit for job in jobs}
    assert factors == {1, 2, 4, 8}
    assert all(job.batch_limit % job.local_limit == 0 for job in jobs)


def test_parts_are_as_asked() -> None:
    """Of 1,000 jobs about the asked parts run, are new, and are uncertain; 0 and 1 are none and all."""
    jobs = elastic_jobs(jobs=1000, running=0.5, new=0.2, uncertain=0.3, seed=1).jobs
    assert 0.35 < sum(job.previous_gpus > 0 for job in jobs) / 1000 < 0.45  # half of those that are not new
    assert 0.15 < sum(job.new for job in jobs) / 1000 < 0.25
    assert 0.25 < sum(job.progress is not None for job in jobs) / 1000 < 0.35
    assert not any(job.new for job in elastic_jobs(new=0.0).jobs)
    assert all(job.progress for job in elastic_jobs(uncertain=1.0).jobs)


def test_every_option_has_a_small_instance() -> None:
    """Each criterion, forced set, cap and menu stands in some small instance."""
    for field, count in (
        ("criterion", 3),
        ("forced", 3),
        ("caps", 3),
        ("menu", 2),
        ("use", 2),
        ("estimate", 2),
    ):
        assert len({getattr(problem, field) for problem in small()}) == count, field
