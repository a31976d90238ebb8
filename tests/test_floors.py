"""The house: what is planted against its arrows is found."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("gsopt", "formulations", "heuristics", "instances")

#: A file, and a line that has no place in it.
ARROWS = [
    ("gsopt/schedule/judge.py", "from gsopt.studies import catalogue\n"),
    ("gsopt/schedule/judge.py", "def lazy():\n    from gsopt.simulation import replay\n    return replay\n"),
    ("gsopt/solvers/backends/process.py", "from gsopt.solvers.formulation import Formulation\n"),
    ("gsopt/studies/grid.py", "def lazy():\n    import heuristics.policies\n    return heuristics\n"),
    ("heuristics/reclaiming/greedy.py", "from formulations.reclaiming import exact\n"),
    ("gsopt/attic.py", '"""A room that nobody gave a floor."""\n'),
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the packages and the rules to a folder of their own."""
    copy = tmp_path_factory.mktemp("house")
    for name in PACKAGES:
        shutil.copytree(
            ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.json", "*.csv")
        )
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def _tool(house: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import sys; sys.path[0] = '.'; " + command[0], *command[1:]],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
    )


def _lint(house: Path) -> int:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return _tool(house, code, "--no-cache").returncode


def test_the_house_as_it_stands_keeps_its_floors(house: Path) -> None:
    """Without anything planted nothing is found."""
    assert _lint(house) == 0


@pytest.mark.parametrize(("file", "line"), ARROWS)
def test_arrows_that_run_up_or_sideways_are_found(house: Path, file: str, line: str) -> None:
    """A planted import breaks a contract, at the top of a file or in a function; so does an unknown room."""
    path = house / file
    before = path.read_text() if path.exists() else None
    path.write_text((before or "") + line)
    try:
        assert _lint(house) == 1
    finally:
        path.unlink() if before is None else path.write_text(before)


@pytest.mark.parametrize("call", ["import_module('heuristics')", "import_module('gsopt.' + 'studies')"])
def test_arrows_hidden_in_strings_are_found(house: Path, call: str) -> None:
    """A module loaded by its name is refused wherever that is not what the file is for."""
    path = house / "gsopt/studies/grid.py"
    before = path.read_text()
    path.write_text(f"{before}\n\nfrom importlib import import_module\n\n{call}\n")
    try:
        ruff = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise"]
        run = subprocess.run([*ruff, "gsopt"], cwd=house, capture_output=True, text=True, check=False)
        assert run.returncode == 1
        assert "TID251" in run.stdout
    finally:
        path.write_text(before)
