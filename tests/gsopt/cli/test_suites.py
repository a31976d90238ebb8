"""The command `gsopt suites`."""

import json

import pytest

from gsopt.studies.catalogue import names
from tests.commands import gsopt


def test_suites_are_listed() -> None:
    """Without a name every suite has a line; the word table may be left out."""
    run = gsopt("suites")

    assert run.returncode == 0
    assert {name.rpartition("/")[0] for name in names()} <= set(run.stdout.split())
    assert gsopt("suites", "table").stdout == run.stdout


def test_a_suite_is_listed_in_every_form() -> None:
    """Text, CSV, Markdown and JSON have the same instances."""
    wanted = names("waiting/medium/")

    assert len(json.loads(gsopt("suites", "waiting/medium", "--json").stdout)) == len(wanted)
    assert gsopt("suites", "waiting/medium", "--csv").stdout.count("\n") == len(wanted) + 1
    assert gsopt("suites", "waiting/medium", "--markdown").stdout.count("\n") == len(wanted) + 2
    assert all(name.rpartition("/")[2] in gsopt("suites", "waiting/medium").stdout for name in wanted)


def test_challenges_are_listed() -> None:
    """What is not proven is listed by itself."""
    found = json.loads(gsopt("suites", "--challenges", "--json").stdout)

    assert {each["standing"] for each in found} == {"challenge"}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nope"], "gsopt: suites: 'nope': is no decision, suite or committed instance\n"),
        (["--csv", "--json"], "gsopt: suites: takes one of --csv, --markdown, --json\n"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], line: str) -> None:
    """A name that stands for nothing and two forms at once are refused."""
    run = gsopt("suites", *arguments)

    assert (run.returncode, run.stdout, run.stderr) == (2, "", line)
