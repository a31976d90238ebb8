"""Generating instances on the command line."""

import json
from pathlib import Path

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
