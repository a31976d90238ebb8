"""Formulation: a Pyomo model of a decision, solved by a backend and checked against the problem."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isclose
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import Budget, TimeLimit
from gsopt.core.errors import ModelMismatch, Unsupported
from gsopt.core.method import no_worse, solve_within, tightened, whole_budget
from gsopt.core.numbers.grid import Number
from gsopt.core.numbers.tolerances import MISMATCH
from gsopt.core.problem import Problem, S, Sense
from gsopt.core.progress import OnProgress
from gsopt.core.result import Result, Status, StoppedBy, judged_value, plain, value_of
from gsopt.solvers.backends import Backend
from gsopt.solvers.rounding import valid_costs, valid_offset
from gsopt.solvers.scaling import optimize
from gsopt.solvers.standard_form import StandardForm

P = TypeVar("P", bound=Problem[Any])


class Formulation(ABC, Generic[P, S]):
    """An exact model of one decision, which is called like a function to solve a problem.

    A subclass sets `name`, builds the Pyomo model, and extracts a solution from the values of the columns. If
    the model must be built fast, the subclass may override `standard_form` to fill the arrays directly. In this
    case, a test should show that both models are the same.

    Examples
    --------
    >>> import gsopt
    >>> from formulations.reclaiming import milp
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> isinstance(milp, Formulation), milp(problem).objective, len(milp.standard_form(problem).columns)
    (True, 1, 10)
    """

    name: ClassVar[str]

    #: Unit of the model's objective, if it differs from the problem's.
    own_unit: ClassVar[str] = ""

    @property
    def __name__(self) -> str:
        """The name of the method, provided under the attribute that functions have."""
        return self.name

    @abstractmethod
    def build(self, problem: P) -> Any:
        """Build the Pyomo model, or raise `Unsupported` if it cannot express the problem."""

    @abstractmethod
    def extract(self, values: Mapping[str, float], problem: P) -> S:
        """Return the solution, given column values keyed by column name.

        Integer columns are already rounded.
        """

    def encode(self, solution: S, problem: P) -> Mapping[str, float]:
        """Convert a solution to column values, keyed by column name, from which the solver can start.

        Columns that are left out are 0. If a formulation does not override this method, its solver gets no
        start.

        Raises
        ------
        Unsupported
            The formulation takes no start.
        """
        del solution, problem
        raise Unsupported(f"{self.name} takes no start solution")

    def obstacle(self, problem: P) -> str:
        """Return the reason why there is no solution, if this is obvious without solving.

        Otherwise, the string is empty.
        """
        del problem
        return ""

    def at_once(self, problem: P) -> tuple[S | None, Number | None]:
        """Return a solution and a bound that take almost no time to compute.

        Either may be None. The bound is always used. The solution is used as the start if the caller provides
        none; the final result is no worse than the start.
        """
        del problem
        return None, None

    def standard_form(self, problem: P) -> StandardForm:
        """Return the model as arrays."""
        return StandardForm.from_pyomo(self.build(problem))

    def exact_costs(self, problem: P, form: StandardForm) -> Sequence[Number]:
        """Return the cost of each column, exact or rounded such that the bound remains valid.

        By default, a cost with at most 15 digits is taken as an exact decimal number. Any other float is
        assumed to be rounded, and is replaced by a slightly better cost. The resulting bound is valid, but may
        miss the optimum by about 1e-12 of each cost incurred. If a continuous column has a cost, no cost is
        replaced, because the bound is then loosened by more than the rounding errors.

        Raises
        ------
        Unsupported
            An integer column with a rounded cost may be negative as well as positive.
        """
        del problem
        return valid_costs(form)

    def exact_offset(self, problem: P, form: StandardForm) -> Number:
        """Return the constant of the objective, exact or rounded such that the bound remains valid.

        By default, a float with more than 15 digits is replaced by a slightly better constant.
        """
        del problem
        return valid_offset(form)

    def __call__(
        self,
        problem: P,
        /,
        *,
        budget: Budget | None = None,
        time_limit: TimeLimit = None,
        gap: float = 0.0,
        backend: Backend | None = None,
        start: S | None = None,
        on_incumbent: Callable[[Result[S]], Any] | None = None,
        on_progress: OnProgress | None = None,
        log: bool = False,
    ) -> Result[S]:
        """Solve a problem and judge the solution.

        Parameters
        ----------
        problem
            The problem.
        budget
            All options in one object, as passed on by another method.
        time_limit, gap, backend, start, on_incumbent, on_progress, log
            As in `gsopt.core.budget.Budget`. The time limit includes building the model, and the default
            backend is HiGHS.

        Raises
        ------
        InvalidSolution
            The start breaks a rule of the problem.
        Unsupported
            The model cannot express this problem.
        MissingSolver
            The backend's solver is not installed.
        ModelMismatch
            The model's value of the solution is better than the problem's.
        """
        options = {
            "time_limit": time_limit,
            "gap": gap,
            "backend": backend,
            "start": start,
            "on_incumbent": on_incumbent,
            "on_progress": on_progress,
            "log": log,
        }
        given = whole_budget(budget, options)
        return solve_within(given, problem, self.name, partial(self._run_from, problem), self.unused)

    @property
    def unused(self) -> frozenset[str]:
        """Options of a budget that the formulation ignores."""
        return frozenset() if self._takes_start else frozenset({"start"})

    @property
    def _takes_start(self) -> bool:
        return type(self).encode is not Formulation.encode

    def _run_from(self, problem: P, budget: Budget) -> Result[S]:
        """Solve with the start and bound that are known in advance, and return a result that is no worse."""
        obstacle = self.obstacle(problem)
        if obstacle:
            return Result.judged(problem, method=self.name, infeasible=True, message=obstacle, runtime=0.0)
        solution, bound = self.at_once(problem)
        budget.report(bound=bound)
        start = solution if budget.start is None else budget.start
        found = no_worse(self.run(problem, replace(budget, start=start)), problem, start)
        return found if bound is None else tightened(found, problem, bound)

    def run(self, problem: P, budget: Budget) -> Result[S]:
        """Solve the model of a problem within a budget.

        Unlike `__call__`, this neither checks the start nor uses `obstacle` or `at_once`. The result may be
        worse than the start.
        """
        form = self.standard_form(problem)
        if budget.passed:
            return Result.judged(
                problem, method=self.name, stopped_by=StoppedBy.TIME_LIMIT, runtime=budget.runtime
            )
        known = budget.start is not None and self._takes_start
        proof = optimize(
            form,
            budget,
            costs=self.exact_costs(problem, form),
            offset=self.exact_offset(problem, form),
            start=form.point(self.encode(budget.start, problem)) if known else None,
            on_point=None if budget.on_incumbent is None else _IncumbentReporter(self, problem, form, budget),
            on_bound=None if budget.on_progress is None else lambda bound: budget.report(bound=bound),
        )
        point = proof.values
        result = Result.judged(
            problem,
            method=self.name,
            solution=None if point is None else self.extract(form.named(form.rounded(point)), problem),
            bound=proof.bound,
            infeasible=proof.status is Status.INFEASIBLE,
            stopped_by=proof.stopped_by,
            solver=proof.solver,
            message=proof.message,
            runtime=budget.runtime,
        )
        if point is not None:
            _cross_check(result, form.objective(form.rounded(point)), problem.sense)
        return result


class _IncumbentReporter(Generic[P, S]):
    """A callback that reports better solutions to the caller as judged results.

    A better point of the model is not always a better solution, as a point may incur costs that its solution
    does not need.
    """

    def __init__(self, formulation: Formulation[P, S], problem: P, form: StandardForm, budget: Budget) -> None:
        self.formulation, self.problem, self.form, self.budget = formulation, problem, form, budget
        self.best: Number | None = None if budget.start is None else value_of(problem, budget.start)

    def __call__(self, point: NDArray[np.float64], bound: Number | None) -> Any:
        solution = self.formulation.extract(self.form.named(self.form.rounded(point)), self.problem)
        value = judged_value(self.problem, self.formulation.name, solution)
        if self.best is not None and not self.problem.sense.better(value, self.best):
            return None
        self.best = value
        result = Result.judged(
            self.problem,
            method=self.formulation.name,
            solution=solution,
            bound=bound,
            runtime=self.budget.runtime,
        )
        return None if self.budget.on_incumbent is None else self.budget.on_incumbent(result)


def _cross_check(result: Result[Any], modelled: float, sense: Sense) -> None:
    """Raise `ModelMismatch` if the model's value of a solution is better than the judge's value.

    Before the model is solved to optimality, the judge's value may be better, as a point may incur costs that
    its solution does not need. An example is a job marked as preempted although none of its servers is
    returned. At the optimum the two values agree. Otherwise the judge's value would beat the model's bound,
    which is reported as a contradiction.
    """
    judged = result.objective
    if judged is None or isclose(modelled, float(judged), rel_tol=MISMATCH):
        return
    if sense.better(modelled, judged):
        raise ModelMismatch(
            f"{result.method}: for the same solution the model counts {modelled:g}, "
            f"the problem counts {plain(judged)}"
        )
