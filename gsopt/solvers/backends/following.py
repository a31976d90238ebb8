"""Following: what CP-SAT tells while it runs, passed on by the worker, and the parent's wish to stop."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink

Plan = TypeVar("Plan")

#: CP-SAT's words for having a solution.
_SOLVED = frozenset({"OPTIMAL", "FEASIBLE"})


def solve_followed(
    model: Any,
    parameters: Mapping[str, Any],
    link: "ParentLink",
    read: Callable[[Callable[[Any], int]], Plan],
    bound: Callable[[float], float] = float,
) -> tuple[str, Plan | None, float | None]:
    """Solve a model of CP-SAT; runs in the worker.

    Parameters
    ----------
    model
        CP-SAT's model.
    parameters
        CP-SAT's parameters by name.
    link
        Whom log, incumbents and bounds are told, and who may want to stop.
    read
        Reads a solution, given the value of each variable.
    bound
        Gives a bound from CP-SAT's, which is in its own scale.

    Returns
    -------
    tuple
        CP-SAT's own word for the status; the best solution and the bound, or None and None where it found
        none: it may then report 0 as its bound, whatever the model.
    """
    from ortools.sat.python.cp_model import CpSolver, CpSolverSolutionCallback

    solver = CpSolver()
    for parameter, value in parameters.items():
        setattr(solver.parameters, parameter, value)

    def obey() -> None:
        if link.stopped:
            solver.stop_search()

    class Incumbents(CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            link.incumbent(read(self.value), bound(self.best_objective_bound))
            obey()

    def hear_log(text: str) -> None:
        link.log(f"{text}\n")
        obey()

    def hear_bound(scaled: float) -> None:
        link.bound(bound(scaled))
        obey()

    solver.log_callback = hear_log
    solver.best_bound_callback = hear_bound
    link.on_stop(solver.stop_search)
    status = str(solver.status_name(solver.solve(model, Incumbents())))
    if status not in _SOLVED:
        return status, None, None
    return status, read(solver.value), bound(solver.best_objective_bound)
