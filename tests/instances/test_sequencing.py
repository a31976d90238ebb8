"""The generator and the suites of sequencing."""

from instances.sequencing import unit_jobs
from instances.sequencing.suites import committed, production, small, worst


def test_older_types_are_slower() -> None:
    """Seconds rise from type to type, by no more than the largest speed-up in all."""
    for job in unit_jobs(jobs=50, types=4, speedup=5.0, seed=1).jobs:
        seconds = list(job.seconds.values())
        assert seconds == sorted(seconds)
        assert seconds[-1] <= 5.01 * (seconds[0] + 1)


def test_busy_gpus_are_free_later() -> None:
    """All, none or some of the GPUs are busy, as asked."""
    for busy, count in ((0.0, 0), (1.0, 12)):
        machines = unit_jobs(busy=busy, seed=1).machines
        assert sum(machine.available > 0 for machine in machines) == count


def test_suites_have_what_they_say() -> None:
    """Small instances can be enumerated, larger ones have up to 160 jobs on 64 GPUs, free and busy."""
    assert max(len(problem.jobs) for problem in small()) <= 5
    assert {len(problem.machines) for problem in production()} == {16, 64}
    assert {any(machine.available for machine in problem.machines) for problem in production()} == {False, True}
    assert len(committed()) == len(small()) + len(production()) + len(worst())
