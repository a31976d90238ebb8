"""Result: what a method found, judged; and the four statuses it can have."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import isclose
from typing import Any, Generic

from gsopt.errors import Contradiction, InvalidSolution
from gsopt.problem import Number, Problem, S, Sense

#: Difference, relative or absolute, below which a float and another value count as equal: solvers work to it.
TOLERANCE = 1e-6


class Status(StrEnum):
    """What is known of a problem: whether there is a solution, and whether that is proven."""

    OPTIMAL = "optimal"  # a solution, proven to be the best
    FEASIBLE = "feasible"  # a solution, not proven to be the best
    INFEASIBLE = "infeasible"  # proven that there is no solution
    UNKNOWN = "unknown"  # no solution found, nothing proven


class StoppedBy(StrEnum):
    """Why a method stopped; says nothing about what it found."""

    FINISHED = "finished"
    GAP = "gap"
    TIME_LIMIT = "time_limit"
    INTERRUPT = "interrupt"
    CRASH = "crash"


class Level(StrEnum):
    """How much a result may be trusted, in rising order."""

    CLAIMED = "claimed"  # the solver says so, there is nothing the judge could check
    CHECKED = "checked"  # the judge recomputed the solution's value and rules
    AGREED = "agreed"  # two solver families proved the same optimum


@dataclass(frozen=True, kw_only=True)
class Result(Generic[S]):
    """What one method found on one problem. Build it with `Result.judged` only.

    Attributes
    ----------
    method
        Name of the method.
    status
        Whether there is a solution and whether that is proven.
    solution
        The decision, or None.
    objective
        The judge's value of the solution, or None.
    bound
        Proven bound on the optimum (below it when minimizing), or None. Never infinite.
    stopped_by
        Why the method stopped.
    runtime
        Seconds, without the judging.
    level
        How far the result was checked.
    solver
        Solver family that produced it (``highs``, ``cp-sat``, ``scip``) or the algorithm of gsopt's own behind
        the method; empty where that is the method itself.
    message
        One line worth reading: why there is no solution, which technique was used.
    """

    method: str
    status: Status
    solution: S | None
    objective: Number | None
    bound: Number | None
    stopped_by: StoppedBy
    runtime: float
    level: Level
    solver: str = ""
    message: str = ""

    @classmethod
    def judged(
        cls,
        problem: Problem[S],
        *,
        method: str,
        runtime: float,
        solution: S | None = None,
        bound: Number | None = None,
        infeasible: bool = False,
        stopped_by: StoppedBy = StoppedBy.FINISHED,
        solver: str = "",
        message: str = "",
    ) -> "Result[S]":
        """Score and check a solution, and derive the status from what is proven.

        Raises
        ------
        InvalidSolution
            The solution breaks a rule of the problem.
        Contradiction
            The solution's value is better than the bound, or a solution comes with a proof that none exists.

        Examples
        --------
        >>> import gsopt
        >>> problem = gsopt.load("reclaiming/aryl-figure-5")
        >>> pick = problem.solution_type(servers=("s1", "s2"))
        >>> Result.judged(problem, method="by hand", solution=pick, bound=1, runtime=0.0).status
        <Status.OPTIMAL: 'optimal'>
        """
        objective = None if solution is None else judged_value(problem, method, solution)
        if objective is not None and infeasible:
            raise Contradiction(f"{method}: a solution of value {objective} and a proof that there is none")
        if objective is not None and bound is not None:
            refuse_contradiction(problem.sense, method, objective, method, bound)
        return cls(
            method=method,
            status=_status(objective, bound, infeasible),
            solution=solution,
            objective=objective,
            bound=bound,
            stopped_by=stopped_by,
            runtime=runtime,
            level=Level.CLAIMED if solution is None else Level.CHECKED,
            solver=solver,
            message=message,
        )

    @property
    def gap(self) -> float | None:
        """Distance from value to bound, relative to the value; None without both, or around a value of 0.

        Examples
        --------
        >>> import gsopt
        >>> gsopt.solve(gsopt.load("reclaiming/aryl-figure-5")).gap
        0.0
        """
        return relative_gap(self.objective, self.bound)

    def as_dict(self) -> dict[str, Any]:
        """Give the result as plain JSON types, the way ``gsopt solve --json`` prints it."""
        return {
            "method": self.method,
            "status": self.status.value,
            "objective": plain(self.objective),
            "bound": plain(self.bound),
            "gap": self.gap,
            "stopped_by": self.stopped_by.value,
            "level": self.level.value,
            "runtime": self.runtime,
            "solver": self.solver,
            "message": self.message,
            "solution": None if self.solution is None else self.solution.model_dump(mode="json"),
        }


def judged_value(problem: Problem[S], method: str, solution: S) -> Number:
    """Score a solution, or raise `InvalidSolution` with the rules it breaks."""
    broken = problem.violations(solution)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise InvalidSolution(f"{method} on {problem.name or problem.word}: {broken[0]}{more}")
    return problem.objective(solution)


def refuse_contradiction(sense: Sense, who: str, value: Number, prover: str, bound: Number) -> None:
    """Raise `Contradiction` when a feasible value is better than a proven bound."""
    if sense.better(value, bound) and not same(value, bound):
        raise Contradiction(
            f"{who} found {plain(value)}, better than the bound {plain(bound)} proven by {prover}"
        )


def agree(results: Sequence[Result[S]]) -> list[Result[S]]:
    """Raise to level `agreed` the optima that two solver families proved alike.

    A family is a solver, or for gsopt's own algorithms the method itself.
    """
    proven = [r for r in results if r.status is Status.OPTIMAL]
    families = {r.solver or r.method for r in proven}
    alike = all(same(r.objective, proven[0].objective) for r in proven if r.objective is not None)
    if len(families) < 2 or not alike:  # noqa: PLR2004 - two families
        return list(results)
    return [replace(r, level=Level.AGREED) if r.status is Status.OPTIMAL else r for r in results]


def same(value: Number | None, other: Number | None) -> bool:
    """Compare two values: exactly when both are exact, to the solvers' tolerance when one is a float.

    Examples
    --------
    >>> same(3, 3), same(3, 3.0000001), same(10**8, 10**8 + 1)
    (True, True, False)
    """
    if value is None or other is None:
        return value is other
    if isinstance(value, float) or isinstance(other, float):
        return isclose(value, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return value == other


def relative_gap(value: Number | None, bound: Number | None) -> float | None:
    """Give |value - bound| / |value|; 0 when they are the same; None when undefined.

    Examples
    --------
    >>> relative_gap(4, 3), relative_gap(0, 0), relative_gap(0, -1)
    (0.25, 0.0, None)
    """
    if value is None or bound is None:
        return None
    if same(value, bound):
        return 0.0
    return abs(float(value) - float(bound)) / abs(float(value)) if value != 0 else None


def plain(value: Number | None) -> int | float | None:
    """Turn an exact number into a JSON number.

    Examples
    --------
    >>> plain(Fraction(1, 2)), plain(Fraction(4, 2))
    (0.5, 2)
    """
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _status(objective: Number | None, bound: Number | None, infeasible: bool) -> Status:
    if objective is None:
        return Status.INFEASIBLE if infeasible else Status.UNKNOWN
    return Status.OPTIMAL if bound is not None and same(objective, bound) else Status.FEASIBLE
