"""StandardForm: arrays from Pyomo, checks and points."""

import numpy as np
import pyomo.environ as pyo
import pytest

from gsopt.core.errors import BrokenModel, Unsupported
from gsopt.core.problem import Sense
from gsopt.solvers.standard_form import StandardForm
from tests.gsopt.solvers.forms import standard_form


def small_model() -> pyo.ConcreteModel:
    """Return a model with every kind of row, bound and column."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(["a", "b"], domain=pyo.Binary)
    model.y = pyo.Var(domain=pyo.Reals, bounds=(-3, None))
    model.n = pyo.Var(domain=pyo.NonNegativeIntegers)
    model.cost = pyo.Objective(expr=2 * model.x["a"] - model.y + 3 * model.n + 7, sense=pyo.maximize)
    model.below = pyo.Constraint(expr=model.x["a"] + model.y <= 4)
    model.above = pyo.Constraint(expr=model.x["b"] + model.n >= 1)
    model.equal = pyo.Constraint(expr=model.y + 2 * model.n == 5)
    model.between = pyo.Constraint(expr=pyo.inequality(-1, model.y - model.n, 6))
    return model


def test_pyomo_model_becomes_arrays() -> None:
    """Sense, offset, bounds, kinds and rows of a Pyomo model arrive in the arrays."""
    form = StandardForm.from_pyomo(small_model())
    column = {name: index for index, name in enumerate(form.columns)}
    assert set(column) == {"x[a]", "x[b]", "y", "n"}
    assert form.sense is Sense.MAXIMIZE
    assert form.offset == 7
    assert form.integer[column["x[a]"]]
    assert form.integer[column["n"]]
    assert not form.integer[column["y"]]
    assert (form.column_lower[column["y"]], form.column_upper[column["y"]]) == (-3, np.inf)
    assert (form.column_lower[column["x[b]"]], form.column_upper[column["x[b]"]]) == (0, 1)
    assert form.objective(form.point({"x[a]": 1, "y": 2, "n": 1})) == 2 - 2 + 3 + 7


@pytest.mark.parametrize(
    ("values", "violation"),
    [
        ({"x[a]": 1, "y": 3, "n": 1}, 0.0),
        ({"x[a]": 1, "y": 5, "n": 0, "x[b]": 1}, 2.0),  # below
        ({"y": 5, "n": 0}, 1.0),  # below and above
        ({"y": 1, "n": 1}, 2.0),  # equal
        ({"y": -4, "n": 4.5}, 7.5),  # between
    ],
)
def test_violation_is_the_largest_of_rows_and_bounds(values: dict[str, float], violation: float) -> None:
    """The violation of a point is that of its worst row or bound."""
    form = StandardForm.from_pyomo(small_model())
    assert form.violation(form.point(values)) == pytest.approx(violation)


def test_large_coefficients() -> None:
    """Rounding touches integer columns only, which makes coefficients above 1e5 in their rows wrong."""
    form = standard_form([1, 1], [[1, 1]], (0, 9), integer=[True, False])
    assert form.rounded([0.9999999, 0.9999999]).tolist() == [1.0, 0.9999999]
    assert form.is_feasible([1.0, 0.5])
    assert not form.is_feasible([0.5, 0.5])
    with pytest.raises(Unsupported, match="rounding makes the solution wrong"):
        standard_form([1, 1], [[1, 1e6]], (0, 9))
    form = standard_form([1, 1, 1], [[1e7, 1, 0], [0, 0, 1]], (0, 1), integer=[False, False, True])
    assert form.matrix.max() == 1e7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_lower": [0, 0]}, "row_lower: 2: must be 1"),
        ({"column_upper": [1]}, "column_upper: 1: must be 2"),
        ({"columns": ("a",)}, "columns: 1: must be 2"),
        ({"cost": [1, np.nan]}, "cost must be finite"),
        ({"matrix": [[1, np.inf]]}, "matrix must be finite"),
        ({"offset": np.nan}, "offset must be finite"),
        ({"offset": -np.inf}, "offset must be finite"),
        ({"row_upper": [np.nan]}, "must not be NaN"),
    ],
)
def test_broken_arrays_are_refused(change: dict[str, object], message: str) -> None:
    """Wrong shapes and numbers that are none raise BrokenModel."""
    good: dict[str, object] = {"cost": [1, 1], "matrix": [[1, 1]], "row_lower": [0], "row_upper": [9]}
    with pytest.raises(BrokenModel, match=message):
        StandardForm.build(**(good | change))  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [0, 2])
def test_models_have_one_objective(number: int) -> None:
    """A model without an active objective, or with two of them, is refused, and not converted in part."""
    model = small_model()
    if number:
        model.other = pyo.Objective(expr=model.y)
    else:
        model.cost.deactivate()

    with pytest.raises(BrokenModel, match=f"model .*: must have one active objective, has {number}"):
        StandardForm.from_pyomo(model)


@pytest.mark.parametrize(
    ("cost", "integer", "offset", "whole"),
    [
        ([1, 2], [True, True], 3, True),
        ([1, 0], [True, False], 0, True),
        ([1, 2], [True, False], 0, False),
        ([1, 0.5], [True, True], 0, False),
        ([1, 2], [True, True], 0.5, False),
    ],
)
def test_objective_known_to_be_integral(
    cost: list[float], integer: list[bool], offset: float, whole: bool
) -> None:
    """A bound may be rounded only when every term of the objective is an integer."""
    form = standard_form(cost, [[1, 1]], (0, 9), integer=integer, offset=offset)
    assert form.integral_objective is whole
