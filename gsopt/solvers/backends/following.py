"""Following: a CP-SAT solve that reports its progress to the parent process, which can stop it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink

Plan = TypeVar("Plan")

#: CP-SAT's statuses with a solution.
_SOLVED = frozenset({"OPTIMAL", "FEASIBLE"})


def solve_followed(
    model: Any,
    parameters: Mapping[str, Any],
    link: "ParentLink",
    read: Callable[[Callable[[Any], int]], Plan],
    bound: Callable[[float], float] = float,
) -> tuple[str, Plan | None, float | None]:
    """Solve a CP-SAT model, with parameters keyed by name. This function runs in the worker.

    `read` returns the solution, given a function that maps variables to values. `bound` undoes the scaling of a
    bound. CP-SAT's own status, the best solution and the bound are returned. Without a solution, the last two
    are None, because CP-SAT may then report a bound that does not hold.
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
