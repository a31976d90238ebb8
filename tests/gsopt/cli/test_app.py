"""What all commands have in common: help, version, completion, and the ways to start them."""

import os
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest
import typer

from gsopt.cli.app import app
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


def test_commands_are_listed_by_whole_sentences() -> None:
    """The list of commands breaks no sentence off."""
    listed = gsopt("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(listed) >= len(_COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


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


def test_help_imports_no_command() -> None:
    """The list of commands needs neither numbers, nor data, nor databases."""
    heavy = ("numpy", "pydantic", "yaml", "filelock", "sqlite3", "networkx", "rich.table", "gsopt.studies")
    code = (
        "import sys; from gsopt.cli.app import run; run()\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)\n"
        "print(sum(name.split('.')[0] == 'gsopt' for name in sys.modules), file=sys.stderr)"
    )
    returned, _, said = _started(sys.executable, "-c", code, "--help")
    loaded, count = said.splitlines()
    assert (returned, loaded) == (0, "[]")
    assert int(count) < 10


def test_commands_are_listed_by_their_own_help() -> None:
    """What the list says of a command is how its help begins."""
    group: Any = typer.main.get_command(app)
    for name, listed in group.commands.items():
        own = group.get_command(None, name)
        assert listed.get_short_help_str(62) == own.get_short_help_str(62)
