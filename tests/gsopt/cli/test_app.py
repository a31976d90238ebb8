"""What all commands have in common: help, version, completion, and the ways to start them."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from gsopt.cli.exits import Exit
from tests.commands import gsopt

_COMMANDS = [
    "check",
    "compare",
    "demo",
    "drain",
    "generate",
    "import",
    "interference",
    "judge",
    "methods",
    "pack",
    "schema",
    "simulate",
    "solve",
    "study",
]


def _started(*line: str, **environment: str) -> tuple[int, str, str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    run = subprocess.run(line, capture_output=True, text=True, env=env, check=False)
    return run.returncode, run.stdout, run.stderr


def test_as_a_module() -> None:
    """`python -m gsopt` is the command."""
    assert _started(sys.executable, "-m", "gsopt", "--version") == (0, f"gsopt {version('gsopt')}\n", "")


def test_ctrl_c_in_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C where a command has nothing to show for it is one line and exit code 130."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gsopt.cli.schema.problem_types", interrupt)
    assert gsopt("schema", "reclaiming") == (Exit.INTERRUPTED, "", "gsopt: interrupted\n")


def test_help_fits_a_page() -> None:
    """Without a command, and with --help everywhere, it is shown what there is, in lines of 80 columns."""
    shown = [gsopt(), gsopt("--help"), gsopt("study"), *(gsopt(command, "--help") for command in _COMMANDS)]
    assert all((run.returncode, run.stderr) == (0, "") for run in shown)
    assert max(len(line) for run in shown for line in run.stdout.splitlines()) <= 80
    assert all(f"\n  {command} " in shown[0].stdout for command in _COMMANDS)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("gsopt sim", {"simulate"}),
        ("gsopt demo re", {"reclaiming"}),
        ("gsopt solve reclaiming/aryl", {"reclaiming/aryl-figure-5"}),
        ("gsopt simulate a.json --policy tir", {"tiresias"}),
        ("gsopt simulate a.json --reader phil", {"philly"}),
    ],
)
def test_completion(typed: str, offered: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell is offered commands, decisions, instances, policies and readers."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_GSOPT_COMPLETE": "complete_bash"}
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    run = gsopt()
    assert (run.returncode, set(run.stdout.split())) == (0, offered)
