"""Backend: the interface of all solvers, and the code that they share."""

import importlib.metadata
import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from math import inf, isclose, isfinite
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import BrokenModel, Contradiction, GsoptError, MissingSolver, require
from gsopt.core.numbers.tolerances import CLAIM
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy
from gsopt.solvers.backends.process import POOL, Frame, FrameKind, Late, Reply, Worker

if TYPE_CHECKING:  # workers import this module; without scipy they start in half the time
    from gsopt.solvers.backends.worker import ParentLink
    from gsopt.solvers.standard_form import StandardForm

Vector = NDArray[np.float64]

#: Number of characters kept from the end of a solver's log.
LONGEST_LOG = 2**20

#: Seconds after the time limit at which a solver that has not answered is killed.
GRACE = 0.25

#: Smallest number that solvers use for infinity.
_INFINITY = 1e20


@dataclass(frozen=True)
class Incumbent:
    """A solution found during a solve.

    Attributes
    ----------
    values
        Values of the columns, shape (columns,).
    objective
        Objective value of the solution.
    bound
        Bound on the optimum that was proven when the solution was found, or None.
    runtime
        Seconds since the solve began.

    Examples
    --------
    >>> Incumbent(np.array([1.0, 0.0]), objective=4.0, bound=3.0, runtime=0.2).objective
    4.0
    """

    values: Vector
    objective: float
    bound: float | None
    runtime: float


#: A function called with each new incumbent; if it returns True, the solve stops and keeps the incumbent.
OnIncumbent = Callable[[Incumbent], Any]

#: A function called with each bound on the model's objective that the solver reports.
OnBound = Callable[[float], Any]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a backend's solve.

    Attributes
    ----------
    status
        Whether a solution was found, whether it is proven optimal (up to a relative or absolute difference of
        1e-6), or whether the model is proven infeasible. Reaching the requested gap alone does not make a
        solution optimal.
    values
        Values of the columns, shape (columns,), or None. Integer columns have integer values.
    objective
        Objective value of `values`, or None.
    bound
        Proven bound on the optimum, or None. Never infinite.
    stopped_by
        Why the solver stopped.
    solver
        Solver family: ``highs``, ``cp-sat`` or ``scip``.
    duals
        Change of the objective per unit of each row's limit, shape (rows,), at the optimum of a linear program
        if the solver returns duals; otherwise None.
    message
        The solver's own status, possibly with a note, or the reason why the solver returned no answer.
    log
        The last million characters of the solver's log.

    Examples
    --------
    >>> from gsopt.solvers.backends import Highs
    >>> from gsopt.solvers.standard_form import StandardForm
    >>> form = StandardForm.build(cost=[1], matrix=[[2]], row_lower=[3], row_upper=[3])
    >>> outcome = Highs().solve(form)  # twice an integer is not 3
    >>> outcome.status, outcome.values, outcome.message
    (<Status.INFEASIBLE: 'infeasible'>, None, 'kInfeasible')
    """

    status: Status
    values: Vector | None
    objective: float | None
    bound: float | None
    stopped_by: StoppedBy
    solver: str
    duals: Vector | None = None
    message: str = ""
    log: str = field(default="", repr=False)


class Backend(Protocol):
    """The interface of a solver for models in standard form.

    The method `solve` may accept a further keyword, `on_bound`: a function that is called with each bound that
    is proven during the solve.
    """

    @property
    def name(self) -> str:
        """Name of the solver family."""
        ...

    def solve(
        self,
        form: "StandardForm",
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        start: Vector | None = None,
        on_incumbent: OnIncumbent | None = None,
        log: bool = False,
    ) -> Outcome:
        """Solve a model in standard form.

        Parameters
        ----------
        form
            The model.
        time_limit
            Time limit in seconds; None for no limit.
        gap
            Relative gap at which to stop, as `gsopt.core.result.relative_gap` defines it.
        start
            A start solution, shape (columns,), which may be incomplete: unknown values are NaN.
        on_incumbent
            Function that is called with each new incumbent. If it returns True, the solver stops.
        log
            Whether to stream the solver's log to standard error.

        Raises
        ------
        MissingSolver
            The solver is not installed, or its version is known to be faulty.
        Unsupported
            The solver does not support this model (for example continuous columns in CP-SAT).
        BrokenModel
            The model is unbounded. CP-SAT never raises this error.
        """
        ...


class Ending(Enum):
    """How a solve ended, in terms common to all solvers: what is proven, and why the solver stopped."""

    OPTIMAL = (Status.OPTIMAL, StoppedBy.FINISHED)
    INFEASIBLE = (Status.INFEASIBLE, StoppedBy.FINISHED)
    UNBOUNDED = (None, StoppedBy.FINISHED)
    TIME_LIMIT = (Status.UNKNOWN, StoppedBy.TIME_LIMIT)
    INTERRUPT = (Status.UNKNOWN, StoppedBy.INTERRUPT)
    FAILED = (Status.UNKNOWN, StoppedBy.CRASH)


class Answer(NamedTuple):
    """The answer that a worker returns for a task."""

    status: str  # the solver's own status
    values: Vector | None = None  # one value per column, or None
    bound: float = inf  # proven bound in the model's sense; NaN or infinite for none
    duals: Vector | None = None  # one value per row, or None


class Model(NamedTuple):
    """The arrays of a standard form in HiGHS's format, with the matrix stored by rows."""

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
    integer: NDArray[np.int32]

    @classmethod
    def of(cls, form: "StandardForm") -> "Model":
        """Convert a standard form into arrays."""
        matrix = form.matrix
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return cls(
            maximize=form.sense is Sense.MAXIMIZE,
            offset=form.offset,
            cost=form.cost,
            column_lower=form.column_lower,
            column_upper=form.column_upper,
            row_lower=form.row_lower,
            row_upper=form.row_upper,
            starts=matrix.indptr.astype(np.int32),
            indices=matrix.indices.astype(np.int32),
            coefficients=matrix.data,
            integer=form.integer.astype(np.int32),
        )


class Task(NamedTuple):
    """A model to solve in a worker, with a start and solver options."""

    model: Model
    start: Vector | None
    options: dict[str, Any]


class Solver(ABC):
    """A backend whose solver runs in a worker process.

    A subclass states its name, package and module, and maps the solver's statuses to endings. Its `request`
    returns a function for the worker to run, and the task to pass to it.
    """

    name: ClassVar[str]
    package: ClassVar[str]  # as it is installed and imported
    module: ClassVar[str]  # what the worker imports at its start
    wrong_versions: ClassVar[frozenset[str]] = frozenset()
    endings: ClassVar[Mapping[str, Ending]]

    @abstractmethod
    def request(
        self, form: "StandardForm", *, time_limit: float | None, gap: float, start: Vector | None
    ) -> tuple[Callable[[Any, "ParentLink"], Answer], Any]:
        """Return a function for the worker to run, and the task to pass to it, or raise `Unsupported`."""

    def solve(
        self,
        form: "StandardForm",
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        start: Vector | None = None,
        on_incumbent: OnIncumbent | None = None,
        on_bound: OnBound | None = None,
        log: bool = False,
    ) -> Outcome:
        """Solve a model in standard form, as in `Backend.solve`.

        The time limit includes the start of the solver's process if none is idle. The solver is killed if it
        has not answered within a quarter of a second after the limit. If it is killed, crashes, or is stopped
        by Ctrl-C or `on_incumbent`, the outcome has the best solution known by then, which may be the start.

        Raises
        ------
        InvalidInput
            An option is out of range, or the start has the wrong shape.
        Contradiction
            The solver reports that a model with a known solution is infeasible.
        """
        _check_options(form, time_limit, gap, start)
        time_limit = None if time_limit == inf else time_limit
        report = _Report(form, start, on_incumbent, on_bound, log)
        if not form.columns:
            return self._without_columns(report)
        deadline = inf if time_limit is None else monotonic() + time_limit
        try:
            with self.worker(deadline) as worker:
                left = None if time_limit is None else max(deadline - monotonic(), 0.0)
                function, task = self.request(form, time_limit=left, gap=gap, start=start)
                limit = None if left is None else max(deadline - monotonic(), 0.0) + GRACE
                reply = worker.call(function, task, limit=limit, hear=report)
        except Late:
            reply = Reply(None, StoppedBy.TIME_LIMIT, "the time was up before the solver had started")
        except KeyboardInterrupt:
            reply = Reply(None, StoppedBy.INTERRUPT, "interrupted before the solver began")
        if reply.answer is None:
            return self._outcome(report, Ending.FAILED, Answer(reply.message), reply.stopped_by)
        return self._outcome(report, self._ending(reply.answer), reply.answer, reply.stopped_by, gap)

    def call(
        self,
        function: Callable[[Any, "ParentLink"], Any],
        task: Any,
        *,
        limit: float | None = None,
        hear: Callable[[Frame], Any] = lambda _frame: None,
    ) -> Reply:
        """Run a function in a worker that has loaded this solver.

        The parameters are those of `gsopt.solvers.backends.process.Worker.call`. The limit does not include the
        start of the worker.
        """
        with self.worker() as worker:
            return worker.call(function, task, limit=limit, hear=hear)

    def worker(self, deadline: float = inf) -> AbstractContextManager[Worker]:
        """Return a context manager that borrows a worker for exclusive use, starting one if none is idle.

        Raises
        ------
        Late
            The worker has not started by the deadline, which is a time of the monotonic clock in seconds.
        MissingSolver
            The solver is not installed, does not start, or has a version that is known to be faulty.
        """
        return POOL.borrow(self.module, self._check_installed, deadline=deadline)

    def prepare(self) -> None:
        """Start a worker for this solver in the background, unless one is idle, to speed up the next solve."""
        POOL.prepare(self.module, self._check_installed)

    def _check_installed(self) -> None:
        if importlib.util.find_spec(self.package) is None:
            raise MissingSolver(f"{self.name}: {self.package} is not installed: pip install {self.package}")
        version = importlib.metadata.version(self.package)
        if version in self.wrong_versions:
            raise MissingSolver(
                f"{self.name}: {self.package} {version} gives wrong results: "
                f"pip install '{self.package}!={version}'"
            )

    def _ending(self, answer: Answer) -> Ending:
        if answer.status not in self.endings:
            raise GsoptError(f"{self.name}: ended with an unknown status: {answer.status}")
        ending = self.endings[answer.status]
        if ending is Ending.UNBOUNDED:
            raise BrokenModel(f"{self.name}: the model is unbounded")
        return ending

    def _without_columns(self, report: "_Report") -> Outcome:
        """Return the outcome for a model that has no columns and therefore only one point."""
        feasible = report.consider(np.zeros(0))
        answer = Answer("no columns", bound=float(report.form.offset) if feasible else inf)
        return self._outcome(report, Ending.OPTIMAL if feasible else Ending.INFEASIBLE, answer)

    def _outcome(
        self,
        report: "_Report",
        ending: Ending,
        answer: Answer,
        stopped_by: StoppedBy | None = None,
        gap: float = 0.0,
    ) -> Outcome:
        """Return the best point that is feasible after rounding, with its status and bound."""
        message = answer.status
        if answer.values is not None and not report.consider(answer.values):
            message += ": the solver's last solution breaks the model once rounded, and is left out"
        best = report.best
        if best is not None and ending is Ending.INFEASIBLE:
            raise Contradiction(
                f"{self.name}: a solution of value {best.objective:g} for a model that it reports as infeasible"
            )
        bound = report.bound if _finite(answer.bound) is None else _finite(answer.bound)
        proven, natural_end = ending.value
        if proven is Status.INFEASIBLE:
            status, bound = Status.INFEASIBLE, None
        elif best is None:
            status = Status.UNKNOWN
        else:
            meets = bound is not None and isclose(best.objective, bound, rel_tol=CLAIM, abs_tol=CLAIM)
            status = Status.OPTIMAL if proven is Status.OPTIMAL and meets else Status.FEASIBLE
        if proven is Status.OPTIMAL and status is Status.FEASIBLE and gap > 0:
            natural_end = StoppedBy.GAP
        return Outcome(
            status=status,
            values=None if best is None else best.values,
            objective=None if best is None else best.objective,
            bound=bound,
            stopped_by=stopped_by or natural_end,
            solver=self.name,
            duals=answer.duals if status is Status.OPTIMAL else None,
            message=message,
            log=report.log,
        )


class _Report:
    """The best point, the bound and the log that a running solve has reported so far."""

    def __init__(
        self,
        form: "StandardForm",
        start: Vector | None,
        on_incumbent: OnIncumbent | None,
        on_bound: OnBound | None,
        log: bool,
    ) -> None:
        self.form = form
        self.best: Incumbent | None = None
        self.bound: float | None = None
        self.log = ""
        self._on_incumbent, self._on_bound = on_incumbent, on_bound
        self._stream = log
        self._begin = perf_counter()
        if start is not None:
            self.consider(start)

    def __call__(self, frame: Frame) -> Any:
        """Process a frame from the worker, and return whether to stop the solver."""
        kind, content = frame
        if kind is FrameKind.LOG:
            self._add_log(content)
        elif kind is FrameKind.BOUND:
            self._take_bound(content)
        elif kind is FrameKind.INCUMBENT:
            return self._take_incumbent(*content)
        return None

    def consider(self, values: Vector) -> bool:
        """Return whether a point is feasible after rounding, and keep it if it is also the best so far."""
        if not np.isfinite(values).all():
            return False
        point = self.form.rounded(values) + 0.0  # no negative zero
        if not self.form.is_feasible(point):
            return False
        objective = self.form.objective(point)
        if self.best is None or self.form.sense.better(objective, self.best.objective):
            self.best = Incumbent(point, objective, self.bound, perf_counter() - self._begin)
        return True

    def _take_bound(self, bound: float) -> None:
        self.bound = _finite(bound)
        if self._on_bound is not None and self.bound is not None:
            self._on_bound(self.bound)

    def _take_incumbent(self, values: Vector, bound: float) -> Any:
        before = self.best
        self._take_bound(bound)
        self.consider(values)
        if self._on_incumbent is None or self.best is before:
            return None
        return None if self.best is None else self._on_incumbent(self.best)

    def _add_log(self, text: str) -> None:
        self.log = (self.log + text)[-LONGEST_LOG:]
        if self._stream:
            sys.stderr.write(text)
            sys.stderr.flush()


def _finite(bound: float | None) -> float | None:
    """Return a bound, or None if it is missing, infinite or not a number."""
    return bound if bound is not None and isfinite(bound) and abs(bound) < _INFINITY else None


def _check_options(form: "StandardForm", time_limit: float | None, gap: float, start: Vector | None) -> None:
    require(time_limit is None or time_limit >= 0, "time_limit", time_limit, "must be at least 0 seconds")
    require(0 <= gap < inf, "gap", gap, "must be at least 0")
    if start is not None:
        shape = (len(form.columns),)
        require(start.shape == shape, "start", start.shape, f"must have the shape {shape}")
