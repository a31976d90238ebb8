"""The committed suites are what the generators make, and small enough."""

from pathlib import Path

import pytest

import instances
from gsopt.evaluation.catalogue import load
from instances.scheduling.suites import committed, medium, small

FOLDER = Path(instances.__file__).parent


def test_the_suites_are_as_large_as_they_say() -> None:
    """At least 60 small instances of at most 7 jobs, and 12 of 10 to 20 jobs."""
    assert len(small()) >= 60
    assert all(len(problem.jobs) <= 7 and problem.gpus <= 8 for problem in small())
    assert len(medium()) == 12


def test_the_suites_are_varied() -> None:
    """There are all cluster sizes, fairness, equal release dates, and counts that are no powers of two."""
    problems = small()

    assert {problem.gpus for problem in problems} == {2, 4, 6, 8}
    assert sum(problem.fairness is not None for problem in problems) == 4
    assert sum(len({job.release for job in problem.jobs}) == 1 for problem in problems) > 16
    assert {1, 2, 4, 6} in [set(job.rates) for problem in problems for job in problem.jobs]


def test_values_in_files_are_brackets_or_proofs() -> None:
    """No bound is above its value; most small instances are proven, and there the two are equal."""
    abouts = [(problem.name, load(problem.name).about) for problem in committed()]
    known = [(name, about) for name, about in abouts if about is not None and about.objective is not None]
    proofs = [name for name, about in known if about.proved_by]

    assert len(known) >= 77
    assert all((about.bound or 0) <= (about.objective or 0) * (1 + 1e-9) for _, about in known)
    assert all(about.bound == pytest.approx(about.objective, rel=1e-6) for _, about in known if about.proved_by)
    assert sum(name.startswith("scheduling/small/") for name in proofs) >= 60
