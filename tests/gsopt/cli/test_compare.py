"""One's own methods and policies on the command line, and what it says of those that fail."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.files import write
from instances.workloads import batch
from tests.commands import COMMAND, gsopt
from tests.processes import PATIENCE

OWN = """
from gsopt.problems.reclaiming import ReclaimingSolution
from heuristics.policies import fifo

def first(problem):
    return ReclaimingSolution(servers=[server.name for server in problem.servers[: problem.demand]])

def crashes(given):
    raise ZeroDivisionError("a mistake")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with a module of one's own and a workload."""
    (tmp_path / "one_s_own.py").write_text(OWN)
    write(batch(jobs=5, gpus=4), tmp_path / "workload.json")
    return tmp_path


def in_folder(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, as its users do."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    line = [*COMMAND, *arguments]
    return subprocess.run(
        line, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_modules_of_the_working_directory(folder: Path) -> None:
    """A method named by its path is found beside the user; one that fails has a row and gives exit code 1."""
    chosen = [f"--method={name}" for name in ("greedy", "one_s_own:crashes", "one_s_own:first")]
    run = in_folder(folder, "compare", "reclaiming/aryl-figure-5", *chosen, "--json")
    rows = json.loads(run.stdout)
    assert run.returncode == Exit.FAILED
    assert [(row["method"], row["objective"], row["failed"]) for row in rows] == [
        ("greedy", 1, False),
        ("one_s_own:crashes", None, True),
        ("one_s_own:first", 1, False),
    ]
    assert rows[1]["note"] == "ZeroDivisionError: a mistake"


def test_policies_of_ones_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy by its path stands beside the others; one that fails is said, and the others are printed."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    chosen = [f"--policy={name}" for name in ("srtf", "one_s_own:crashes", "one_s_own:fifo")]
    run = gsopt("simulate", "workload.json", "--gpus", "4", *chosen, "--json")
    assert run.returncode == Exit.FAILED
    assert [row["policy"] for row in json.loads(run.stdout)] == ["srtf", "fifo"]
    assert run.stderr == "gsopt: one_s_own:crashes failed: ZeroDivisionError: a mistake\n"
    alone = gsopt("simulate", "workload.json", "--gpus", "4", "--policy", "one_s_own:fifo")
    assert alone.returncode == Exit.SOLUTION


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "reclaiming/aryl-figure-5", "--method", "no_module:f"], "there is no module no_module"),
        (["solve", "reclaiming/aryl-figure-5", "--method", "os:sep"], "must be a function, not '/'"),
        (
            ["simulate", "{}", "--gpus", "4", "--policy", "os:nothing"],
            "--policy: 'os:nothing': os has no nothing",
        ),
        (["compare", "{}", "--gpus", "4", "--method", "fifoo"], "--method: 'fifoo': must be one of efq"),
    ],
)
def test_what_is_not_there_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    """A method or policy that is not there gives one line and exit code 2."""
    run = gsopt(*(each.format(folder / "workload.json") for each in arguments))
    assert (run.returncode, run.stdout) == (Exit.BAD_INPUT, "")
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
