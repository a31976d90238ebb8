"""HiGHS and SCIP: linear and mixed programs, in files and in a worker that keeps them."""

import os
import signal
import subprocess
import sys
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.budget import Budget
from gsopt.core.errors import BrokenModel, MissingSolver
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy
from gsopt.solvers.backends import Backend, Highs, Scip, close
from gsopt.solvers.backends.process import POOL
from gsopt.solvers.backends.program import Program
from gsopt.solvers.standard_form import StandardForm
from tests.effort import cases
from tests.gsopt.solvers.backends import functions
from tests.gsopt.solvers.backends.models import ROOT, knapsack, large_limits, meet
from tests.gsopt.solvers.forms import limits_around, standard_form
from tests.refusals import refused
from tests.unwrap import unwrap

# HiGHS: linear programs with duals, versions known to be wrong, model files


def transport(sense: Sense) -> StandardForm:
    """Return a linear program whose two limits on two amounts both bind at the optimum."""
    limits = ([4, 1], np.inf) if sense is Sense.MINIMIZE else (-np.inf, [4, 1])
    return standard_form([2, 3], [[1, 1], [0, 1]], limits, integer=False, sense=sense, offset=1.0)


def fixed_charge(needed: float) -> StandardForm:
    """Return a model that opens one of two depots of capacity 100,000 for almost no demand."""
    return standard_form(
        [30, 40, 1e-6, 1e-6],
        [[-1e5, 0, 1, 0], [0, -1e5, 0, 1], [0, 0, 1, 1]],
        ([-np.inf, -np.inf, needed], [0, 0, np.inf]),
        (0, [1, 1, np.inf, np.inf]),
        integer=[True, True, False, False],
    )


@pytest.mark.parametrize("sense", list(Sense))
def test_linear_program_has_its_optimum_as_bound_and_duals(sense: Sense) -> None:
    """A linear program must end with its value as bound and the price of each row's limit."""
    outcome = Highs().solve(transport(sense))
    assert (outcome.status, outcome.stopped_by) == (Status.OPTIMAL, StoppedBy.FINISHED)
    assert outcome.objective == outcome.bound == 2 * 3 + 3 * 1 + 1
    assert unwrap(outcome.duals).tolist() == [2, 1]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=cases(30, least=10), deadline=None)
def test_duals_price_the_right_hand_side(seed: int) -> None:
    """Duals and reduced costs must add up to the objective: strong duality on random linear programs."""
    some = np.random.default_rng(seed)
    matrix = some.integers(-3, 4, (4, 6)).astype(float)
    form = standard_form(
        some.integers(1, 9, 6), matrix, (matrix @ some.integers(0, 4, 6), np.inf), (0, 10.0), integer=False
    )
    outcome = Highs().solve(form)
    duals = unwrap(outcome.duals)
    total = duals @ form.row_lower + np.minimum(form.cost - duals @ matrix, 0).sum() * 10
    assert total == pytest.approx(outcome.objective)


def test_linear_program_ends_at_a_vertex() -> None:
    """Where a whole edge is optimal, the answer must be one of its ends."""
    form = standard_form([1, 1], [[1, 1]], (4, np.inf), (0, 4), integer=False)
    assert sorted(unwrap(Highs().solve(form).values).tolist()) == [0, 4]


def test_small_promises() -> None:
    """Only linear programs have duals, entries in two parts add up, and threads may differ between solves."""
    assert Highs().solve(knapsack()).duals is None
    from scipy.sparse import csr_array

    parts = csr_array((np.array([1.0, 1.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    form = standard_form([1], parts, (4, np.inf))
    assert Highs().solve(form).objective == 2.0
    assert [Highs(threads=n).solve(knapsack()).objective for n in (1, 2, 1)] == [23.0] * 3


@pytest.mark.parametrize("needed", [1.0, 0.1, 0.03, 0.01])
def test_tiny_share_of_a_large_capacity_opens_the_depot(needed: float) -> None:
    """A demand of 1e-7 of the capacity must not slip through the integrality tolerance."""
    outcome = Highs().solve(fixed_charge(needed))
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(30, abs=1e-3)


@pytest.mark.parametrize(
    ("solver", "seed"), [*((Highs(), seed) for seed in range(10)), *((Scip(), seed) for seed in range(5))]
)
def test_large_limits_are_kept_to(solver: Backend, seed: int) -> None:
    """Rows with limits of millions, which HiGHS cannot hold to 1e-9, must hold for the judge at the optimum."""
    form = large_limits(seed)
    outcome = solver.solve(form)
    assert outcome.status is Status.OPTIMAL
    assert form.is_feasible(unwrap(outcome.values))


def test_wrong_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that returns wrong optima must be refused with a remedy."""
    POOL.close()
    monkeypatch.setattr("importlib.metadata.version", lambda _package: "1.14.0")
    with pytest.raises(MissingSolver, match=r"1\.14\.0 .*pip install 'highspy!=1\.14\.0'"):
        Highs().solve(knapsack())


NAMES = (
    "x[1]",
    "x[s1, 2]",
    "x[s1,_2]",
    "with blank",
    "with_blank",
    "free",
    "End",
    "1st",
    "e5",
    "",
    "Ähre",
    "a<=b",
    "a+b",
    "$dollar",
    "*star",
    "twice",
    "twice",
    "n" * 200,
)


def named_model() -> StandardForm:
    """Build a model of every kind of row and column, with names that no format can hold."""
    count = len(NAMES)
    matrix = np.vstack([np.arange(1, count + 1), np.ones(count), np.eye(count)[0], np.eye(count)[1]])
    return standard_form(
        np.arange(count) - 2.5,
        matrix,
        ([-np.inf, 3, 1, -2], [40, np.inf, 1, 2]),
        (np.where(np.arange(count) % 3 == 0, -np.inf, -1.0), np.where(np.arange(count) % 4 == 0, np.inf, 5.0)),
        integer=np.arange(count) % 2 == 0,
        columns=NAMES,
        rows=("Obj", "obj", "row[a b]", "RHS"),
        sense=Sense.MAXIMIZE,
        offset=7.25,
    )


@pytest.mark.parametrize("ending", [".mps", ".lp"])
def test_file_read_back_is_the_model(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A written file must be read back as the same model, whatever its names."""
    monkeypatch.syspath_prepend(str(ROOT))
    POOL.close()  # the next worker can import these tests
    from tests.gsopt.solvers.backends import functions

    form = named_model()
    path = tmp_path / f"model{ending}"
    Highs().write(form, path)
    back = Highs().call(functions.read, str(path), limit=60).answer
    assert (back["maximize"], back["offset"]) == (True, form.offset)
    for name in ("cost", "integer", "column_lower", "column_upper"):
        assert back[name] == getattr(form, name).tolist(), name
    assert len(set(back["columns"])) == len(NAMES)
    limits = zip(form.row_lower, form.row_upper, strict=True)
    assert back["rows"] == dict(zip(map(tuple, form.matrix.toarray()), limits, strict=True))


@pytest.mark.parametrize(
    ("ending", "kept"),
    [
        (".mps", ["x[1]", "x[s1,_2]", "with_blank", "free"]),
        (".lp", ["x(1)", "x(s1,_2)", "with_blank", "_free"]),
    ],
)
def test_names_stay_readable(tmp_path: Path, ending: str, kept: list[str]) -> None:
    """Names must be kept where the format can hold them, and be close to themselves elsewhere."""
    path = tmp_path / f"model{ending}"
    Highs().write(named_model(), path)
    words = path.read_text().split()
    assert [name for name in kept if name not in words] == []


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("model.txt", "must end in .mps or .lp"),  # another ending
        ("model", "must end in .mps or .lp"),  # none
        ("missing/model.mps", "no such folder"),  # nowhere
        ("folder.mps", "cannot be written"),  # a folder of that name
    ],
)
def test_file_that_cannot_be_written_is_one_line(tmp_path: Path, name: str, rule: str) -> None:
    """A path that cannot be written must give one line with the path and the reason."""
    (tmp_path / "folder.mps").mkdir()
    with refused(rule, start=str(tmp_path / name)):
        Highs().write(knapsack(), tmp_path / name)


def test_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS divides gaps by the value; one that ends within a gap proves no bound."""
    options = Highs().request(knapsack(), time_limit=None, gap=0.25, start=None)[1].options
    assert options["mip_rel_gap"] == 0.2
    monkeypatch.syspath_prepend(str(ROOT))
    POOL.close()  # workers look for modules where this process did when they were started
    bounds = [Highs().call(functions.end_without_bound, gap).answer for gap in (0.0, 0.1)]
    assert bounds == [7.0, inf]


def test_no_point_is_called_optimal_that_is_not() -> None:
    """Two jobs that each find a node cost nothing; presolve by aggregation says that 46 is the least."""
    inf = np.inf
    form = standard_form(
        [1076, 0, 46, 0, 511, 0, 0, 0, 0],
        [
            [1, 1, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 1, 1, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 1, 1, 0],
            [0, 0, 0, 0, 0, 0, 1, 0, -1],
            [0, -1, 0, 0, 0, -1, 0, 1, 0],
            *[[0, 0, -2, 0, 0, 0, 0, 0, 1]] * 3,
        ],
        ([1, 1, 1, -inf, 0, 0, 0, -inf, 0], [1, 1, 1, 3, inf, inf, inf, 0, inf]),
        (0, [1, 1, 1, 1, 1, 1, 3, 3, 3]),
    )
    assert Highs().solve(form).objective == 0


# SCIP: models with continuous columns, as a second opinion on HiGHS


@given(seed=st.integers(0, 10**6))
@settings(max_examples=cases(40, least=14), deadline=None)
def test_mixed_models_have_the_optimum_of_highs(seed: int) -> None:
    """SCIP and HiGHS must agree on bounded models with integer and continuous columns."""
    some = np.random.default_rng(seed)
    columns, rows = some.integers(2, 9), some.integers(1, 7)
    matrix = some.integers(-9, 10, (rows, columns)) * (some.random((rows, columns)) < 0.6)
    form = standard_form(
        some.integers(-6, 7, columns),
        matrix,
        limits_around(matrix @ some.integers(0, 6, columns), some.integers([[-1], [0]], 9, (2, rows)), some),
        (some.integers(-5, 1, columns), some.integers(0, 20, columns)),
        integer=some.random(columns) < 0.6,
        sense=list(Sense)[seed % 2],
        offset=2.5,
    )

    scip, highs = Scip().solve(form), Highs().solve(form)

    assert scip.status is highs.status
    if scip.status is Status.OPTIMAL:
        assert meet(scip.objective, highs.objective)
        assert meet(scip.bound, highs.bound)


def test_linear_programs() -> None:
    """A linear program must end with its value as bound, whatever rows without limits it has."""
    form = standard_form([2, 3], [[1, 2]], (4, np.inf), integer=False)
    outcome = Scip().solve(form)
    assert outcome.status is Status.OPTIMAL
    assert outcome.bound == pytest.approx(6.0)
    form = standard_form([1], [[1], [1]], ([2, -np.inf], np.inf))
    assert Scip().solve(form).objective == 2.0


def test_unbounded_integers_come_to_an_end() -> None:
    """A model on whose unbounded relaxation SCIP would branch for ever must be refused."""
    form = standard_form(
        [-1, -1, -4, -5, -5],
        [
            [-6, 6, 0, -5, -8],
            [3, -6, -2, 0, -6],
            [-3, -1, 0, -6, 0],
            [-3, -9, -3, 7, 0],
            [2, 8, 3, -2, -8],
        ],
        ([-np.inf, -np.inf, -np.inf, -1403, -np.inf], [-2097, np.inf, -994, -1392, np.inf]),
        ([0, -5, -np.inf, -3, -1], [np.inf, 19, np.inf, np.inf, 17]),
    )
    with pytest.raises(BrokenModel, match="unbounded"):
        Scip().solve(form, time_limit=60)


# Linear programs that stay in their worker


def covering(columns: int, seed: int) -> StandardForm:
    """Return a random linear program of covering with five rows."""
    random = np.random.default_rng(seed)
    return standard_form(
        random.integers(1, 9, columns),
        random.integers(0, 3, (5, columns)) + np.eye(5, columns),
        (7, np.inf),
        integer=False,
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


def objective(program: Program) -> float:
    """Solve, and return the value."""
    return unwrap(program.solve(Budget())).objective


@pytest.mark.parametrize("seed", range(5))
def test_a_program_that_grows_is_the_whole_program(seed: int) -> None:
    """Columns added between solves give the value, point and duals of the program solved at once."""
    form = covering(20, seed)
    program = loaded(form, 6)
    first = objective(program)
    add(program, form, 6, 20)
    solved, whole = unwrap(program.solve(Budget())), Highs().solve(form)
    assert solved.objective == pytest.approx(unwrap(whole.objective))
    assert solved.objective <= first + 1e-9
    assert np.isclose(form.cost @ solved.values, solved.objective)
    assert np.isclose(solved.duals @ form.row_lower, solved.objective)


def test_costs_and_limits_can_be_changed() -> None:
    """Other costs, columns that are closed and rows that ask for less count from the next solve on."""
    form = covering(8, 1)
    program = loaded(form, 8)
    before = objective(program)
    program.change_costs(2 * form.cost)
    assert objective(program) == pytest.approx(2 * before)
    program.change_rows(np.zeros(5), np.full(5, inf))
    assert objective(program) == 0.0
    program.change_rows(np.ones(5), np.full(5, inf))
    program.change_columns(np.arange(8), np.zeros(8), np.zeros(8))
    assert program.solve(Budget()) is None


def test_a_killed_worker_is_replaced_by_one_that_is_told_all() -> None:
    """After the worker has died, or another one answers, the program is sent anew."""
    form = covering(12, 2)
    program = loaded(form, 12)
    value = objective(program)
    for pid in POOL.pids:
        os.kill(pid, signal.SIGKILL)
    add(program, covering(12, 3), 0, 4)
    close()
    assert objective(program) <= value + 1e-9


def test_programs_are_kept_by_their_worker() -> None:
    """More programs than a worker keeps are solved in turns, and without time there is no optimum."""
    programs = [loaded(covering(10, seed), 10) for seed in range(12)]
    first = [objective(program) for program in programs]
    assert [objective(program) for program in programs] == pytest.approx(first)
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
