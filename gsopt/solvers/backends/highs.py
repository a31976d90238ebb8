"""HiGHS: a solver for mixed-integer programs (branch and cut) and linear programs (simplex method)."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gsopt.core.errors import InvalidInput, require
from gsopt.core.numbers.tolerances import FEASIBILITY, HIGHS_ROWS
from gsopt.core.result import gap_by_value
from gsopt.solvers.backends.base import Answer, Ending, Solver, Task, Vector
from gsopt.solvers.backends.base import Model as Model  # noqa: PLC0414 - exported from here too

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink
    from gsopt.solvers.standard_form import StandardForm

#: Bit 12 of HiGHS' presolve rules, which stands for aggregation. With it, HiGHS 1.15.1 reports some points as
#: optimal that are not.
_AGGREGATION = 1 << 12

#: Reserved words of LP files, which must not be names.
_KEYWORDS = frozenset(
    "bin binaries binary bound bounds end free gen general generals inf infinity int integer integers "  # noqa: SIM905 - shorter
    "max maximise maximize maximum min minimise minimize minimum obj s.t. semi semis sin sos sos1 sos2 st st. "
    "subject such".split()
)


class File(NamedTuple):
    """A model to write, and the path of the file."""

    model: Model
    columns: list[str]
    rows: list[str]
    path: str


@dataclass(frozen=True)
class Highs(Solver):
    """HiGHS, the default solver.

    Attributes
    ----------
    threads
        Number of threads of one solve.
    seed
        Seed of the solver's random choices.

    Examples
    --------
    >>> from gsopt.solvers.standard_form import StandardForm
    >>> form = StandardForm.build(cost=[1, 1], matrix=[[2, 1]], row_lower=[3], row_upper=[4])
    >>> outcome = Highs().solve(form)
    >>> outcome.status, outcome.objective, outcome.bound
    (<Status.OPTIMAL: 'optimal'>, 2.0, 2.0)
    """

    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "highspy"
    module: ClassVar[str] = "highspy"
    wrong_versions: ClassVar[frozenset[str]] = frozenset({"1.14.0", "1.16.0"})
    endings: ClassVar[Mapping[str, Ending]] = {
        "kOptimal": Ending.OPTIMAL,
        "kInfeasible": Ending.INFEASIBLE,
        "kUnbounded": Ending.UNBOUNDED,
        "kTimeLimit": Ending.TIME_LIMIT,
        "kInterrupt": Ending.INTERRUPT,
        "kMemoryLimit": Ending.FAILED,
        "kPresolveError": Ending.FAILED,
        "kSolveError": Ending.FAILED,
        "kPostsolveError": Ending.FAILED,
        "kUnknown": Ending.FAILED,
        "kNotset": Ending.FAILED,  # simplex gave up, and so did the interior point method
    }

    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.threads >= 1, "threads", self.threads, "must be at least 1")
        require(self.seed >= 0, "seed", self.seed, "must be at least 0")

    def request(
        self, form: "StandardForm", *, time_limit: float | None, gap: float, start: Vector | None
    ) -> tuple[Callable[[Any, "ParentLink"], Answer], Task]:
        """Return the function that solves the model, and the task to pass to it."""
        options = {
            "threads": self.threads,
            "random_seed": self.seed,
            "time_limit": inf if time_limit is None else float(time_limit),
            "mip_rel_gap": gap_by_value(gap),
            "mip_abs_gap": 0.0,
            "mip_feasibility_tolerance": HIGHS_ROWS,
            "presolve_rule_off": _AGGREGATION if form.integer.any() else 0,
            # a linear program's answer is a vertex
            "solver": "choose" if form.integer.any() else "simplex",
            "log_to_console": False,
        }
        return optimize, Task(Model.of(form), start, options)

    def write(self, form: "StandardForm", path: str | Path) -> None:
        """Write a model to an MPS or LP file, depending on the extension.

        Numbers are rounded to 15 significant digits.

        Names are kept if the format allows them. Otherwise, spaces and special characters become ``_``, and
        in LP files square brackets become parentheses. Names that could be mistaken for something else, such
        as a reserved word or a number, get a leading ``_``. Repeated names get ``_`` and their index.

        Raises
        ------
        InvalidInput
            The extension is neither ``.mps`` nor ``.lp``, or the file cannot be written.
        MissingSolver
            HiGHS is not installed, or its version is known to be faulty.

        Examples
        --------
        >>> from gsopt.solvers.standard_form import StandardForm
        >>> form = StandardForm.build(cost=[1, 1], matrix=[[2, 1]], row_lower=[3], row_upper=[4])
        >>> Highs().write(form, "model.txt")
        Traceback (most recent call last):
        gsopt.core.errors.InvalidInput: model.txt: .txt: must end in .mps or .lp
        """
        path = Path(path)
        rename = {".mps": _mps_name, ".lp": _lp_name}.get(path.suffix)
        if rename is None:
            raise InvalidInput("", path.suffix or "no ending", "must end in .mps or .lp", source=str(path))
        if not path.parent.is_dir():
            raise InvalidInput("", "", "cannot be written: no such folder", source=str(path))
        columns = _unique(rename(name) for name in form.columns)
        rows = _unique(rename(name) for name in form.rows)
        reply = self.call(write, File(Model.of(form), columns, rows, str(path.absolute())))
        if reply.answer == "kError" or reply.stopped_by is not None:
            raise InvalidInput(
                "", "", f"cannot be written: {reply.message or 'HiGHS refuses'}", source=str(path)
            )


def optimize(task: Task, link: "ParentLink") -> Answer:
    """Solve a model. This function runs in the worker."""
    import highspy

    highspy.Highs.resetGlobalScheduler(True)  # the number of threads may differ from the last solve's
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in task.options.items():
        solver.setOptionValue(option, value)
    _load(solver, task.model)
    _follow(solver, link)
    mixed = bool(task.model.integer.any())
    if task.start is not None and mixed:
        given = np.flatnonzero(np.isfinite(task.start)).astype(np.int32)
        solver.setSolution(given.size, given, task.start[given])
    status = _run(solver)
    if status == "kSolveError" and mixed:  # HiGHS applies the integers' tolerance to rows too: widen it
        solver.setOptionValue("mip_feasibility_tolerance", FEASIBILITY)
        status = _run(solver)
    if (
        status in {"kNotset", "kUnknown", "kSolveError"} and not mixed
    ):  # the simplex method failed, and left no vertex
        solver.setOptionValue("solver", "ipm")
        status = _run(solver)
    if status == "kUnboundedOrInfeasible" or (mixed and status == "kUnbounded"):
        return Answer(_without_objective(solver, task.model))
    return _answer(solver, status, mixed)


def _run(solver: Any) -> str:
    solver.run()
    return str(solver.getModelStatus().name)


def write(task: File, link: "ParentLink") -> str:
    """Write a model to a file. This function runs in the worker."""
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("log_to_console", False)
    solver.cbLogging += lambda event: link.log(event.message)
    _load(solver, task.model)
    for index, name in enumerate(task.columns):
        solver.passColName(index, name)
    for index, name in enumerate(task.rows):
        solver.passRowName(index, name)
    return str(solver.writeModel(task.path).name)


def _load(solver: Any, model: Model) -> None:
    from highspy import HighsStatus, MatrixFormat, ObjSense

    sense = ObjSense.kMaximize if model.maximize else ObjSense.kMinimize
    sizes = (model.cost.size, model.row_lower.size, model.coefficients.size)
    status = solver.passModel(*sizes, int(MatrixFormat.kRowwise), int(sense), *model[1:])
    if status == HighsStatus.kError:
        raise ValueError("HiGHS refuses the model")


def _follow(solver: Any, link: "ParentLink") -> None:
    """Report log, incumbents and bounds while the solver runs, and stop it when the parent requests this."""

    def incumbent(event: Any) -> None:
        link.incumbent(np.asarray(event.data_out.mip_solution), event.data_out.mip_dual_bound)

    def bound(event: Any) -> None:
        link.bound(event.data_out.mip_dual_bound)
        obey(event)

    def obey(event: Any) -> None:
        if link.stopped:
            event.interrupt()

    solver.cbLogging += lambda event: link.log(event.message)
    solver.cbMipImprovingSolution += incumbent
    solver.cbMipInterrupt += bound
    solver.cbSimplexInterrupt += obey


def _without_objective(solver: Any, model: Model) -> str:
    """Solve again without an objective, to distinguish an unbounded model from an infeasible one."""
    columns = model.cost.size
    solver.changeColsCost(columns, np.arange(columns, dtype=np.int32), np.zeros(columns))
    status = _run(solver)
    return "kUnbounded" if status == "kOptimal" else status


def _answer(solver: Any, status: str, mixed: bool) -> Answer:
    from highspy import SolutionStatus

    info, solution = solver.getInfo(), solver.getSolution()
    feasible = info.primal_solution_status == int(SolutionStatus.kSolutionStatusFeasible)
    proven = info.objective_function_value if status == "kOptimal" else inf
    bound = info.mip_dual_bound if mixed else proven
    if mixed and not isfinite(bound) and solver.getOptionValue("mip_rel_gap")[1] == 0:
        bound = proven  # now and then an optimal end comes without a bound
    return Answer(
        status,
        values=np.asarray(solution.col_value) if feasible else None,
        bound=bound,
        duals=np.asarray(solution.row_dual) if solution.dual_valid and not mixed else None,
    )


def _mps_name(name: str) -> str:
    plain = re.sub(r"[^!-~]", "_", name)
    return f"_{plain}" if plain[:1] in {"", "$", "*"} else plain


def _lp_name(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.,()#@]", "_", name.replace("[", "(").replace("]", ")"))
    legal = re.match(r"[A-Za-z_(#@,]", plain) and not re.match(r"[eE][0-9.]", plain)
    return plain if legal and plain.lower() not in _KEYWORDS else f"_{plain}"


def _unique(names: Iterable[str]) -> list[str]:
    """Return unique names: ``_`` and its index are appended to each name that has occurred before."""
    seen: dict[str, None] = {}
    for index, name in enumerate(names):
        unique = name
        while unique in seen:
            unique += f"_{index}"
        seen[unique] = None
    return list(seen)
