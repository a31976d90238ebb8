"""The committed suites of sequencing."""

from instances.sequencing.suites import committed, production, small


def test_suites_have_what_they_say() -> None:
    """Small instances can be enumerated, larger ones have up to 160 jobs on 64 GPUs, free and busy."""
    assert max(len(problem.jobs) for problem in small()) <= 5
    assert {len(problem.machines) for problem in production()} == {16, 64}
    assert {any(machine.available for machine in problem.machines) for problem in production()} == {False, True}
    assert len(committed()) == len(small()) + len(production())
