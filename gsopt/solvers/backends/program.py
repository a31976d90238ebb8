"""Program: a growing linear program that stays loaded in a HiGHS worker between solves."""

import os
from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gsopt.core.budget import Budget
from gsopt.core.result import StoppedBy
from gsopt.solvers.backends.base import GRACE
from gsopt.solvers.backends.highs import Highs

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink

Vector = NDArray[np.float64]

#: The name of a HiGHS method that changes a model, and its arguments.
Edit = tuple[str, tuple[Any, ...]]

#: Maximum number of programs kept by a worker; the least recently used one is dropped first.
_MOST_KEPT = 8

_numbers = count()


class Solved(NamedTuple):
    """The optimum of a linear program: column values, dual values of the rows, and objective."""

    values: Vector
    duals: Vector
    objective: float


class EditTask(NamedTuple):
    """The edits that the worker has not received yet, the number of earlier edits, and the time limit."""

    key: tuple[int, int]
    before: int
    edits: list[Edit]
    time_limit: float


@dataclass(frozen=True)
class _KeptProgram:
    """A program kept in the worker, and the number of edits made to it so far."""

    solver: Any
    edits: int


class Program:
    """A growing linear program to minimize, such as the master program of column generation.

    The program is kept in a HiGHS worker, so that a solve needs only the changes since the last one, and
    continues from the last basis. A worker that is new or has dropped the program receives the whole program.
    """

    def __init__(self) -> None:
        self._key = os.getpid(), next(_numbers)
        self._edits: list[Edit] = []
        self._sent = 0

    def add_rows(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """Add rows that have limits but no entries yet."""
        low, high = _floats(lower), _floats(upper)
        starts = np.zeros(low.size, dtype=np.int32)
        self._edit("addRows", low.size, low, high, 0, starts, _indices([]), _floats([]))

    def add_columns(
        self,
        costs: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        starts: ArrayLike,
        rows: ArrayLike,
        entries: ArrayLike,
    ) -> None:
        """Add columns with their costs and limits.

        `rows` and `entries` contain the row index and the value of each entry, column by column. `starts`
        contains the position of the first entry of each column.
        """
        values, given = _floats(costs), _floats(entries)
        limits = _floats(lower), _floats(upper)
        self._edit("addCols", values.size, values, *limits, given.size, _indices(starts), _indices(rows), given)

    def change_costs(self, costs: ArrayLike) -> None:
        """Change the costs of all columns."""
        values = _floats(costs)
        self._edit("changeColsCost", values.size, np.arange(values.size, dtype=np.int32), values)

    def change_columns(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change the limits of the given columns."""
        chosen = _indices(columns)
        self._edit("changeColsBounds", chosen.size, chosen, _floats(lower), _floats(upper))

    def change_rows(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change the limits of all rows."""
        low = _floats(lower)
        self._edit("changeRowsBounds", low.size, np.arange(low.size, dtype=np.int32), low, _floats(upper))

    def solve(self, budget: Budget) -> Solved | None:
        """Solve the program, and return its optimum, or None if no optimum is found within the time limit.

        Ctrl-C raises `KeyboardInterrupt`.
        """
        answer = self._ask(self._sent, budget)
        if answer == _UNKNOWN and self._sent:
            answer = self._ask(0, budget)
        self._sent = len(self._edits)
        return answer if isinstance(answer, Solved) else None

    def _edit(self, method: str, *arguments: Any) -> None:
        self._edits.append((method, arguments))

    def _ask(self, before: int, budget: Budget) -> Any:
        left = budget.left()
        task = EditTask(self._key, before, self._edits[before:], inf if left is None else left)
        reply = Highs().call(solve, task, limit=None if left is None else left + GRACE)
        if reply.stopped_by is StoppedBy.INTERRUPT:
            raise KeyboardInterrupt
        return reply.answer


#: The answer of a worker that has not received the earlier edits of a program.
_UNKNOWN = "unknown"

#: The programs that this process keeps if it is a worker.
_KEPT: OrderedDict[tuple[int, int], _KeptProgram] = OrderedDict()


def solve(task: EditTask, link: "ParentLink") -> Solved | str:
    """Bring a program up to date and solve it. This function runs in the worker."""
    del link
    kept = _KEPT.pop(task.key, None)
    if task.before == 0:
        kept = _KeptProgram(_fresh(), 0)
    if kept is None or kept.edits != task.before:
        return _UNKNOWN
    solver = kept.solver
    for method, arguments in task.edits:
        getattr(solver, method)(*arguments)
    _KEPT[task.key] = _KeptProgram(solver, task.before + len(task.edits))
    while len(_KEPT) > _MOST_KEPT:
        _KEPT.popitem(last=False)
    solver.setOptionValue("time_limit", solver.getRunTime() + task.time_limit)
    solver.run()
    if solver.getModelStatus().name != "kOptimal":
        return "no optimum"
    solution = solver.getSolution()
    objective = solver.getInfo().objective_function_value
    return Solved(np.array(solution.col_value), np.array(solution.row_dual), objective)


def _fresh() -> Any:
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("solver", "simplex")):
        solver.setOptionValue(option, value)
    return solver


def _floats(values: ArrayLike) -> Vector:
    return np.asarray(values, dtype=np.float64)


def _indices(values: ArrayLike) -> NDArray[np.int32]:
    return np.asarray(values, dtype=np.int32)
