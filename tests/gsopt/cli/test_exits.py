"""Whatever goes wrong ends a command in one line and with a code, somebody's own code and Ctrl-C included."""

import os
import signal
import sys
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Any

import pytest
import typer

from gsopt.cli.exits import Exit, describe
from gsopt.cli.instances import compare_instances
from gsopt.cli.interrupts import noticed
from gsopt.core.errors import GsoptError, InvalidInput
from gsopt.core.method import heuristic
from gsopt.evaluation import catalogue
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from tests.commands import gsopt, refused
from tests.gsopt.problems.test_reclaiming import figure_5
from tests.gsopt.studies.samples import FIGURE_5, study

#: Methods and policies of somebody's own: each ends in another way.
OWN = """
import sys

class Mine(BaseException):
    pass

class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError

def leave(problem):
    sys.exit(0)

def raise_mine(problem):
    raise Mine("first\\u202e\\nsecond")

def fail(problem):
    raise ValueError("first\\nsecond")

def fail_silently(problem):
    raise Unprintable

def interrupt(problem):
    raise KeyboardInterrupt

def leave_at_once(state):
    sys.exit(0)

class Decider:
    preemptive = False

    def __init__(self, error):
        self._error = error

    def decide(self, state):
        raise self._error

def leave_later(state):
    return Decider(SystemExit(0))

def fail_later(state):
    return Decider(ValueError("first\\nsecond"))
"""


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with somebody's own module, and a workload."""
    (tmp_path / "own_exits.py").write_text(OWN)
    (tmp_path / "leaving_exits.py").write_text("import sys\nsys.exit(0)\n")
    job = '{"name": "a", "release_date": 0, "duration": 1, "gpus": 1}'
    (tmp_path / "jobs.json").write_text(f'{{"jobs": [{job}]}}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "own_exits", raising=False)


#: What a method raises, and what is said of it.
METHODS = {
    "leave": "leave must not end the program: SystemExit: 0",
    "raise_mine": r"raise_mine must not end the program: Mine: first\u202e",
    "fail": "ValueError: first",
    "fail_silently": "Unprintable",
}


@pytest.mark.parametrize(("name", "said"), METHODS.items())
def test_solve_says_what_a_method_raised(tmp_path: Path, name: str, said: str) -> None:
    """An error of a method is one line, with the place where it was raised, and code 1."""
    run = gsopt("solve", FIGURE_5, "--method", f"own_exits:{name}")
    place = f" ({tmp_path / 'own_exits.py'}, line {OWN.splitlines().index(f'def {name}(problem):') + 2})"
    line = f"gsopt: {said}\n" if "must not" in said else f"gsopt: {name} failed: {said}{place}\n"
    assert run == (Exit.FAILED, "", line)


@pytest.mark.parametrize(("name", "said"), METHODS.items())
def test_compare_says_what_a_method_raised(name: str, said: str) -> None:
    """In a comparison it is a note below the rows of the other methods, and the code is 1."""
    run = gsopt("compare", FIGURE_5, "--method", f"own_exits:{name}", "--method", "greedy")
    assert (run.returncode, run.stderr) == (Exit.FAILED, "")
    assert "feasible" in run.stdout
    note = " ".join(run.stdout.partition(f"{name} failed: ")[2].split())
    assert note.removeprefix("Exited: ") == said


def test_ctrl_c_in_a_method_is_ctrl_c() -> None:
    """A method that raises what Ctrl-C raises is taken for interrupted."""
    run = gsopt("solve", FIGURE_5, "--method", "own_exits:interrupt")
    assert run == (Exit.INTERRUPTED, "", "gsopt: interrupted\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("leave_at_once", "Exited: leave_at_once must not end the program: SystemExit: 0"),
        ("leave_later", "Exited: leave_later must not end the program: SystemExit: 0"),
        ("fail_later", "ValueError: first"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_policies_end_in_one_line(command: str, name: str, said: str) -> None:
    """A policy that raises anything is named, and the other policies are shown."""
    option = {"simulate": "--policy", "compare": "--method"}[command]
    run = gsopt(command, "jobs.json", "--gpus", "1", option, f"own_exits:{name}", option, "fifo")
    assert (run.returncode, run.stderr) == (Exit.FAILED, f"gsopt: {name} failed: {said}\n")
    assert "fifo" in run.stdout
    alone = gsopt(command, "jobs.json", "--gpus", "1", option, f"own_exits:{name}")
    assert alone.returncode == Exit.FAILED
    assert alone.stderr == f"gsopt: {said.removeprefix('Exited: ')}\n" or alone.stderr == run.stderr


@pytest.mark.parametrize("command", ["solve", "compare", "study"])
def test_a_module_that_ends_the_program_cannot_be_imported(command: str) -> None:
    """Where the module itself exits nothing is run, and one line says so."""
    Path("study.json").write_text(study(methods=["leaving_exits:f"]).model_dump_json())
    lines = {
        "solve": ("solve", FIGURE_5, "--method", "leaving_exits:f"),
        "compare": ("compare", FIGURE_5, "--method", "leaving_exits:f"),
        "study": ("study", "run", "study.json", "--out", "out"),
    }
    assert refused(*lines[command]).endswith("leaving_exits cannot be imported: SystemExit: 0")


def test_a_command_cannot_be_ended_from_within(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of somebody's that is called in any other place does not end a command with its own code either."""
    monkeypatch.setattr("gsopt.cli.solve._read_start", lambda *_: sys.exit(0))
    run = gsopt("solve", FIGURE_5, "--start", "a.json")
    assert run == (Exit.FAILED, "", "gsopt: somebody's code must not end the program: SystemExit: 0\n")


def test_lines_are_printable() -> None:
    """What a terminal would obey is escaped in every line, whatever kind of error it is."""
    bad = "a\u202eb\nc\x1b[31m"
    shown = r"a\u202eb\nc\x1b[31m"
    errors = {
        InvalidInput("", "", bad): Exit.BAD_INPUT,
        GsoptError(bad): Exit.FAILED,
        OSError(2, bad, bad): Exit.FAILED,
        typer.BadParameter(bad): Exit.BAD_INPUT,
    }
    for error, code in errors.items():
        described = describe(error)
        assert described is not None
        assert described[0].isprintable()
        assert shown in described[0]
        assert described[1] == code
    assert describe(ZeroDivisionError()) is None


def test_ctrl_c_anywhere_is_one_line() -> None:
    """Ctrl-C that the parser of the command line hears is as any other."""
    assert describe(typer.Abort()) == ("interrupted", Exit.INTERRUPTED)


@pytest.mark.parametrize(
    "line",
    [
        ("solve", "{}"),
        ("compare", "{}"),
        ("check", "{}", "a.json"),
        ("simulate", "{}", "--gpus", "1"),
        ("simulate", "{}", "--gpus", "1", "--reader", "philly"),
        ("simulate", "jobs.json", "--cluster", "{}"),
        ("simulate", "jobs.json", "--setting", "{}"),
        ("judge", "{}", "--trace", "jobs.json", "--gpus", "1"),
        ("study", "run", "{}", "--out", "out"),
        ("study", "table", "{}"),
        ("generate", "reclaiming", "figure_5", "-o", "{}"),
    ],
)
def test_a_name_longer_than_any_file_is_a_short_line(line: tuple[str, ...]) -> None:
    """A name of 5,000 characters is bad input, and its beginning is enough to know it by."""
    said = refused(*(word.replace("{}", "a" * 5000) for word in line))
    assert "aaaa... (" in said
    assert os.strerror(ENAMETOOLONG) in said or "must be a folder" in said
    assert len(said) < 200


def test_what_a_method_catches_still_ends_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that catches Ctrl-C and returns as if nothing were is the last one, and its row is kept."""

    @heuristic
    def deaf(problem: Reclaiming) -> ReclaimingSolution:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return ReclaimingSolution(servers=tuple(server.name for server in problem.servers[: problem.demand]))

    def find(_: str, name: Any) -> Any:
        return deaf if name == "deaf" else name

    monkeypatch.setattr(catalogue, "find_method", find)
    monkeypatch.setattr("gsopt.evaluation.compare.find_method", find)
    comparison = compare_instances([figure_5(2), figure_5(1)], ["deaf"], None, 0)
    assert (len(comparison), comparison.interrupted) == (1, True)


def test_the_handler_is_put_back() -> None:
    """Outside, Ctrl-C does what it did before."""
    before = signal.getsignal(signal.SIGINT)
    with noticed() as interrupt:
        assert not interrupt.is_set()
    assert signal.getsignal(signal.SIGINT) is before
