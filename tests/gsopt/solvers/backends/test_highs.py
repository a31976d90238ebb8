"""HiGHS: linear programs with duals, versions known to be wrong, model files."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput, MissingSolver
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy
from gsopt.solvers.backends import Highs
from gsopt.solvers.backends.process import POOL
from gsopt.solvers.standard_form import StandardForm
from tests.gsopt.solvers.backends import functions
from tests.gsopt.solvers.backends.models import ROOT, knapsack, large_limits


def transport(sense: Sense) -> StandardForm:
    """Two limits on two amounts, both binding at the optimum, as a linear program."""
    limits = ([4, 1], [np.inf, np.inf]) if sense is Sense.MINIMIZE else ([-np.inf, -np.inf], [4, 1])
    return StandardForm.build(
        cost=[2, 3],
        matrix=[[1, 1], [0, 1]],
        row_lower=limits[0],
        row_upper=limits[1],
        integer=[False, False],
        sense=sense,
        offset=1.0,
    )


def fixed_charge(needed: float) -> StandardForm:
    """Open one of two depots of capacity 100,000 for a demand of almost nothing."""
    return StandardForm.build(
        cost=[30, 40, 1e-6, 1e-6],
        matrix=[[-1e5, 0, 1, 0], [0, -1e5, 0, 1], [0, 0, 1, 1]],
        row_lower=[-np.inf, -np.inf, needed],
        row_upper=[0, 0, np.inf],
        column_upper=[1, 1, np.inf, np.inf],
        integer=[True, True, False, False],
    )


@pytest.mark.parametrize("sense", list(Sense))
def test_linear_program_has_its_optimum_as_bound_and_duals(sense: Sense) -> None:
    """A linear program must end with its value as bound and the price of each row's limit."""
    outcome = Highs().solve(transport(sense))

    assert (outcome.status, outcome.stopped_by) == (Status.OPTIMAL, StoppedBy.FINISHED)
    assert outcome.objective == outcome.bound == 2 * 3 + 3 * 1 + 1
    assert outcome.duals is not None
    assert outcome.duals.tolist() == [2, 1]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_duals_price_the_right_hand_side(seed: int) -> None:
    """Duals and reduced costs must add up to the objective: strong duality on random linear programs."""
    some = np.random.default_rng(seed)
    matrix = some.integers(-3, 4, (4, 6)).astype(float)
    form = StandardForm.build(
        cost=some.integers(1, 9, 6),
        matrix=matrix,
        row_lower=matrix @ some.integers(0, 4, 6),
        row_upper=np.full(4, np.inf),
        column_upper=np.full(6, 10.0),
        integer=np.zeros(6, dtype=bool),
    )

    outcome = Highs().solve(form)

    assert outcome.values is not None
    assert outcome.duals is not None
    reduced = form.cost - outcome.duals @ matrix
    total = outcome.duals @ form.row_lower + np.minimum(reduced, 0).sum() * 10
    assert total == pytest.approx(outcome.objective)


def test_linear_program_ends_at_a_vertex() -> None:
    """Where a whole edge is optimal, the answer must be one of its ends."""
    form = StandardForm.build(
        cost=[1, 1],
        matrix=[[1, 1]],
        row_lower=[4],
        row_upper=[np.inf],
        column_upper=[4, 4],
        integer=[False, False],
    )

    values = Highs().solve(form).values

    assert values is not None
    assert sorted(values.tolist()) == [0, 4]


def test_integer_program_has_no_duals() -> None:
    """Duals must be given for linear programs only."""
    assert Highs().solve(knapsack()).duals is None


@pytest.mark.parametrize("needed", [1.0, 0.1, 0.03, 0.01])
def test_tiny_share_of_a_large_capacity_opens_the_depot(needed: float) -> None:
    """A demand of 1e-7 of the capacity must not slip through the integrality tolerance."""
    outcome = Highs().solve(fixed_charge(needed))

    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(30, abs=1e-3)


@pytest.mark.parametrize("seed", range(10))
def test_large_limits_do_not_fail_at_the_tight_tolerance(seed: int) -> None:
    """Rows with limits of millions, which HiGHS cannot hold to 1e-9, must still be solved to the optimum."""
    form = large_limits(seed)

    outcome = Highs().solve(form)

    assert outcome.status is Status.OPTIMAL
    assert outcome.values is not None
    assert form.is_feasible(outcome.values)


def test_duplicate_matrix_entries_add_up() -> None:
    """A sparse matrix that stores an entry in two parts must mean their sum."""
    from scipy.sparse import csr_array

    parts = csr_array((np.array([1.0, 1.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    form = StandardForm.build(cost=[1], matrix=parts, row_lower=[4], row_upper=[np.inf])

    assert Highs().solve(form).objective == 2.0


@pytest.mark.parametrize("options", [{"threads": 0}, {"seed": -1}])
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    """An option out of range must be refused when it is given."""
    with pytest.raises(InvalidInput, match="must be at least"):
        Highs(**options)


def test_threads_may_differ_between_solves() -> None:
    """A warm worker must take another number of threads than the last solve's."""
    assert [Highs(threads=n).solve(knapsack()).objective for n in (1, 2, 1)] == [23.0] * 3


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
    return StandardForm.build(
        cost=np.arange(count) - 2.5,
        matrix=matrix,
        row_lower=[-np.inf, 3, 1, -2],
        row_upper=[40, np.inf, 1, 2],
        column_lower=np.where(np.arange(count) % 3 == 0, -np.inf, -1.0),
        column_upper=np.where(np.arange(count) % 4 == 0, np.inf, 5.0),
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

    assert back["maximize"]
    assert back["offset"] == form.offset
    assert back["cost"] == form.cost.tolist()
    assert back["integer"] == form.integer.tolist()
    assert back["column_lower"] == form.column_lower.tolist()
    assert back["column_upper"] == form.column_upper.tolist()
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
        ("model.txt", r"must end in \.mps or \.lp"),  # another ending
        ("model", r"must end in \.mps or \.lp"),  # none
        ("missing/model.mps", "no such folder"),  # nowhere
        ("folder.mps", "cannot be written"),  # a folder of that name
    ],
)
def test_file_that_cannot_be_written_is_one_line(tmp_path: Path, name: str, rule: str) -> None:
    """A path that cannot be written must give one line with the path and the reason."""
    (tmp_path / "folder.mps").mkdir()

    with pytest.raises(InvalidInput, match=rule) as caught:
        Highs().write(knapsack(), tmp_path / name)

    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_gap_is_narrowed_to_one_by_the_value() -> None:
    """HiGHS divides by the value, so a gap of a quarter of the bound is asked for as a fifth of the value."""
    options = Highs().request(knapsack(), time_limit=None, gap=0.25, start=None)[1].options
    assert options["mip_rel_gap"] == 0.2


def test_no_point_is_called_optimal_that_is_not() -> None:
    """Two jobs that each find a node cost nothing; presolve by aggregation says that 46 is the least."""
    inf = np.inf
    form = StandardForm.build(
        cost=[1076, 0, 46, 0, 511, 0, 0, 0, 0],
        matrix=[
            [1, 1, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 1, 1, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 1, 1, 0],
            [0, 0, 0, 0, 0, 0, 1, 0, -1],
            [0, -1, 0, 0, 0, -1, 0, 1, 0],
            *[[0, 0, -2, 0, 0, 0, 0, 0, 1]] * 3,
        ],
        row_lower=[1, 1, 1, -inf, 0, 0, 0, -inf, 0],
        row_upper=[1, 1, 1, 3, inf, inf, inf, 0, inf],
        column_upper=[1, 1, 1, 1, 1, 1, 3, 3, 3],
    )
    assert Highs().solve(form).objective == 0


def test_a_value_within_a_gap_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where HiGHS ends without a bound its value is one if the optimum was asked for, and none within a gap."""
    monkeypatch.syspath_prepend(str(ROOT))
    POOL.close()  # workers look for modules where this process did when they were started
    bounds = [Highs().call(functions.end_without_bound, gap).answer for gap in (0.0, 0.1)]
    assert bounds == [7.0, inf]
