"""SCIP: mixed-integer programs by branch, cut and propagation; a second opinion on HiGHS."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.tolerances import SCIP_ROWS
from gsopt.core.problem import Sense
from gsopt.solvers.backends.base import Answer, Ending, Solver, Vector, check_option

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink
    from gsopt.solvers.standard_form import StandardForm

_TOLERANCE = "numerics/feastol"
_INFEASIBLE_OR_UNBOUNDED = frozenset({"inforunbd", "unbounded"})


class Task(NamedTuple):
    """What the worker shall solve, from where and with which of SCIP's parameters; the matrix by rows."""

    maximize: bool
    offset: float
    cost: Vector
    column_lower: Vector
    column_upper: Vector
    row_lower: Vector
    row_upper: Vector
    starts: NDArray[np.int32]
    indices: NDArray[np.int32]
    coefficients: Vector
    integer: NDArray[np.bool_]
    start: Vector | None
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Scip(Solver):
    """SCIP, for a second opinion on models with continuous columns.

    Attributes
    ----------
    seed
        Seed of the solver's random choices.

    Examples
    --------
    >>> from gsopt.solvers.standard_form import StandardForm
    >>> form = StandardForm.build(cost=[1, 1], matrix=[[2, 1]], row_lower=[3], row_upper=[4])
    >>> outcome = Scip().solve(form)
    >>> outcome.status, outcome.objective, outcome.bound
    (<Status.OPTIMAL: 'optimal'>, 2.0, 2.0)
    """

    name: ClassVar[str] = "scip"
    package: ClassVar[str] = "pyscipopt"
    module: ClassVar[str] = "pyscipopt"
    endings: ClassVar[Mapping[str, Ending]] = {
        "optimal": Ending.OPTIMAL,
        "gaplimit": Ending.OPTIMAL,  # to the asked gap
        "infeasible": Ending.INFEASIBLE,
        "unbounded": Ending.UNBOUNDED,
        "timelimit": Ending.TIME_LIMIT,
        "userinterrupt": Ending.INTERRUPT,
        "memlimit": Ending.FAILED,
    }

    seed: int = 0

    def __post_init__(self) -> None:
        check_option("seed", self.seed, self.seed >= 0, "must be at least 0")

    def request(
        self, form: "StandardForm", *, time_limit: float | None, gap: float, start: Vector | None
    ) -> tuple[Callable[[Any, "ParentLink"], Answer], Task]:
        """Return the arrays and SCIP's parameters."""
        parameters = {
            "randomization/randomseedshift": self.seed,
            "limits/gap": float(gap),  # relative to the smaller of value and bound
            _TOLERANCE: SCIP_ROWS,
            "misc/catchctrlc": False,
        }
        if time_limit is not None:
            parameters["limits/time"] = float(time_limit)
        return optimize, Task(
            maximize=form.sense is Sense.MAXIMIZE,
            offset=form.offset,
            cost=form.cost,
            column_lower=form.column_lower,
            column_upper=form.column_upper,
            row_lower=form.row_lower,
            row_upper=form.row_upper,
            starts=form.matrix.indptr,
            indices=form.matrix.indices,
            coefficients=form.matrix.data,
            integer=form.integer,
            start=start,
            parameters=parameters,
        )


def optimize(task: Task, link: "ParentLink") -> Answer:
    """Solve a model; runs in the worker. SCIP prints its log, and the worker takes what is printed for log."""
    answer = None if _relaxation_is_unbounded(task, link) else _solve(task, link)
    if answer is None or answer.status in _INFEASIBLE_OR_UNBOUNDED:
        status = _solve(
            task._replace(cost=np.zeros_like(task.cost)), link
        ).status  # infeasible whatever the cost
        return Answer("unbounded" if status == "optimal" else status)
    return answer


def _relaxation_is_unbounded(task: Task, link: "ParentLink") -> bool:
    """Ask first where it may be so: SCIP branches for ever on some unbounded models at a tight tolerance."""
    cost = -task.cost if task.maximize else task.cost
    endless = ((cost > 0) & np.isneginf(task.column_lower)) | ((cost < 0) & np.isposinf(task.column_upper))
    if not endless.any():
        return False
    parameters = {name: value for name, value in task.parameters.items() if name != _TOLERANCE}
    relaxed = task._replace(integer=np.zeros_like(task.integer), start=None, parameters=parameters)
    return _solve(relaxed, link).status in _INFEASIBLE_OR_UNBOUNDED


def _solve(task: Task, link: "ParentLink") -> Answer:
    from pyscipopt import Model

    model = Model()
    for parameter, value in task.parameters.items():
        model.setParam(parameter, value)
    columns = _post(model, task)
    _follow(model, columns, link)
    if task.start is not None:
        _suggest(model, columns, task.start)
    model.optimizeNogil()  # the other one would not let the worker watch its parent
    return Answer(model.getStatus(), _best(model, columns) if model.getNSols() else None, model.getDualbound())


def _post(model: Any, task: Task) -> list[Any]:
    """Write the model with SCIP's own words; give its variables."""
    from pyscipopt import ExprCons, quicksum

    kinds = np.where(task.integer, "I", "C").tolist()
    lower, upper = _limits(task.column_lower), _limits(task.column_upper)
    columns = [
        model.addVar(vtype=kind, lb=low, ub=high, obj=cost)
        for kind, low, high, cost in zip(kinds, lower, upper, task.cost.tolist(), strict=True)
    ]
    starts, indices, weights = task.starts.tolist(), task.indices.tolist(), task.coefficients.tolist()
    limits = zip(_limits(task.row_lower), _limits(task.row_upper), strict=True)
    for first, last, (low, high) in zip(starts, starts[1:], limits, strict=False):
        terms = zip(indices[first:last], weights[first:last], strict=True)
        total = quicksum(weight * columns[index] for index, weight in terms)
        if low is not None or high is not None:
            model.addCons(ExprCons(total, low, high))
    model.addObjoffset(task.offset)
    if task.maximize:
        model.setMaximize()
    return columns


def _limits(numbers: Vector) -> list[float | None]:
    return [number if np.isfinite(number) else None for number in numbers.tolist()]


def _best(model: Any, columns: list[Any]) -> Vector:
    best = model.getBestSol()
    return np.array([model.getSolVal(best, column) for column in columns])


def _follow(model: Any, columns: list[Any], link: "ParentLink") -> None:
    """Pass on incumbents and bounds while the solver runs, and the parent's wish to stop."""
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr  # type: ignore[attr-defined]

    class Follower(Eventhdlr):
        def eventinit(self) -> None:
            for event in (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.LPSOLVED, SCIP_EVENTTYPE.NODESOLVED):
                model.catchEvent(event, self)

        def eventexec(self, event: Any) -> None:
            if event.getType() == SCIP_EVENTTYPE.BESTSOLFOUND:
                link.incumbent(_best(model, columns), model.getDualbound())
            else:
                link.bound(model.getDualbound())
            if link.stopped:
                model.interruptSolve()

    def interrupt() -> None:
        with suppress(Exception):  # between two stages SCIP takes no interrupt; the next event asks again
            model.interruptSolve()

    model.includeEventhdlr(Follower(), "gsopt", "tells the parent")
    link.on_stop(interrupt)


def _suggest(model: Any, columns: list[Any], start: Vector) -> None:
    given = np.isfinite(start)
    solution = model.createSol() if given.all() else model.createPartialSol()
    for index in np.flatnonzero(given).tolist():
        model.setSolVal(solution, columns[index], start[index])
    model.addSol(solution)
