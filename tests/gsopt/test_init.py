"""The package surface."""

import subprocess
import sys

import gsopt

HEAVY = (
    *("numpy", "scipy", "pyomo", "highspy", "ortools", "pyscipopt", "networkx", "pydantic", "deap", "typer"),
    "rich",
)


def test_import_loads_nothing_heavy() -> None:
    """Importing gsopt loads no solver, no numpy and fewer than 20 modules of its own."""
    code = (
        "import sys, gsopt\n"
        f"print([name for name in {HEAVY} if name in sys.modules])\n"
        "print(sum(name.split('.')[0] == 'gsopt' for name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, count = run.stdout.splitlines()
    assert loaded == "[]"
    assert int(count) < 20


def test_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails like in any module."""
    assert not hasattr(gsopt, "solvee")
