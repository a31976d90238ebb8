"""The generator and the suites of waiting."""

from gsopt.scenario.speed import TIER_PENALTIES
from instances.waiting import tier_jobs
from instances.waiting.suites import challenge, committed, medium, small, worst
from instances.waiting.tier_jobs import cut_off


def test_arrivals_change_release_dates_only() -> None:
    """In batch all jobs are there at once, in Poisson arrivals one after the other."""
    batch, poisson = (tier_jobs(jobs=9, arrivals=arrivals, seed=4) for arrivals in ("batch", "poisson"))
    dates = [job.release_date for job in poisson.jobs]

    assert {job.release_date for job in batch.jobs} == {0.0}
    assert dates == sorted(dates)
    assert dates[-1] > 0
    assert [(job.duration, job.gpus, job.model) for job in batch.jobs] == [
        (job.duration, job.gpus, job.model) for job in poisson.jobs
    ]


def test_demands_fit_and_may_divide_each_other() -> None:
    """On four GPUs no job demands more, and with powers of two there are 1, 2 and 4 of them."""
    some = tier_jobs(jobs=60, racks=1, machines=1)
    powers = tier_jobs(jobs=60, racks=1, machines=1, powers_of_two=True)

    assert {job.gpus for job in some.jobs} == {1, 2, 3, 4}
    assert {job.gpus for job in powers.jobs} == {1, 2, 4}


def test_run_times_are_whole_and_cut_off() -> None:
    """Every run time is a whole number of seconds, and at most 30 times the duration, rounded up."""
    problem = tier_jobs(jobs=40)

    for job in problem.jobs:
        times = problem.run_times(job)
        assert all(int(time) == time for time in times)
        assert max(times) <= 30 * job.duration
    assert cut_off(1e9)["mobilenetv3"] == TIER_PENALTIES["mobilenetv3"]


def test_every_size_has_both_objectives_and_arrivals() -> None:
    """Of each number of jobs there are four random instances."""
    for suite, sizes in ((small(), (3, 4, 5, 6)), (medium(), (8, 10, 12))):
        random = [problem for problem in suite if problem.about and problem.about.seed is not None]
        assert len(random) == 4 * len(sizes)
        assert {len(problem.jobs) for problem in random} == set(sizes)
    assert len(committed()) == len(small()) + len(medium()) + len(challenge()) + len(worst())
