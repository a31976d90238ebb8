"""Models and helpers that the tests of the backends share."""

import itertools
import os
import subprocess
import sys
from math import isclose
from pathlib import Path

import numpy as np

from gsopt.core.numbers.tolerances import CLAIM
from gsopt.core.problem import Sense
from gsopt.solvers.backends import Backend, CpSat, Highs, Scip
from gsopt.solvers.standard_form import StandardForm
from tests.gsopt.solvers.forms import standard_form
from tests.processes import PATIENCE, wait_until

ROOT = Path(__file__).parents[4]
#: A module that stands in for a solver whose import takes as long as a test wants.
GATED = "tests.gsopt.solvers.backends.gated"

BACKENDS: tuple[Backend, ...] = (Highs(), CpSat(), Scip())


def knapsack() -> StandardForm:
    """Five items; the best choice is worth 23."""
    return standard_form([10, 13, 7, 8, 2], [[5, 6, 4, 3, 1]], (-np.inf, 10), (0, 1), sense=Sense.MAXIMIZE)


def unbounded() -> StandardForm:
    """One column that may grow for ever."""
    return standard_form([1], [[1]], (0, np.inf), sense=Sense.MAXIMIZE)


def market_split(rows: int = 7, columns: int = 60) -> StandardForm:
    """Split every row in halves exactly: no solver finds a point, or a proof that there is none, for hours."""
    matrix = np.random.default_rng(0).integers(0, 100, (rows, columns)).astype(float)
    half = matrix.sum(axis=1) // 2
    return standard_form(np.zeros(columns), matrix, (half, half), (0, 1))


def union_of_servers(servers: int = 60, jobs: int = 120, returned: int = 25) -> StandardForm:
    """Return servers that touch few jobs: points come at once, a proof takes long (hours from 120 servers)."""
    generator = np.random.default_rng(0)
    touched = [(s, j) for s in range(servers) for j in generator.choice(jobs, size=6, replace=False)]
    matrix = np.zeros((len(touched) + 1, servers + jobs))
    for row, (server, job) in enumerate(touched):
        matrix[row, server], matrix[row, servers + job] = -1, 1
    matrix[-1, :servers] = 1
    return standard_form(
        np.append(np.zeros(servers), np.ones(jobs)),
        matrix,
        (np.append(np.zeros(len(touched)), returned), np.inf),
        (0, 1),
    )


def meet(value: float | None, other: float | None) -> bool:
    """Check whether two solvers, or a solver and its model, mean the same number."""
    return value is not None and other is not None and isclose(value, other, rel_tol=CLAIM, abs_tol=CLAIM)


def best_value(form: StandardForm) -> float | None:
    """Return the optimum of a tiny integer model by trying every point; None when there is none."""
    domains = [
        range(int(low), int(high) + 1) for low, high in zip(form.column_lower, form.column_upper, strict=True)
    ]
    values = [form.objective(point) for point in itertools.product(*domains) if form.is_feasible(point)]
    return (min if form.sense is Sense.MINIMIZE else max)(values, default=None)


def script(folder: Path, text: str) -> subprocess.Popen[str]:
    """Start a plain script, without a main guard, in a session of its own."""
    path = folder / "script.py"
    path.write_text(text)
    return subprocess.Popen(
        [sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def finished(process: subprocess.Popen[str]) -> str:
    """Return what a script printed, once it ended well."""
    printed, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complained
    return printed


def large_limits(seed: int, scale: float = 1e5) -> StandardForm:
    """Cover eight rows by limits of millions, with integer and continuous columns."""
    some = np.random.default_rng(seed)
    matrix = some.integers(1, 50, (8, 15)).astype(float)
    point = some.random(15) * scale
    integer = some.random(15) < 0.5
    return standard_form(
        some.random(15) + 0.1, matrix, (matrix @ point, np.inf), (0, scale * 10), integer=integer
    )


def open_gate(gate: Path) -> None:
    """Let the worker that waits at the gate, or comes to it, start."""

    def opened() -> bool:
        try:
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # nobody waits there yet
            return False
        return True

    wait_until(opened)
