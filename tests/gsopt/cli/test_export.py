"""The command `gsopt export`."""

from pathlib import Path

from tests.commands import gsopt


def test_an_instance_is_written_for_solvers(tmp_path: Path) -> None:
    """The model is in the file, and a line says how large it is."""
    file = tmp_path / "a.mps"
    run = gsopt("export", "reclaiming/aryl-figure-5", "-o", file, "--method", "milp")

    assert (run.returncode, run.stdout) == (0, f"{file}: 8 rows, 10 columns\n")
    assert file.read_text().startswith("* reclaiming/aryl-figure-5: minimize preemptions\n")


def test_a_method_without_model_is_one_line(tmp_path: Path) -> None:
    """Only formulations can be written."""
    run = gsopt("export", "reclaiming/aryl-figure-5", "-o", tmp_path / "a.mps", "--method", "exact")

    assert (run.returncode, run.stderr) == (2, "gsopt: method: 'exact': must be one of milp, reduced\n")
