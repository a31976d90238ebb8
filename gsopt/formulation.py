"""Formulation: a Pyomo model of record, solved by a backend and cross-checked against the problem."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import ceil, floor
from time import perf_counter
from typing import Any, ClassVar, Generic, TypeVar

from gsopt.backends import Backend, Highs, Incumbent, Outcome
from gsopt.errors import ModelMismatch
from gsopt.problem import Number, Problem, S, Sense
from gsopt.result import Result, Status, plain, same
from gsopt.standard_form import StandardForm

P = TypeVar("P", bound=Problem[Any])

#: A solver's bound may overshoot an integer by this much and still mean that integer.
_ROUNDING = 1e-6


class Formulation(ABC, Generic[P, S]):
    """An exact model of one decision; calling it solves a problem.

    A subclass names itself, builds the Pyomo model and reads a solution out of the values of its columns.
    Where a decision is taken online it may override `standard_form` to fill the arrays directly; a test then proves
    the two builders equal.
    """

    name: ClassVar[str]

    @property
    def __name__(self) -> str:
        """The name, as functions carry it."""
        return self.name

    @abstractmethod
    def build(self, problem: P) -> Any:
        """Build the Pyomo model of record.

        Raises
        ------
        Unsupported
            The model does not express this problem.
        """

    @abstractmethod
    def extract(self, values: Mapping[str, float], problem: P) -> S:
        """Read the solution from column values by name; integer columns are already rounded."""

    def encode(self, solution: S, problem: P) -> Mapping[str, float]:
        """Give a solution as column values by name, for a start; columns left out are 0."""
        raise NotImplementedError(f"{self.name} takes no start solution")

    def standard_form(self, problem: P) -> StandardForm:
        """Give the model as arrays."""
        return StandardForm.from_pyomo(self.build(problem))

    def __call__(
        self,
        problem: P,
        *,
        backend: Backend | None = None,
        time_limit: float | None = None,
        gap: float = 0.0,
        start: S | None = None,
        on_incumbent: Callable[[Incumbent], Any] | None = None,
        log: bool = False,
    ) -> Result[S]:
        """Solve a problem and judge the solution.

        Parameters
        ----------
        problem
            The problem.
        backend
            Solver; HiGHS when None.
        time_limit
            Seconds, the building of the model included; None for none.
        gap
            Relative gap at which to stop.
        start
            A known solution to start from.
        on_incumbent
            Called with each new incumbent; returning True stops the solve.
        log
            Stream the solver's log to standard error.

        Raises
        ------
        Unsupported
            The model does not express this problem.
        MissingSolver
            The backend's solver is not installed.
        ModelMismatch
            The model's objective value is not the problem's.
        """
        begin = perf_counter()
        form = self.standard_form(problem)
        built = perf_counter() - begin
        outcome = (backend or Highs()).solve(
            form,
            time_limit=None if time_limit is None else max(time_limit - built, 0.0),
            gap=gap,
            start=None if start is None else form.point(self.encode(start, problem)),
            on_incumbent=on_incumbent,
            log=log,
        )
        runtime = perf_counter() - begin
        solution = None
        if outcome.values is not None:
            solution = self.extract(form.named(form.rounded(outcome.values)), problem)
        result = Result.judged(
            problem,
            method=self.name,
            solution=solution,
            bound=proven_bound(form, outcome),
            infeasible=outcome.status is Status.INFEASIBLE,
            stopped_by=outcome.stopped_by,
            solver=outcome.solver,
            message=outcome.message,
            runtime=runtime,
        )
        if outcome.values is not None:
            _cross_check(result, form.objective(form.rounded(outcome.values)), problem.sense)
        return result


def proven_bound(form: StandardForm, outcome: Outcome) -> Number | None:
    """Give the solver's bound, rounded to an integer where every objective value is one."""
    if outcome.bound is None or not form.integral_objective:
        return outcome.bound
    if form.sense is Sense.MINIMIZE:
        return ceil(outcome.bound - _ROUNDING * max(1.0, abs(outcome.bound)))
    return floor(outcome.bound + _ROUNDING * max(1.0, abs(outcome.bound)))


def _cross_check(result: Result[Any], modelled: float, sense: Sense) -> None:
    """Compare the model's value with the judge's: equal at an optimum, never better before it.

    Before the optimum a model may charge for more than its solution needs (a job marked as preempted though
    none of its servers is returned), so there the judge's value may be the better one.
    """
    judged = result.objective
    if judged is None or same(modelled, float(judged)):
        return
    if result.status is Status.OPTIMAL or sense.better(modelled, judged):
        raise ModelMismatch(
            f"{result.method}: the model counts {modelled:g}, the problem {plain(judged)} for the same solution"
        )
