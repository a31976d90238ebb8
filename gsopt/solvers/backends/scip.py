"""SCIP: a solver for mixed-integer programs (branching, cuts and propagation)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gsopt.core.errors import require
from gsopt.core.numbers.tolerances import SCIP_ROWS
from gsopt.solvers.backends.base import Answer, Ending, Model, Solver, Task, Vector

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink
    from gsopt.solvers.standard_form import StandardForm

_TOLERANCE = "numerics/feastol"
_INFEASIBLE_OR_UNBOUNDED = frozenset({"inforunbd", "unbounded"})


@dataclass(frozen=True)
class Scip(Solver):
    """SCIP, an alternative to HiGHS for models with integer or continuous columns.

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
        require(self.seed >= 0, "seed", self.seed, "must be at least 0")

    def request(
        self, form: "StandardForm", *, time_limit: float | None, gap: float, start: Vector | None
    ) -> tuple[Callable[[Any, "ParentLink"], Answer], Task]:
        """Return the function that solves the model, and the task to pass to it."""
        parameters = {
            "randomization/randomseedshift": self.seed,
            "limits/gap": float(gap),  # relative to the smaller of value and bound
            _TOLERANCE: SCIP_ROWS,
            "misc/catchctrlc": False,
        }
        if time_limit is not None:
            parameters["limits/time"] = float(time_limit)
        return optimize, Task(Model.of(form), start, parameters)


def optimize(task: Task, link: "ParentLink") -> Answer:
    """Solve a model.

    This function runs in the worker, where all printed text, including SCIP's own log, becomes part of the log.
    """
    answer = None if _relaxation_is_unbounded(task, link) else _solve(task, link)
    if answer is None or answer.status in _INFEASIBLE_OR_UNBOUNDED:
        costless = task.model._replace(cost=np.zeros_like(task.model.cost))
        status = _solve(task._replace(model=costless), link).status  # infeasible at any cost
        return Answer("unbounded" if status == "optimal" else status)
    return answer


def _relaxation_is_unbounded(task: Task, link: "ParentLink") -> bool:
    """Check whether the relaxation is unbounded, as SCIP may then branch forever at a tight tolerance."""
    model = task.model
    cost = -model.cost if model.maximize else model.cost
    endless = ((cost > 0) & np.isneginf(model.column_lower)) | ((cost < 0) & np.isposinf(model.column_upper))
    if not endless.any():
        return False
    parameters = {name: value for name, value in task.options.items() if name != _TOLERANCE}
    relaxed = model._replace(integer=np.zeros_like(model.integer))
    return _solve(Task(relaxed, None, parameters), link).status in _INFEASIBLE_OR_UNBOUNDED


def _solve(task: Task, link: "ParentLink") -> Answer:
    import pyscipopt

    model = pyscipopt.Model()
    for parameter, value in task.options.items():
        model.setParam(parameter, value)
    columns = _post(model, task.model)
    _follow(model, columns, link)
    if task.start is not None:
        _suggest(model, columns, task.start)
    model.optimizeNogil()  # the other one would not let the worker watch its parent
    return Answer(model.getStatus(), _best(model, columns) if model.getNSols() else None, model.getDualbound())


def _post(solver: Any, model: Model) -> list[Any]:
    """Build SCIP's own model and return its variables."""
    from pyscipopt import ExprCons, quicksum

    kinds = np.where(model.integer, "I", "C").tolist()
    lower, upper = _limits(model.column_lower), _limits(model.column_upper)
    columns = [
        solver.addVar(vtype=kind, lb=low, ub=high, obj=cost)
        for kind, low, high, cost in zip(kinds, lower, upper, model.cost.tolist(), strict=True)
    ]
    starts, indices, weights = model.starts.tolist(), model.indices.tolist(), model.coefficients.tolist()
    limits = zip(_limits(model.row_lower), _limits(model.row_upper), strict=True)
    for first, last, (low, high) in zip(starts, starts[1:], limits, strict=False):
        terms = zip(indices[first:last], weights[first:last], strict=True)
        total = quicksum(weight * columns[index] for index, weight in terms)
        if low is not None or high is not None:
            solver.addCons(ExprCons(total, low, high))
    solver.addObjoffset(model.offset)
    if model.maximize:
        solver.setMaximize()
    return columns


def _limits(numbers: Vector) -> list[float | None]:
    return [number if np.isfinite(number) else None for number in numbers.tolist()]


def _best(model: Any, columns: list[Any]) -> Vector:
    best = model.getBestSol()
    return np.array([model.getSolVal(best, column) for column in columns])


def _follow(model: Any, columns: list[Any], link: "ParentLink") -> None:
    """Report incumbents and bounds while the solver runs, and stop it when the parent requests this."""
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
