"""StandardForm: a linear or integer program as plain arrays, the interface between models and solvers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gsopt.core.errors import BrokenModel, Unsupported
from gsopt.core.numbers.tolerances import FEASIBILITY
from gsopt.core.problem import Sense

Vector = NDArray[np.float64]

#: Largest useful coefficient of an integer model. Above it, a tolerance of 1e-6 makes optimality meaningless.
LARGEST_BIG_M = 1e5


@dataclass(frozen=True, eq=False)
class StandardForm:
    """A linear or integer program: ``offset + cost @ x``, subject to ``row_lower <= matrix @ x <= row_upper``.

    Attributes
    ----------
    cost
        Objective coefficients of the columns, shape (columns,).
    matrix
        Coefficients of the rows, sparse, shape (rows, columns).
    row_lower, row_upper
        Limits of the rows, shape (rows,); infinite where there is no limit.
    column_lower, column_upper
        Bounds of the columns, shape (columns,); infinite where there is no bound.
    integer
        Whether each column must be integer, shape (columns,).
    columns, rows
        Names of the columns and of the rows, in order.
    sense
        Whether the objective is minimized or maximized.
    offset
        Constant of the objective.

    Examples
    --------
    >>> form = StandardForm.build(cost=[1, 1], matrix=[[2, 1]], row_lower=[3], row_upper=[np.inf])
    >>> form.columns, form.violation([1, 1]), form.objective([1, 1])
    (('x0', 'x1'), 0.0, 2.0)
    """

    cost: Vector
    matrix: csr_array[Any, Any]
    row_lower: Vector
    row_upper: Vector
    column_lower: Vector
    column_upper: Vector
    integer: NDArray[np.bool_]
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    sense: Sense = Sense.MINIMIZE
    offset: float = 0.0

    @classmethod
    def build(
        cls,
        *,
        cost: ArrayLike,
        matrix: Any,
        row_lower: ArrayLike,
        row_upper: ArrayLike,
        column_lower: ArrayLike | None = None,
        column_upper: ArrayLike | None = None,
        integer: ArrayLike | None = None,
        columns: tuple[str, ...] | None = None,
        rows: tuple[str, ...] | None = None,
        sense: Sense = Sense.MINIMIZE,
        offset: float = 0.0,
    ) -> "StandardForm":
        """Create a form from arrays.

        By default, columns are nonnegative integers named x0, x1, ..., and rows are named r0, r1, ...

        Raises
        ------
        BrokenModel
            Shapes do not match, a cost, coefficient or offset is not finite, or a limit or bound is NaN.
        Unsupported
            The absolute value of a coefficient of a row with integer columns exceeds `LARGEST_BIG_M`.

        Examples
        --------
        >>> form = StandardForm.build(cost=[3, 2], matrix=[[1, 1]], row_lower=[1], row_upper=[1])
        >>> form.columns, form.objective(np.array([0, 1]))
        (('x0', 'x1'), 2.0)
        """
        costs, table = _floats(cost), csr_array(matrix, dtype=np.float64)
        n, m = costs.size, table.shape[0]
        form = cls(
            cost=costs,
            matrix=table,
            row_lower=_floats(row_lower),
            row_upper=_floats(row_upper),
            column_lower=np.zeros(n) if column_lower is None else _floats(column_lower),
            column_upper=np.full(n, np.inf) if column_upper is None else _floats(column_upper),
            integer=np.ones(n, dtype=np.bool_) if integer is None else np.asarray(integer, dtype=np.bool_),
            columns=tuple(f"x{i}" for i in range(n)) if columns is None else columns,
            rows=tuple(f"r{i}" for i in range(m)) if rows is None else rows,
            sense=sense,
            offset=offset,
        )
        form._check_shapes()
        form._check_numbers()
        return form

    @classmethod
    def from_pyomo(cls, model: Any) -> "StandardForm":
        """Convert a Pyomo model with a linear objective and linear constraints.

        Raises
        ------
        BrokenModel
            The model does not have exactly one active objective, or as in `build`.
        Unsupported
            As in `build`.

        Examples
        --------
        >>> import pyomo.environ as pyo
        >>> model = pyo.ConcreteModel()
        >>> model.x = pyo.Var(domain=pyo.Binary)
        >>> model.cost = pyo.Objective(expr=2 * model.x)
        >>> model.row = pyo.Constraint(expr=model.x >= 1)
        >>> StandardForm.from_pyomo(model).columns
        ('x',)
        """
        from pyomo.core import minimize
        from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

        compiled = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=None)
        if len(compiled.objectives) != 1:
            rule = f"must have one active objective, has {len(compiled.objectives)}"
            raise BrokenModel(f"model {model.name}: {rule}")
        objective = compiled.objectives[0]
        kinds = np.array([row.bound_type for row in compiled.rows])
        right = np.asarray(compiled.rhs, dtype=np.float64)
        bounds = [variable.bounds for variable in compiled.columns]
        return cls.build(
            cost=compiled.c.toarray()[0],
            matrix=compiled.A,
            row_lower=np.where(kinds <= 0, right, -np.inf),
            row_upper=np.where(kinds >= 0, right, np.inf),
            column_lower=[-np.inf if lower is None else lower for lower, _ in bounds],
            column_upper=[np.inf if upper is None else upper for _, upper in bounds],
            integer=[not variable.is_continuous() for variable in compiled.columns],
            columns=tuple(variable.name for variable in compiled.columns),
            rows=tuple(row.constraint.name for row in compiled.rows),
            sense=Sense.MINIMIZE if objective.sense == minimize else Sense.MAXIMIZE,
            offset=float(compiled.c_offset[0]),
        )

    def _check_shapes(self) -> None:
        m, n = self.matrix.shape
        for name, size, wanted in (
            ("matrix columns", n, self.cost.size),
            ("row_lower", self.row_lower.size, m),
            ("row_upper", self.row_upper.size, m),
            ("column_lower", self.column_lower.size, n),
            ("column_upper", self.column_upper.size, n),
            ("integer", self.integer.size, n),
            ("columns", len(self.columns), n),
            ("rows", len(self.rows), m),
        ):
            if size != wanted:
                raise BrokenModel(f"standard form: {name}: {size}: must be {wanted}")

    def _check_numbers(self) -> None:
        for name, numbers in (
            ("cost", self.cost),
            ("matrix", self.matrix.data),
            ("offset", float(self.offset)),
        ):
            if not np.isfinite(numbers).all():
                raise BrokenModel(f"standard form: {name} must be finite")
        for name in ("row_lower", "row_upper", "column_lower", "column_upper"):
            if np.isnan(getattr(self, name)).any():
                raise BrokenModel(f"standard form: {name} must not be NaN")
        rows, columns = self.matrix.nonzero()
        mixed = np.unique(rows[self.integer[columns]])
        largest = abs(self.matrix[mixed]).max() if mixed.size else 0.0
        if largest > LARGEST_BIG_M:
            raise Unsupported(
                f"standard form: a coefficient of {largest:g} beside an integer column: must be at most "
                f"{LARGEST_BIG_M:g}, or rounding makes the solution wrong"
            )

    @property
    def integral_objective(self) -> bool:
        """Whether costs, offset and columns make every objective value an integer.

        If so, a bound on the optimum may be tightened to the next integer.
        """
        used = self.cost != 0
        whole = np.all(self.cost == np.round(self.cost)) and float(self.offset).is_integer()
        return bool(whole and np.all(self.integer[used]))

    @property
    def relaxation(self) -> "StandardForm":
        """The same model with every column continuous."""
        return replace(self, integer=np.zeros(self.cost.size, dtype=np.bool_))

    def with_bounds(self, column_lower: Vector, column_upper: Vector) -> "StandardForm":
        """Return the same model with the given column bounds."""
        return replace(self, column_lower=column_lower, column_upper=column_upper)

    def objective(self, values: ArrayLike) -> float:
        """Return the objective value of a point, shape (columns,)."""
        return float(self.cost @ _floats(values) + self.offset)

    def rounded(self, values: ArrayLike) -> Vector:
        """Return a point, shape (columns,), with the values of integer columns rounded."""
        point = _floats(values)
        return np.where(self.integer, np.round(point), point)

    def violation(self, values: ArrayLike) -> float:
        """Return the largest absolute violation of any row or bound at a point, shape (columns,)."""
        point = _floats(values)
        rows = self.matrix @ point
        gaps = (
            self.row_lower - rows,
            rows - self.row_upper,
            self.column_lower - point,
            point - self.column_upper,
        )
        return float(max((gap.max(initial=0.0) for gap in gaps), default=0.0))

    def is_feasible(self, values: ArrayLike) -> bool:
        """Check whether a point satisfies rows, bounds and integrality up to the solvers' tolerance of 1e-6."""
        point = _floats(values)
        whole = np.abs(point - self.rounded(point)).max(initial=0.0) <= FEASIBILITY
        return bool(whole) and self.violation(point) <= FEASIBILITY

    def named(self, values: ArrayLike) -> dict[str, float]:
        """Return the values of a point, keyed by column name."""
        return dict(zip(self.columns, _floats(values).tolist(), strict=True))

    def point(self, values: Mapping[str, float]) -> Vector:
        """Convert column values, keyed by column name, to a point.

        Columns that are left out are 0; other names are ignored.
        """
        return np.array([values.get(name, 0.0) for name in self.columns])


def _floats(values: ArrayLike) -> Vector:
    return np.asarray(values, dtype=np.float64)
