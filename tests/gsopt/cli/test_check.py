"""Judging somebody's solution on the command line."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from tests.commands import gsopt
from tests.gsopt.problems.test_reclaiming import figure_5


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """Return the paper's example as a file."""
    path = tmp_path / "figure-5.json"
    write(figure_5(2), path)
    return path


def test_solution_of_solve_passes_check(instance: Path, tmp_path: Path) -> None:
    """What `solve --json` prints can be judged by `check`; a broken copy is refused by name and exit code 1."""
    solved = gsopt("solve", instance, "--json").stdout
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(solved)
    bad.write_text('{"servers": ["s1", "s9"]}')
    accepted, refused = gsopt("check", instance, good), gsopt("check", instance, bad, "--json")
    assert (accepted.returncode, refused.returncode) == (Exit.SOLUTION, Exit.FAILED)
    assert "preemptions: 1" in accepted.stdout
    assert "is no server" in json.loads(refused.stdout)["violations"][0]
