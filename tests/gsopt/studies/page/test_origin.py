"""Where results come from, on a page."""

import shlex

from gsopt.studies.page.origin import commands, packages_table, runs_table, sources_table
from gsopt.studies.provenance import Source, StudyRun


def _run(**packages: str) -> StudyRun:
    details = {"packages": packages}
    return StudyRun("2026-01-31T12:00:00+00:00", "0.1.0", "3.11.9", "Linux", None, 2, 4, details)


def test_a_run_has_one_line() -> None:
    """It says when it began, what it computed, and on what."""
    (line,) = runs_table([_run()]).lines
    assert [each.text for each in line] == ["2026-01-31 12:00 UTC", "4", "0.1.0", "3.11.9", "Linux", "-", "2"]


def test_packages_have_every_version_that_some_run_had() -> None:
    """A package of one version in all runs has that, another all of its versions."""
    made = packages_table([_run(numpy="2.0", scipy="1.0"), _run(numpy="2.0", scipy="1.1", numba="0.6")])
    lines = [[each.text for each in line] for line in made.lines]
    assert lines == [["numpy", "2.0"], ["scipy", "1.0, 1.1"], ["numba", "0.6"]]


def test_sources_have_their_digests() -> None:
    """Every file is there with its digest."""
    lines = [[each.text for each in line] for line in sources_table([Source("a", "1"), Source("a", "2")]).lines]
    assert lines == [["a", "1"], ["a", "2"]]


def test_commands_survive_any_name() -> None:
    """What a shell reads is what was given, whatever is in it."""
    name = 'a\' b$(c) "d" on x;y'
    _, line = commands({"--figure": ["mean_jct"], "--gantt": [name, "b"]})
    assert shlex.split(line)[6:] == ["--figure", "mean_jct", "--gantt", name, "--gantt", "b"]
