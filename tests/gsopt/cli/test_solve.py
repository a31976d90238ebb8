"""Instances on the command line: solved, checked, generated, exported and listed."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from gsopt.problems.reader import problem_types
from instances.reclaiming import server_uniform
from tests.commands import gsopt, gsopt_process, interrupted_solve, refused
from tests.gsopt.core.test_files import HOSTILE
from tests.gsopt.studies.samples import FIGURE_5


def test_solve_prints_one_json_object() -> None:
    """As a process of its own `solve --json` prints one object with the documented keys and exits with 0."""
    run = gsopt_process("solve", FIGURE_5, "--json")
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
def test_solve_with_each_backend(backend: str) -> None:
    """Each backend solves the model of record from the command line."""
    found = json.loads(gsopt("solve", FIGURE_5, "--method", "milp", "--backend", backend, "--json").stdout)
    assert (found["solver"], found["status"], found["objective"]) == (backend, "optimal", 1)


@pytest.mark.parametrize(
    "kind", ["truncated", "unknown key", "400 digits", "100 levels", "NaN", "overfull server"]
)
def test_bad_file_is_one_line_and_exit_code_2(tmp_path: Path, kind: str) -> None:
    """A hostile file gives one line on standard error, exit code 2 and no traceback."""
    path = tmp_path / "bad.json"
    path.write_text(HOSTILE[kind][0])
    assert str(path) in refused("solve", path)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("solve reclaiming/no-such-instance", ""),
        ("solve EXAMPLE --method magic", ""),
        ("solve EXAMPLE --method milp --backend magic", ""),
        ("solve EXAMPLE --method greedy --backend highs", ""),
        ("solve EXAMPLE --time-limit nan", ""),
        ("compare scheming", ""),
        ("methods scheming", "decision: 'scheming': must be one of"),
        ("schema scheming", ""),
        ("generate reclaiming magic", ""),
        ("CHURN --servers -5", ""),
        (
            "generate reclaiming churn --colour red",
            "--colour: 'red': is not an option of churn; there are servers, ",
        ),
        ("CHURN --servers many", "--servers: 'many': input should be a valid integer"),
        ("CHURN --servers=4.5", "--servers: 4.5: input should be a valid integer"),
        ("CHURN --mode chaotic", "--mode: 'chaotic': input should be 'packed', "),
        ("CHURN --servers", "--servers: needs a value"),
        ("CHURN 7", "'7': must be an option and its value"),
        ("export EXAMPLE -o a.mps --method exact", "--method: 'exact': must be one of milp, reduced"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(line: str, named: str) -> None:
    """The first argument that is misspelt or out of range is named in one line, as it was written."""
    line = line.replace("EXAMPLE", FIGURE_5).replace("CHURN", "generate reclaiming churn")
    assert refused(*line.split()).startswith(f"gsopt: {named}")


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
    run = gsopt("solve", FIGURE_5, "--plot", picture, "--json")
    assert json.loads(run.stdout)["objective"] == 1
    assert run.stderr == ""
    assert picture.read_text().startswith("<?xml")
    said = refused("solve", FIGURE_5, "--method", "greedy", "--plot", tmp_path / "no.svg")
    assert said == "gsopt: --plot: is not an option of greedy"
    assert not (tmp_path / "no.svg").exists()


def test_solution_of_solve_passes_check(tmp_path: Path) -> None:
    """What `solve --json` prints can be judged by `check`; a broken copy is refused by name and exit code 1."""
    solved = gsopt("solve", FIGURE_5, "--json").stdout
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(solved)
    bad.write_text('{"servers": ["s1", "s9"]}')
    accepted, refused = gsopt("check", FIGURE_5, good), gsopt("check", FIGURE_5, bad, "--json")
    assert (accepted.returncode, refused.returncode) == (Exit.SOLUTION, Exit.FAILED)
    assert "preemptions: 1" in accepted.stdout
    assert "is not a server" in json.loads(refused.stdout)["violations"][0]


def test_generate_writes_what_compare_reads(tmp_path: Path) -> None:
    """A generated instance is compared by all methods; the same seed gives the same file."""
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    options = ("--servers", "40", "--mode", "packed", "--demand", "5", "--seed", "7")
    for path in (first, second):
        assert gsopt("generate", "reclaiming", "churn", *options, "-o", path).returncode == 0
    assert first.read_text() == second.read_text()
    run = gsopt("compare", first, "--json")
    assert run.stderr == ""  # no progress is drawn without a terminal
    rows = json.loads(run.stdout)
    assert {row["demand"] for row in rows} == {5}
    assert {"greedy", "exact"} <= {row["method"] for row in rows}


def test_an_instance_is_written_for_solvers(tmp_path: Path) -> None:
    """The model is in the file, and a line says how large it is."""
    file = tmp_path / "a.mps"
    run = gsopt("export", FIGURE_5, "-o", file, "--method", "milp")
    assert (run.returncode, run.stdout) == (0, f"{file}: 8 rows, 10 columns\n")
    assert file.read_text().startswith(f"* {FIGURE_5}: minimize preemptions\n")


def test_listings() -> None:
    """Methods, generators and schemas are listed for every decision."""
    for word, kind in problem_types().items():
        assert "exact" in gsopt("methods", word).stdout
        assert gsopt("generate", word).returncode == 0
        assert json.loads(gsopt("schema", word).stdout)["title"] == kind.__name__
        assert json.loads(gsopt("schema", word, "--solution").stdout)["title"] == kind.solution_type.__name__
    assert "themis_auction" in gsopt("methods", "scheduling").stdout
