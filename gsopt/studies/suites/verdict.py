"""Verdict: whether the best known value of an instance is confirmed when it is recomputed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import chain
from math import ulp
from typing import Any

from gsopt.core.errors import Contradiction, InvalidSolution
from gsopt.core.numbers.tolerances import ULPS
from gsopt.core.problem import Frozen, Number, Problem
from gsopt.core.result import Result, Status, plain
from gsopt.evaluation import catalogue
from gsopt.evaluation.solve import solve
from gsopt.studies.suites.known import Known, Standing

#: Maximum difference between a local date and the date in UTC.
_A_DAY = timedelta(days=1)


class VerificationOutcome(StrEnum):
    """The outcome of recomputing the best known value of an instance.

    It is ``confirmed``, ``improved`` (a better value or bound, a proof, or a solution that was missing), ``not
    recomputed`` (the value or the bound in the file was not reached), ``contradicted`` (the file, the judge and
    the exact method contradict one another) or ``failed`` (the method failed).

    Examples
    --------
    >>> VerificationOutcome("improved").is_wrong, VerificationOutcome("contradicted").is_wrong
    (False, True)
    """

    CONFIRMED = "confirmed"  # the solution is worth what the file says, and the bound is proven again
    IMPROVED = "improved"  # a better value or bound, a proof, or a solution that was missing
    OPEN = "not recomputed"  # nothing contradicts the file, but its value or bound was not reached
    CONTRADICTED = "contradicted"  # the file, the judge and the exact method contradict one another
    FAILED = "failed"  # the method failed

    @property
    def is_wrong(self) -> bool:
        """Whether the outcome points to an error in the library or in its files."""
        return self in (VerificationOutcome.CONTRADICTED, VerificationOutcome.FAILED)


@dataclass(frozen=True)
class Verdict:
    """The verdict on the best known value of one instance.

    Attributes
    ----------
    instance
        Name of the instance.
    outcome
        Outcome of recomputing the values.
    note
        One line that says what is better, wrong or missing; empty if everything is confirmed.
    known
        The values stated in the instance file.
    result
        Result of the exact method, or None if it was not run or failed.

    Examples
    --------
    >>> verdict = examine("reclaiming/aryl-figure-5", time_limit=10)
    >>> verdict.outcome, verdict.note
    (<VerificationOutcome.CONFIRMED: 'confirmed'>, '')
    """

    instance: str
    outcome: VerificationOutcome
    note: str
    known: Known
    result: Result[Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict with the values in the file and those found, as plain JSON types."""
        found = self.result
        return {
            "instance": self.instance,
            "outcome": self.outcome.value,
            "note": self.note,
            "objective": plain(self.known.objective),
            "bound": plain(self.known.bound),
            "found_objective": None if found is None else plain(found.objective),
            "found_bound": None if found is None else plain(found.bound),
            "runtime": None if found is None else found.runtime,
        }


def examine(name: str, *, time_limit: float) -> Verdict:
    """Judge the stored solution of a committed instance and, if no error is found, run the exact method."""
    return compare(catalogue.load(name), catalogue.best_solution(name), time_limit=time_limit)


def compare(problem: Problem[Any], solution: Frozen | None, *, time_limit: float) -> Verdict:
    """Compare the values that an instance states with its stored solution and with the exact method.

    If an error is found in the stated values or in the solution, the exact method is not run. Otherwise, it
    starts from the solution, if there is one, and has the given time limit in seconds.
    """
    known = Known.of(problem)
    wrong = chain(_wrong_of_claims(problem, known), _wrong_of_solution(problem, known, solution))
    broken = next(wrong, "")
    if broken:
        return Verdict(known.instance, VerificationOutcome.CONTRADICTED, broken, known)
    try:
        result = solve(problem, time_limit=time_limit, start=solution)
    except (Contradiction, InvalidSolution) as error:
        return Verdict(known.instance, VerificationOutcome.CONTRADICTED, str(error), known)
    return held_against_file(problem, result, has_solution=solution is not None)


def held_against_file(problem: Problem[Any], result: Result[Any], *, has_solution: bool) -> Verdict:
    """Return the verdict on what an instance file states, given a result and whether a solution is stored."""
    known = Known.of(problem)
    outcome, note = _SuiteCase(problem, known, result, has_solution).outcome()
    return Verdict(known.instance, outcome, note, known, result)


def _wrong_of_claims(problem: Problem[Any], known: Known) -> Iterator[str]:
    """Yield the contradictions among the values in the file."""
    if known.standing is Standing.PROVEN and known.objective is not None:
        slack = _slack(problem, known.objective)
        if known.bound is None or abs(float(known.objective) - float(known.bound)) > slack:
            yield f"the file says {_told(known.objective)} is proven, and its bound is {_told(known.bound)}"
    if known.since is None and known.standing is not Standing.UNKNOWN:
        yield "the file does not say since when the values are known"
    if known.since is not None and known.since > datetime.now(UTC).date() + _A_DAY:
        yield f"the file says since {known.since}, which is yet to come"


def _wrong_of_solution(problem: Problem[Any], known: Known, solution: Frozen | None) -> Iterator[str]:
    """Yield the errors that the judge finds in the stored solution."""
    if solution is None:
        return
    for broken in problem.violations(solution):
        yield f"the solution on file breaks a rule: {broken}"
    value = problem.objective(solution)
    if known.objective is None:
        yield f"a solution of value {plain(value)} is on file, and no value"
    elif abs(float(value) - float(known.objective)) > _slack(problem, known.objective):
        yield f"the solution on file is worth {plain(value)}, the file says {plain(known.objective)}"


@dataclass(frozen=True)
class _SuiteCase:
    """The values that an instance states, together with the result of the exact method."""

    problem: Problem[Any]
    known: Known
    result: Result[Any]
    has_solution: bool

    def outcome(self) -> tuple[VerificationOutcome, str]:
        """Return the outcome and its note."""
        contradiction = self._contradiction()
        if contradiction:
            return VerificationOutcome.CONTRADICTED, contradiction
        better = self._improvement()
        if better:
            return VerificationOutcome.IMPROVED, better
        if self._is_reached():
            return VerificationOutcome.CONFIRMED, ""
        return VerificationOutcome.OPEN, self._shortfall()

    @property
    def _stated(self) -> Number | None:
        """The bound in the file, or the value if it is proven optimal."""
        proven = self.known.standing is Standing.PROVEN
        return self.known.objective if proven else self.known.bound

    def _contradiction(self) -> str:
        found, known = self.result, self.known
        if self._better(found.objective, known.bound):
            return f"value {_told(found.objective)} is better than the bound {_told(known.bound)} on file"
        if self._better(known.objective, found.bound):
            return f"bound {_told(found.bound)} forbids the value {_told(known.objective)} on file"
        if known.standing is Standing.INFEASIBLE and found.solution is not None:
            return f"has a solution of value {_told(found.objective)}; the file says that there is none"
        if known.objective is not None and found.status is Status.INFEASIBLE:
            return f"has no solution; the file says {_told(known.objective)}"
        return ""

    def _improvement(self) -> str:
        found, known = self.result, self.known
        parts = []
        if self._lacks_solution and not self._better(known.objective, found.objective):
            parts.append(f"a solution of value {_told(found.objective)}")
        if known.standing in (Standing.PROVEN, Standing.INFEASIBLE):
            return ", ".join(parts)
        if found.objective is not None and known.objective is None:
            parts.append(f"value none -> {_told(found.objective)}")
        if self._better(found.objective, known.objective):
            parts.append(f"value {_told(known.objective)} -> {_told(found.objective)}")
        if found.bound is not None and (known.bound is None or self._better(known.bound, found.bound)):
            parts.append(f"bound {_told(known.bound)} -> {_told(found.bound)}")
        if found.status in (Status.OPTIMAL, Status.INFEASIBLE):
            parts.append("proven")
        return ", ".join(parts)

    @property
    def _lacks_solution(self) -> bool:
        """Whether the file states a value without a stored solution, and a solution was found now."""
        stated = self.known.objective is not None and not self.has_solution
        return stated and self.result.objective is not None

    def _shortfall(self) -> str:
        """Return a note on the stated value or bound that was not reached."""
        found, known = self.result, self.known
        if known.objective is not None and not self.has_solution:
            return f"value {_told(found.objective)} so far; the file says {_told(known.objective)}"
        return f"bound {_told(found.bound)} so far; the file says {_told(self._stated)}"

    def _is_reached(self) -> bool:
        """Check whether all values in the file are proven again."""
        if self.known.objective is not None and not self.has_solution:
            return False
        if self.known.standing is Standing.INFEASIBLE:
            return self.result.status is Status.INFEASIBLE
        if self.known.standing is Standing.PROVEN:
            return self.result.status is Status.OPTIMAL
        return self.result.bound is not None and not self._better(self.result.bound, self.known.bound)

    def _better(self, value: Number | None, other: Number | None) -> bool:
        return is_better(self.problem, value, other)


def is_better(problem: Problem[Any], value: Number | None, other: Number | None) -> bool:
    """Check whether both values exist and `value` is better than `other` by more than rounding."""
    if value is None or other is None or not problem.sense.better(value, other):
        return False
    return abs(float(value) - float(other)) > _slack(problem, other)


def _slack(problem: Problem[Any], value: Number) -> float:
    """Return the largest error of a value that results from storing or computing it as a float."""
    return max(float(problem.resolution(value)), ULPS * ulp(float(value)))


def _told(value: Number | None) -> str:
    return "none" if value is None else str(plain(value))
