"""Known: the best known value and bound of one instance."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from gsopt.core.problem import About, Number, Problem
from gsopt.core.result import relative_gap


class Standing(StrEnum):
    """The standing of an instance: what is known about its optimum.

    It is ``proven`` (a solution is proven optimal), ``infeasible`` (it is proven that there is no solution),
    ``challenge`` (a value or bound is known, but the optimum is not proven) or ``unknown`` (neither is known).

    Examples
    --------
    >>> import gsopt
    >>> Known.of(gsopt.load("reclaiming/aryl-figure-5")).standing
    <Standing.PROVEN: 'proven'>
    """

    PROVEN = "proven"  # a solution, and the proof that none is better
    INFEASIBLE = "infeasible"  # the proof that there is no solution
    CHALLENGE = "challenge"  # a solution or a bound, and no proof that they meet
    UNKNOWN = "unknown"  # nothing is on record


@dataclass(frozen=True)
class Known:
    """The best known value of one instance.

    Attributes
    ----------
    instance, decision
        Names of the instance and its decision.
    size
        The figures that distinguish the instances of a suite.
    unit, sense
        Unit of the objective, and whether it is minimized or maximized.
    objective, bound
        The best known value and the best proven bound, or None.
    standing
        Standing of the instance.
    by
        Methods and solvers that proved optimality or infeasibility or, if neither is proven, found the value or
        the bound.
    since
        Date since which the values have been known, or None.

    Examples
    --------
    >>> import gsopt
    >>> known = Known.of(gsopt.load("reclaiming/aryl-figure-5"))
    >>> known.objective, known.gap, known.by
    (1, 0.0, 'brute force')
    """

    instance: str
    decision: str
    size: Mapping[str, int | float | str]
    unit: str
    sense: str
    objective: Number | None
    bound: Number | None
    standing: Standing
    by: str
    since: date | None

    @classmethod
    def of(cls, problem: Problem[Any]) -> "Known":
        """Return the best known value that an instance states in its field `about`.

        Examples
        --------
        >>> from instances.reclaiming import churn
        >>> Known.of(churn(servers=20, demand=2)).standing
        <Standing.UNKNOWN: 'unknown'>
        """
        about = problem.about or About()
        return cls(
            instance=problem.name,
            decision=problem.word,
            size=problem.headline(),
            unit=problem.unit,
            sense=problem.sense.value,
            objective=_whole(about.objective),
            bound=_whole(about.bound),
            standing=_standing(about),
            by=about.proved_by or about.found_by,
            since=about.since,
        )

    @property
    def suite(self) -> str:
        """Name of the suite to which the instance belongs: the part of its name before the last slash."""
        return self.instance.rpartition("/")[0]

    @property
    def gap(self) -> float | None:
        """Relative gap between value and bound, as `relative_gap` defines it; 0 if the optimum is proven."""
        return 0.0 if self.standing is Standing.PROVEN else relative_gap(self.objective, self.bound)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON types."""
        return {
            "instance": self.instance,
            "decision": self.decision,
            "size": described(self.size),
            "unit": self.unit,
            "sense": self.sense,
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "standing": self.standing.value,
            "by": self.by,
            "since": None if self.since is None else self.since.isoformat(),
        }


def described(size: Mapping[str, int | float | str]) -> str:
    """Return the size figures of an instance as one line of text."""
    return ", ".join(f"{name} {value}" for name, value in size.items())


def _whole(value: float | None) -> Number | None:
    """Return a number as an integer if it is integral, and unchanged otherwise."""
    return int(value) if value is not None and value.is_integer() else value


def _standing(about: About) -> Standing:
    if about.proved_by:
        return Standing.INFEASIBLE if about.objective is None else Standing.PROVEN
    return Standing.UNKNOWN if about.objective is about.bound is None else Standing.CHALLENGE
