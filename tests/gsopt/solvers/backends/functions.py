"""Functions that the tests run in a worker."""

import ctypes
import os
import signal
import sys
from math import inf
from threading import Event, Thread
from typing import Any

import pytest

from gsopt.solvers.backends.process import FrameKind
from gsopt.solvers.backends.worker import ParentLink


def process_id(task: Any, link: ParentLink) -> int:
    """Return the worker's process id."""
    del task, link
    return os.getpid()


def size(task: Any, link: ParentLink) -> int:
    """Return the length of the task."""
    del link
    return len(task)


def sleep(task: Any, link: ParentLink) -> None:
    """Take no notice of anything for ever."""
    link.log("asleep")
    link.send(FrameKind.BOUND, task)
    while True:
        signal.pause()


def obey(task: Any, link: ParentLink) -> str:
    """Wait for the interrupt."""
    stopped = Event()
    link.on_stop(stopped.set)
    link.send(FrameKind.BOUND, task)
    stopped.wait()
    return "stopped"


def fail(task: str, link: ParentLink) -> None:
    """Raise."""
    del link
    raise ValueError(task)


def leave_politely(task: int, link: ParentLink) -> None:
    """Ask the interpreter to end, and leave a thread behind that would keep it."""
    del link
    Thread(target=signal.pause).start()
    sys.exit(task)


def close_and_hang(task: str, link: ParentLink) -> None:
    """Close the descriptors that a process starts with and never come back, holding the interpreter or not."""
    os.closerange(0, 3)
    link.send(FrameKind.BOUND, 1.0)
    if task == "holding the interpreter":
        ctypes.PyDLL(None).pause()
    while True:
        signal.pause()


def close(task: int, link: ParentLink) -> str:
    """Close descriptors up to a number, fail to print, and answer."""
    del link
    os.closerange(0, task)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.write(1, b"a")
    return "done"


def fork_and_come_back(task: Any, link: ParentLink) -> str:
    """Come back twice, once in another process."""
    del task, link
    if child := os.fork():
        os.waitpid(child, 0)
        return "parent"
    return "child"


def leave(task: int, link: ParentLink) -> None:
    """End the process with an exit code."""
    del link
    os.write(2, b"last words\n")
    os._exit(task)


def chatter(task: str, link: ParentLink) -> str:
    """Print to descriptor 1, where frames would be if it were left alone."""
    link.log("before ")
    os.write(1, task.encode())
    return "done"


def read(path: str, link: ParentLink) -> dict[str, Any]:
    """Read a model file with HiGHS; the two halves of a range row come together again."""
    import highspy

    del link
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.readModel(path)
    model, entries = solver.getLp(), solver.getLp().a_matrix_
    table = [[0.0] * model.num_col_ for _ in range(model.num_row_)]
    for column in range(model.num_col_):
        for place in range(entries.start_[column], entries.start_[column + 1]):
            table[entries.index_[place]][column] = entries.value_[place]
    rows: dict[tuple[float, ...], tuple[float, float]] = {}
    for row, low, high in zip(map(tuple, table), model.row_lower_, model.row_upper_, strict=True):
        before = rows.get(row, (-inf, inf))
        rows[row] = max(before[0], low), min(before[1], high)
    return {
        "maximize": model.sense_ == highspy.ObjSense.kMaximize,
        "offset": model.offset_,
        "cost": list(model.col_cost_),
        "integer": [kind == highspy.HighsVarType.kInteger for kind in model.integrality_],
        "column_lower": list(model.col_lower_),
        "column_upper": list(model.col_upper_),
        "columns": list(model.col_names_),
        "rows": rows,
    }


def end_without_bound(gap: float, link: ParentLink) -> float:
    """Return the bound that is told of a mixed program, solved to a gap, for which HiGHS tells none."""
    from types import SimpleNamespace

    from gsopt.solvers.backends.highs import _answer

    del link
    info = SimpleNamespace(primal_solution_status=2, objective_function_value=7.0, mip_dual_bound=inf)
    solver = SimpleNamespace(
        getInfo=lambda: info,
        getSolution=lambda: SimpleNamespace(col_value=[1.0], row_dual=[], dual_valid=False),
        getOptionValue=lambda name: ("kOk", {"mip_rel_gap": gap}[name]),
    )
    return _answer(solver, "kOptimal", True).bound


def larger(most: int, link: ParentLink) -> Any:
    """Minimise by CP-SAT the larger of two numbers of at most so much that add up to 10; bounds in tenths."""
    from ortools.sat.python.cp_model import CpModel

    from gsopt.solvers.backends.following import solve_followed

    model = CpModel()
    numbers = [model.new_int_var(0, most, "") for _ in range(2)]
    model.add(sum(numbers) == 10)
    result = model.new_int_var(0, 10, "")
    model.add_max_equality(result, numbers)
    model.minimize(result)
    parameters = {"num_workers": 1, "log_search_progress": True, "log_to_stdout": False}
    return solve_followed(model, parameters, link, lambda value: int(value(result)), lambda scaled: scaled / 10)
