"""Solving on the command line, and what is wrong with its arguments."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from instances.reclaiming import server_uniform
from tests.commands import gsopt, gsopt_process, interrupted_solve
from tests.gsopt.core.test_files import HOSTILE
from tests.gsopt.problems.test_reclaiming import figure_5


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """Return the paper's example as a file."""
    path = tmp_path / "figure-5.json"
    write(figure_5(2), path)
    return path


def test_solve_prints_one_json_object(instance: Path) -> None:
    """As a process of its own `solve --json` prints one object with the documented keys and exits with 0."""
    run = gsopt_process("solve", instance, "--json")
    found = json.loads(run.stdout)
    assert run.returncode == Exit.SOLUTION
    wanted = {"method", "status", "objective", "bound", "gap", "stopped_by", "level", "runtime", "solution"}
    assert wanted <= set(found)
    assert (found["status"], found["objective"], found["bound"]) == ("optimal", 1, 1)
    assert sorted(found["solution"]["servers"]) == ["s1", "s2"]
    assert run.stderr == ""


def test_process_that_fails_ends_with_its_exit_code() -> None:
    """As a process of its own the command says what is wrong in one line and exits with the code for it."""
    run = gsopt_process("solve", "no-such-file.json")
    assert run == (Exit.BAD_INPUT, "", "gsopt: no-such-file.json: cannot be read: No such file or directory\n")


@pytest.mark.parametrize("backend", ["highs", "cp-sat", "scip"])
def test_solve_with_each_backend(instance: Path, backend: str) -> None:
    """Each backend solves the model of record from the command line."""
    found = json.loads(gsopt("solve", instance, "--method", "milp", "--backend", backend, "--json").stdout)
    assert (found["solver"], found["status"], found["objective"]) == (backend, "optimal", 1)


@pytest.mark.parametrize(
    "kind", ["truncated", "unknown key", "400 digits", "100 levels", "NaN", "overfull server"]
)
def test_bad_file_is_one_line_and_exit_code_2(tmp_path: Path, kind: str) -> None:
    """A hostile file gives one line on standard error, exit code 2 and no traceback."""
    path = tmp_path / "bad.json"
    path.write_text(HOSTILE[kind][0])
    run = gsopt("solve", path)
    assert run.returncode == Exit.BAD_INPUT
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert str(path) in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "no-such-file.json"),
        ("solve", "reclaiming/no-such-instance"),
        ("solve", "reclaiming/aryl-figure-5", "--method", "magic"),
        ("solve", "reclaiming/aryl-figure-5", "--method", "milp", "--backend", "magic"),
        ("solve", "reclaiming/aryl-figure-5", "--method", "greedy", "--backend", "highs"),
        ("solve", "reclaiming/aryl-figure-5", "--time-limit", "-3"),
        ("solve", "reclaiming/aryl-figure-5", "--time-limit", "nan"),
        ("compare", "scheming"),
        ("methods", "scheming"),
        ("schema", "scheming"),
        ("generate", "reclaiming", "magic"),
        ("generate", "reclaiming", "churn", "--colour", "red"),
        ("generate", "reclaiming", "churn", "--servers", "many"),
        ("generate", "reclaiming", "churn", "--servers", "-5"),
        ("generate", "reclaiming", "churn", "--mode", "chaotic"),
        ("generate", "reclaiming", "churn", "--servers"),
        ("generate", "reclaiming", "figure_5", "-o", "no/such/folder/a.json"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    """Whatever is misspelt or out of range is named in one line."""
    run = gsopt(*arguments)
    assert run.returncode == Exit.BAD_INPUT
    assert len(run.stderr.splitlines()) == 1, run.stderr
    assert run.stderr.startswith("gsopt: ")


def test_time_limit_of_zero_without_solution_is_exit_code_3(tmp_path: Path) -> None:
    """When the limit leaves no time for any solution the exit code is 3 and the bound is null or a number."""
    path = tmp_path / "hard.json"
    write(server_uniform(servers=60, jobs=60, degree=5, demand=18), path)
    run = gsopt("solve", path, "--method", "milp", "--time-limit", "0", "--json")
    found = json.loads(run.stdout)
    assert found["stopped_by"] == "time_limit"
    assert run.returncode == (Exit.SOLUTION if found["solution"] else Exit.NO_SOLUTION)


def test_ctrl_c_returns_the_incumbent(tmp_path: Path) -> None:
    """Ctrl-C at a terminal ends a solve that would take hours, with the best solution and bound so far."""
    path = tmp_path / "hard.json"
    write(server_uniform(servers=200, jobs=100, degree=3, demand=60), path)
    quick = ("--method", "milp", "--backend", "cp-sat")  # the first to have both
    printed, shown = interrupted_solve(path, *quick, "--json")
    found = json.loads(printed)
    assert "Traceback" not in shown
    assert found["stopped_by"] == "interrupt"
    assert found["solution"] is not None
    assert found["bound"] is not None


def test_convergence_is_drawn(tmp_path: Path) -> None:
    """A picture of value and bound is written beside the result, and refused for what has no history."""
    picture = tmp_path / "convergence.svg"
    run = gsopt("solve", "reclaiming/aryl-figure-5", "--plot", picture, "--json")
    assert json.loads(run.stdout)["objective"] == 1
    assert run.stderr == ""
    assert picture.read_text().startswith("<?xml")
    run = gsopt("solve", "reclaiming/aryl-figure-5", "--method", "greedy", "--plot", tmp_path / "no.svg")
    assert (run.returncode, run.stderr) == (Exit.BAD_INPUT, "gsopt: --plot: is not an option of greedy\n")
    assert not (tmp_path / "no.svg").exists()
