"""Generating instances on the command line."""

import json
from pathlib import Path

import pytest

from tests.commands import gsopt


def test_generate_writes_what_compare_reads(tmp_path: Path) -> None:
    """A generated instance is compared by all methods; the same seed gives the same file."""
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    options = ("--servers", "40", "--mode", "packed", "--demand", "5", "--seed", "7")
    for path in (first, second):
        assert gsopt("generate", "reclaiming", "churn", *options, "-o", path).returncode == 0
    assert first.read_text() == second.read_text()
    run = gsopt("compare", first, "--json")
    rows = json.loads(run.stdout)
    assert {row["demand"] for row in rows} == {5}
    assert {"greedy", "exact"} <= {row["method"] for row in rows}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--colour", "red"), "--colour: 'red': is no option of churn; there are servers, "),
        (("--servers", "many"), "--servers: 'many': input should be a valid integer"),
        (("--servers=4.5",), "--servers: 4.5: input should be a valid integer"),
        (("--mode", "chaotic"), "--mode: 'chaotic': input should be 'packed', "),
        (("--servers",), "--servers: needs a value"),
        (("7",), "'7': must be an option and its value"),
    ],
)
def test_bad_options_are_one_line(options: tuple[str, ...], line: str) -> None:
    """Options are typed as in a study's file; the first that is wrong is named as it was written."""
    run = gsopt("generate", "reclaiming", "churn", *options)
    assert run.returncode == 2
    assert run.stderr.startswith(f"gsopt: {line}")
    assert len(run.stderr.splitlines()) == 1
