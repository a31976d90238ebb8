"""Linear programs that stay in their worker."""

import os
import signal
import subprocess
import sys
from math import inf

import numpy as np
import pytest

from gsopt.core.budget import Budget
from gsopt.solvers.backends import Highs, close
from gsopt.solvers.backends.process import POOL
from gsopt.solvers.backends.program import Program
from gsopt.solvers.standard_form import StandardForm


def covering(columns: int, seed: int) -> StandardForm:
    """Return a random linear program of covering with five rows."""
    random = np.random.default_rng(seed)
    return StandardForm.build(
        cost=random.integers(1, 9, columns),
        matrix=random.integers(0, 3, (5, columns)) + np.eye(5, columns),
        row_lower=np.full(5, 7),
        row_upper=np.full(5, np.inf),
        integer=np.zeros(columns, dtype=np.bool_),
    )


def add(program: Program, form: StandardForm, first: int, last: int) -> None:
    """Add some of a form's columns."""
    part = form.matrix[:, first:last].tocsc()
    program.add_columns(
        form.cost[first:last],
        form.column_lower[first:last],
        form.column_upper[first:last],
        starts=part.indptr[:-1],
        rows=part.indices,
        entries=part.data,
    )


def loaded(form: StandardForm, columns: int) -> Program:
    """Return a program with all rows and the first columns of a form."""
    program = Program()
    program.add_rows(form.row_lower, form.row_upper)
    add(program, form, 0, columns)
    return program


def objective(program: Program) -> float | None:
    """Solve, and give the value."""
    solved = program.solve(Budget())
    return None if solved is None else solved.objective


@pytest.mark.parametrize("seed", range(5))
def test_a_program_that_grows_is_the_whole_program(seed: int) -> None:
    """Columns added between solves give the value, point and duals of the program solved at once."""
    form = covering(20, seed)
    program = loaded(form, 6)
    first = objective(program)
    add(program, form, 6, 20)
    solved, whole = program.solve(Budget()), Highs().solve(form)
    assert first is not None
    assert solved is not None
    assert whole.objective is not None
    assert np.isclose(solved.objective, whole.objective)
    assert solved.objective <= first + 1e-9
    assert np.isclose(form.cost @ solved.values, solved.objective)
    assert np.isclose(solved.duals @ form.row_lower, solved.objective)


def test_costs_and_limits_can_be_changed() -> None:
    """Other costs, columns that are closed and rows that ask for less count from the next solve on."""
    form = covering(8, 1)
    program = loaded(form, 8)
    before = objective(program)
    program.change_costs(2 * form.cost)
    assert before is not None
    assert objective(program) == pytest.approx(2 * before)
    program.change_rows(np.zeros(5), np.full(5, inf))
    assert objective(program) == 0.0
    program.change_rows(np.ones(5), np.full(5, inf))
    program.change_columns(np.arange(8), np.zeros(8), np.zeros(8))
    assert objective(program) is None


def test_a_killed_worker_is_replaced_by_one_that_is_told_all() -> None:
    """After the worker has died, or another one answers, the program is sent anew."""
    form = covering(12, 2)
    program = loaded(form, 12)
    value = objective(program)
    for pid in POOL.pids:
        os.kill(pid, signal.SIGKILL)
    add(program, covering(12, 3), 0, 4)
    close()
    after = objective(program)
    assert value is not None
    assert after is not None
    assert after <= value + 1e-9


def test_programs_that_were_dropped_are_sent_again() -> None:
    """More programs than a worker keeps can be solved in turns."""
    programs = [loaded(covering(10, seed), 10) for seed in range(12)]
    first = [objective(program) for program in programs]
    assert None not in first
    assert [objective(program) for program in programs] == pytest.approx(first)


def test_without_time_there_is_no_optimum() -> None:
    """A budget that has passed gives None, not an exception."""
    assert loaded(covering(400, 4), 400).solve(Budget(time_limit=0.0)) is None


def test_the_solver_is_not_loaded_here() -> None:
    """A process that solves placements can still import solvers that cannot live beside HiGHS."""
    code = (
        "import gsopt, sys\n"
        "print(gsopt.solve(gsopt.load('placement/production/vectors-08-2000'), 'column_generation').status)\n"
        "print('highspy' in sys.modules)\n"
        "import ortools.sat.python.cp_model\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["optimal", "False"]
