"""Instances from the public traces."""

from pathlib import Path

from instances.scheduling.real import from_data


def test_nothing_without_the_trace(tmp_path: Path) -> None:
    """A folder without the workloads gives no instances."""
    assert list(from_data(tmp_path)) == []


def test_windows_of_the_workloads(traces: Path) -> None:
    """Four small instances with names of their own, whose jobs overlap and can grow."""
    problems = list(from_data(traces))

    assert [problem.name.removeprefix("scheduling/real/") for problem in problems] == [
        "philly-149",
        "saturn-121",
        "newtrace-053",
        "newtrace-051",
    ]
    assert [(len(problem.jobs), problem.gpus) for problem in problems] == [(6, 16), (7, 16), (6, 16), (8, 32)]
    for problem in problems:
        last = problem.jobs[-1].release
        assert problem.jobs[0].release == 0
        assert sum(job.work for job in problem.jobs) > last * problem.gpus
        assert sum(len(job.rates) > 1 for job in problem.jobs) >= 2
