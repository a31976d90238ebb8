"""Result: the judged outcome of a method, with its status and bound."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import isclose, isfinite
from typing import Any, Generic
from weakref import ref

from pydantic import ValidationError

from gsopt.core.errors import Contradiction, InvalidInput, InvalidSolution, shorten
from gsopt.core.numbers.grid import Exact, ceil_to, floor_to, highest, lowest
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.problem import Frozen, Number, Problem, S, Sense


class Status(StrEnum):
    """The outcome of a method: whether it found a solution, and whether it proved optimality or infeasibility.

    Examples
    --------
    >>> Status("optimal"), Status.OPTIMAL == "optimal"
    (<Status.OPTIMAL: 'optimal'>, True)
    """

    OPTIMAL = "optimal"  # a solution, proven to be the best
    FEASIBLE = "feasible"  # a solution, not proven to be the best
    INFEASIBLE = "infeasible"  # proven that there is no solution
    UNKNOWN = "unknown"  # no solution found, nothing proven


class StoppedBy(StrEnum):
    """The reason why a method stopped, regardless of its outcome.

    Examples
    --------
    >>> import gsopt
    >>> gsopt.solve(gsopt.load("reclaiming/aryl-figure-5")).stopped_by
    <StoppedBy.FINISHED: 'finished'>
    """

    FINISHED = "finished"
    GAP = "gap"
    TIME_LIMIT = "time_limit"
    INTERRUPT = "interrupt"
    CRASH = "crash"


class Level(StrEnum):
    """The degree to which a result has been verified; members are in ascending order.

    Examples
    --------
    >>> import gsopt
    >>> gsopt.solve(gsopt.load("reclaiming/aryl-figure-5")).level
    <Level.CHECKED: 'checked'>
    """

    CLAIMED = "claimed"  # by the solver, with nothing for the judge to check
    CHECKED = "checked"  # the judge recomputed the solution's value and rules
    AGREED = "agreed"  # two solver families proved the same optimum


@dataclass(frozen=True, kw_only=True)
class Result(Generic[S]):
    """The outcome of one method on one problem.

    Results are created by `Result.judged`, or restored by `Result.from_dict`; both judge the solution.

    Attributes
    ----------
    method
        Name of the method.
    status
        Whether a solution was found, and whether it is proven optimal or the problem is proven infeasible.
    solution
        The decision, or None.
    objective
        The judge's value of the solution, or None.
    bound
        Proven bound on the optimum (a lower bound when minimizing), or None. Never infinite.
    stopped_by
        Why the method stopped.
    runtime
        Running time of the method in seconds, excluding the time to judge its solution.
    level
        How far the result has been verified.
    solver
        Solver or library that produced the result, such as ``highs``, ``cp-sat``, ``scip`` or ``scipy``, or the
        algorithm of gsopt that the method called. Empty if the method called none of these.
    message
        One line that says, for example, why there is no solution or which technique was used.

    Examples
    --------
    >>> import gsopt
    >>> from heuristics.reclaiming import greedy
    >>> found = greedy(gsopt.load("reclaiming/aryl-figure-5"))
    >>> found.status, found.objective, found.bound, found.gap
    (<Status.FEASIBLE: 'feasible'>, 1, None, None)
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
        """Create a result by scoring and checking a solution, and derive its status from the bound.

        The bound must be valid, but a float may be off by the rounding of its last operations; it is therefore
        weakened by this possible error. If the optimum is known to be a multiple of a step (`Problem.step`),
        the bound is then rounded to a multiple of this step, as described at `round_bound`. The solution counts
        as optimal if its value and this bound differ by at most `Problem.resolution`, which is 0 if the
        problem's values are exact.

        Raises
        ------
        InvalidInput
            The bound is not finite.
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
        if bound is not None:
            if not _fits(bound):
                rule = "must be a finite number, or None if nothing is proven"
                raise InvalidInput("bound", shorten(bound), rule, source=method)
            bound = round_bound(problem, bound)
        _refuse_own_contradiction(problem, method, objective, bound)
        return cls(
            method=method,
            status=_status(problem, objective, bound, infeasible),
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
        """Gap between value and bound, as `relative_gap` defines it."""
        return relative_gap(self.objective, self.bound)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types, as ``gsopt solve --json`` prints it.

        A value or bound that equals neither an integer nor a float, such as 1/3 or 1/10, is also given as a
        string in ``exact``.
        """
        numbers = {"objective": self.objective, "bound": self.bound}
        exact = {name: str(number) for name, number in numbers.items() if plain(number) != number}
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
            "exact": exact,
            "solution": None if self.solution is None else self.solution.model_dump(mode="json"),
        }

    @classmethod
    def from_dict(cls, problem: Problem[S], data: Mapping[str, Any], *, source: str = "result") -> "Result[S]":
        """Restore a result from the output of `as_dict`, and judge its solution again.

        Parameters
        ----------
        problem
            The problem that was solved.
        data
            The output of `as_dict`.
        source
            Origin of the data, for error messages.

        Raises
        ------
        InvalidInput
            A required field is missing, or a field is malformed or contradicts the solution or another field.
        InvalidSolution
            The solution breaks a rule of the problem.
        Contradiction
            The solution's value is better than the bound.

        Examples
        --------
        >>> import gsopt
        >>> problem = gsopt.load("reclaiming/aryl-figure-5")
        >>> result = gsopt.solve(problem)
        >>> Result.from_dict(problem, result.as_dict()) == result
        True
        """
        stored = _Stored(source, data)
        status, solution = stored.field("status", Status), stored.solution(problem)
        found = cls(
            method=stored.field("method", str),
            status=status,
            solution=solution,
            objective=None if solution is None else judged_value(problem, source, solution),
            bound=stored.field("bound", int, float, type(None)),
            stopped_by=stored.field("stopped_by", StoppedBy),
            runtime=float(stored.field("runtime", int, float)),
            level=stored.field("level", Level),
            solver=stored.field("solver", str),
            message=stored.field("message", str),
        )
        found = replace(found, bound=_exact_bound(problem, found, stored.fraction("bound")))
        _refuse_own_contradiction(problem, found.method, found.objective, found.bound)
        if status is not _status(problem, found.objective, found.bound, status is Status.INFEASIBLE):
            rule = "must be what follows from the solution and the bound"
            raise InvalidInput("status", shorten(status.value), rule, source=source)
        for name, value in found.as_dict().items():
            if name not in ("gap", "exact", "solution") and value != data.get(name):
                rule = f"must be {value}, as the judge finds"
                raise InvalidInput(name, shorten(data.get(name)), rule, source=source)
        _refuse_impossible(found, data.get("gap", found.gap), source)
        return found


def _refuse_impossible(found: Result[Any], gap: Any, source: str) -> None:
    """Raise `InvalidInput` if the gap, the running time or the level cannot be those of the result."""
    levels = [Level.CLAIMED] if found.solution is None else [Level.CHECKED]
    if found.status is Status.OPTIMAL:
        levels.append(Level.AGREED)
    is_same = gap == found.gap or (isinstance(gap, float) and same(found.gap, gap))
    for holds, field, value, rule in (
        (is_same, "gap", gap, f"must be {found.gap}, which follows from the value and the bound"),
        (found.runtime >= 0, "runtime", found.runtime, "must be at least 0 seconds"),
        (
            found.level in levels,
            "level",
            found.level.value,
            f"must be {' or '.join(levels)}, as for such a result",
        ),
    ):
        if not holds:
            raise InvalidInput(field, shorten(value), rule, source=source)


@dataclass(frozen=True)
class _Stored:
    """A reader for the fields of a stored result."""

    source: str
    data: Mapping[str, Any]

    def field(self, name: str, *kinds: type) -> Any:
        """Return a field, which must have one of the given types."""
        value = self.data.get(name, ...)
        for kind in kinds:
            if issubclass(kind, StrEnum) and value in list(kind):
                return kind(value)
            number = isinstance(value, int | float) and not isinstance(value, bool) and _fits(value)
            if isinstance(value, kind) and (number or kind in (str, type(None))):
                return value
        if value is ...:
            raise InvalidInput(name, "", "is required", source=self.source)
        known = [" or ".join(kind) if issubclass(kind, StrEnum) else kind.__name__ for kind in kinds]
        raise InvalidInput(name, shorten(value), f"must be {' or '.join(known)}", source=self.source)

    def fraction(self, name: str) -> Fraction | None:
        """Return the exact fraction that a field stores as a string."""
        exact = self.data.get("exact", {})
        text = exact.get(name) if isinstance(exact, Mapping) else exact
        if text is None:
            return None
        found = _FRACTION.fullmatch(text) if isinstance(text, str) else None
        number = Fraction(int(found[1]), int(found[2])) if found and int(found[2]) else None
        if number is None or not _fits(number) or plain(number) != self.data.get(name):
            rule = f"must be the fraction of which {name} is the nearest number, such as '1/3'"
            raise InvalidInput(f"exact.{name}", shorten(text), rule, source=self.source)
        return number

    def solution(self, problem: Problem[S]) -> S | None:
        """Return the stored solution as an object of the problem's solution type."""
        given = self.data.get("solution")
        if given is None:
            return None
        try:
            solution: Any = problem.solution_type.model_validate_json(json.dumps(given))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in ("solution", *first["loc"]))
            raise InvalidInput(
                field, shorten(first["input"]), first["msg"].lower(), source=self.source
            ) from None
        except (TypeError, ValueError, RecursionError) as error:
            rule = f"must be plain JSON: {error}"
            raise InvalidInput("solution", shorten(given), rule, source=self.source) from None
        found: S = solution
        return found


#: A fraction as Python writes it, with at most as many digits as Python reads.
_FRACTION = re.compile(r"(-?[0-9]{1,4000})/([0-9]{1,4000})")


def _fits(number: Number) -> bool:
    """Check whether a number is finite when converted to a float."""
    try:
        return isfinite(number)
    except OverflowError:
        return False


def _exact_bound(problem: Problem[S], found: Result[S], fraction: Fraction | None) -> Number | None:
    """Return the exact bound from which a stored JSON number was made."""
    bound = found.bound
    if bound is None:
        return None
    if fraction is not None:
        return fraction
    if found.objective is not None and plain(found.objective) == bound:
        return found.objective
    return round_bound(problem, bound) if problem.step else bound


#: Cache of the most recent judgements: problem, solution and value. It helps as several functions judge the
#: same start, which may take a while. Problems and solutions are immutable, and the cache does not keep them
#: alive.
_judged: tuple[tuple[ref[Any], ref[Any], Number], ...] = ()

_MOST_JUDGED = 8


def value_of(problem: Problem[S], solution: S) -> Number:
    """Return the value of a solution, using a cache of the most recently judged solutions.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> value_of(problem, problem.solution_type(servers=["s1", "s2"]))
    1
    """
    known = _cached_value(problem, solution)
    return problem.objective(solution) if known is None else known


def _cached_value(problem: Problem[Any], solution: Frozen) -> Number | None:
    found = (value for of, what, value in _judged if of() is problem and what() is solution)
    return next(found, None)


def judged_value(problem: Problem[S], method: str, solution: S) -> Number:
    """Return the value of a solution, or raise `InvalidSolution` with the first rule that it breaks."""
    global _judged  # noqa: PLW0603 - replaced as a whole, so that threads see one or the other
    known = _cached_value(problem, solution)
    if known is not None:
        return known
    broken = problem.violations(solution)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise InvalidSolution(f"{method} on {problem.name or problem.word}: {broken[0]}{more}")
    value = problem.objective(solution)
    _judged = ((ref(problem), ref(solution), value), *_judged[: _MOST_JUDGED - 1])
    return value


def round_bound(problem: Problem[S], bound: Number) -> Number:
    """Round a bound to a multiple of the problem's `step`: up when minimizing, down when maximizing.

    The bound remains valid, because the optimum is a multiple of the step. A float is first weakened by its
    possible rounding error. Without a step, an exact bound is returned unchanged.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")  # counts preemptions
    >>> round_bound(problem, 0.3), round_bound(problem, 1.0000000000000002), round_bound(problem, 2)
    (1, 1, 2)
    """
    step = problem.step
    minimizing = problem.sense is Sense.MINIMIZE
    safe: Exact = lowest(bound) if minimizing else highest(bound)
    if step:
        return ceil_to(safe, step) if minimizing else floor_to(safe, step)
    return float(safe) if isinstance(bound, float) else bound


def refuse_contradiction(
    sense: Sense, who: str, value: Number, prover: str, bound: Number, *, resolution: Number = 0
) -> None:
    """Raise `Contradiction` if a value is better than a proven bound by more than the resolution."""
    if sense.better(value, bound) and not settles(value, bound, resolution):
        raise Contradiction(
            f"{who} found {plain(value)}, better than the bound {plain(bound)} proven by {prover}"
        )


def _refuse_own_contradiction(
    problem: Problem[Any], method: str, objective: Number | None, bound: Number | None
) -> None:
    if objective is not None and bound is not None:
        resolution = problem.resolution(objective)
        refuse_contradiction(problem.sense, method, objective, method, bound, resolution=resolution)


@dataclass(frozen=True)
class Claim:
    """The value and the bound that one method claims for an instance.

    Attributes
    ----------
    who
        Name of the method.
    value
        Value of a solution, or None.
    bound
        Proven bound, or None.
    resolution
        Difference up to which the value and a bound count as equal.
    """

    who: str
    value: Number | None = None
    bound: Number | None = None
    resolution: Number = 0


@dataclass(frozen=True)
class Settlement:
    """The conclusion from several claims about one instance.

    Attributes
    ----------
    bound
        The best bound, or None.
    known
        Whether some value equals the bound, which means that the optimum is known.
    """

    bound: Number | None
    known: bool


def settle(sense: Sense, claims: Sequence[Claim]) -> Settlement:
    """Compare all values and bounds of one instance, and return the best bound and whether it is attained.

    Raises
    ------
    Contradiction
        A value is better than a bound by more than its resolution, so one of the two is wrong.

    Examples
    --------
    >>> settle(Sense.MINIMIZE, [Claim("greedy", value=4), Claim("relaxation", bound=2), Claim("exact", 3, 3)])
    Settlement(bound=3, known=True)
    >>> settle(Sense.MINIMIZE, [Claim("greedy", value=2), Claim("exact", 3, 3)])
    Traceback (most recent call last):
    gsopt.core.errors.Contradiction: greedy found 2, better than the bound 3 proven by exact
    """
    valued = [claim for claim in claims if claim.value is not None]
    proofs = [(claim.who, claim.bound) for claim in claims if claim.bound is not None]
    for claim in valued:
        for prover, bound in proofs:
            if claim.value is not None:
                refuse_contradiction(sense, claim.who, claim.value, prover, bound, resolution=claim.resolution)
    strongest = max if sense is Sense.MINIMIZE else min
    best = strongest((bound for _, bound in proofs), default=None)
    return Settlement(best, any(settles(claim.value, best, claim.resolution) for claim in valued))


def settles(value: Number | None, bound: Number | None, resolution: Number = 0) -> bool:
    """Check whether a value and a bound differ by at most the resolution.

    Examples
    --------
    >>> settles(3, Fraction(3)), settles(3, 3 - 1e-12), settles(3, 3 - 1e-12, 1e-9), settles(3, None)
    (True, False, True, False)
    """
    if value is None or bound is None:
        return False
    return abs(Fraction(value) - Fraction(bound)) <= resolution


def agree(problem: Problem[S], results: Sequence[Result[S]]) -> list[Result[S]]:
    """Return the results, with level `agreed` for optimal ones if several solver families proved the optimum.

    A family is a solver, a library or an algorithm of gsopt (`Result.solver`), or a method that called none of
    these. If optimal results have different values, no level is changed.
    """
    proven = [r for r in results if r.status is Status.OPTIMAL]
    families = {r.solver or r.method for r in proven}
    values = [r.objective for r in proven if r.objective is not None]
    alike = all(settles(value, values[0], problem.resolution(value)) for value in values)
    if len(families) < 2 or not alike:  # noqa: PLR2004 - two families
        return list(results)
    return [replace(r, level=Level.AGREED) if r.status is Status.OPTIMAL else r for r in results]


def same(value: Number | None, other: Number | None) -> bool:
    """Check whether two figures are equal: exactly if both are exact numbers, otherwise up to rounding."""
    if value is None or other is None:
        return value is other
    if isinstance(value, float) or isinstance(other, float):
        return isclose(value, other, rel_tol=SUM)
    return value == other


def relative_gap(value: Number | None, bound: Number | None) -> float | None:
    """Return ``|value - bound| / |bound|``: how far a value is from a bound, relative to the bound.

    The gap is 0 if the two are equal. It is None if either is missing, or if only the bound is 0.

    Examples
    --------
    >>> relative_gap(4, 3), relative_gap(3, 4), relative_gap(0, 0), relative_gap(1, 0), relative_gap(1, None)
    (0.3333333333333333, 0.25, 0.0, None, None)
    """
    if value is None or bound is None:
        return None
    if value == bound:
        return 0.0
    return float(abs(Fraction(value) - Fraction(bound)) / abs(Fraction(bound))) if bound != 0 else None


def is_within(value: Number | None, bound: Number | None, gap: float) -> bool:
    """Check in exact arithmetic whether a value and a bound have a `relative_gap` that is at most `gap`."""
    if value is None or bound is None:
        return False
    return abs(Fraction(value) - Fraction(bound)) <= Fraction(gap) * abs(Fraction(bound))


def gap_by_value(gap: float) -> float:
    """Convert a gap relative to the bound into one relative to the value, as some solvers define it.

    A solver that reaches the returned gap has also reached the given one. The two are equivalent for a positive
    lower bound and for a negative upper bound; in other cases, the returned gap may be stricter.

    Examples
    --------
    >>> gap_by_value(0.25), relative_gap(5, 4), (5 - 4) / 5
    (0.2, 0.25, 0.2)
    """
    return gap / (1 + gap)


def plain(value: Number | None) -> int | float | None:
    """Return a number for JSON, converting a fraction to an integer if it is integral, otherwise to a float."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _status(problem: Problem[Any], objective: Number | None, bound: Number | None, infeasible: bool) -> Status:
    if objective is None:
        return Status.INFEASIBLE if infeasible else Status.UNKNOWN
    proven = settles(objective, bound, problem.resolution(objective))
    return Status.OPTIMAL if proven else Status.FEASIBLE
