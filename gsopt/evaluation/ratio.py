"""Ratio: the factor by which a value is worse than the optimum, and its maximum over several instances."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from gsopt.core.errors import Contradiction, one_line
from gsopt.core.method import MethodLike, run
from gsopt.core.numbers.grid import Number
from gsopt.core.problem import Problem, Sense
from gsopt.core.result import Result, Status, refuse_contradiction, settles
from gsopt.evaluation.space import Pick, Space

#: A ratio, or None if it is unbounded because exactly one of the two values is 0.
Ratio = Fraction | None

#: A ratio of floats is replaced by a fraction whose denominator is at most this large, if the difference is at
#: most this part of the values' resolution.
_LARGEST_DENOMINATOR, _SMALL_PART = 10_000, Fraction(1, 10_000)

_PICKS = ("pick", "unbounded", "first_unsolved")


def ratio(problem: Problem[Any], value: Number, optimum: Number) -> Ratio:
    """Return the factor by which a value is worse than the optimum, or None if exactly one of them is 0.

    If values are floats, a factor that equals p/q up to rounding, with q of at most 10,000, becomes p/q.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")  # minimizes
    >>> ratio(problem, 3, 2), ratio(problem, 2, 2), ratio(problem, 0, 0), ratio(problem, 1, 0)
    (Fraction(3, 2), Fraction(1, 1), Fraction(1, 1), None)
    """
    if settles(value, optimum, problem.resolution(value)):
        return Fraction(1)
    worse, better = (value, optimum) if problem.sense is Sense.MINIMIZE else (optimum, value)
    if not (better > 0 and worse > 0):
        return None
    found, noise = Fraction(worse) / Fraction(better), problem.resolution(value)
    simple = found.limit_denominator(_LARGEST_DENOMINATOR)
    return simple if abs(simple - found) * Fraction(better) <= Fraction(noise) * _SMALL_PART else found


@dataclass(frozen=True)
class Worst:
    """The instance with the largest ratio among several instances, with statistics on all of them.

    Attributes
    ----------
    instances
        Number of instances evaluated.
    ratio
        The largest ratio, or None if no instance has one.
    pick
        An instance with that ratio.
    unbounded
        The first instance on which exactly one of value and optimum is 0, so that the ratio is unbounded, or
        None.
    unsolved
        Number of instances with a proven optimum on which the method failed or returned no solution.
    first_unsolved, reason
        The first of these instances, and the method's message about that instance.
    unproven
        Number of instances whose optimum was not proven.
    """

    instances: int = 0
    ratio: Ratio = None
    pick: Pick | None = None
    unbounded: Pick | None = None
    unsolved: int = 0
    first_unsolved: Pick | None = None
    reason: str = ""
    unproven: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain JSON types, with the ratio as a float and as a fraction."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        picks = {name: None if found[name] is None else str(found[name]) for name in _PICKS}
        number, exact = (None, None) if self.ratio is None else (float(self.ratio), str(self.ratio))
        return {**found, **picks, "ratio": number, "exact_ratio": exact}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Worst":
        """Restore findings from the output of `as_dict`.

        Examples
        --------
        >>> found = Worst(instances=7, ratio=Fraction(4, 3), pick=Pick(0, (1, 1)))
        >>> Worst.from_dict(found.as_dict()) == found
        True
        """
        found = {each.name: data[each.name] for each in fields(cls)}
        picks = {name: None if found[name] is None else Pick.read(found[name]) for name in _PICKS}
        exact = data["exact_ratio"]
        return cls(**{**found, **picks, "ratio": None if exact is None else Fraction(exact)})

    def at(self, pick: Pick) -> "Worst":
        """Return these findings with another instance that has the same ratio."""
        return replace(self, pick=pick)

    def __add__(self, other: "Worst") -> "Worst":
        worse = other.ratio is not None and (self.ratio is None or other.ratio > self.ratio)
        return Worst(
            self.instances + other.instances,
            other.ratio if worse else self.ratio,
            other.pick if worse else self.pick,
            self.unbounded or other.unbounded,
            self.unsolved + other.unsolved,
            self.first_unsolved or other.first_unsolved,
            self.reason if self.first_unsolved else other.reason,
            self.unproven + other.unproven,
        )


@dataclass
class Optima:
    """The optima of a space's instances, cached so that several methods can use them.

    Attributes
    ----------
    space
        The space.
    exact
        The exact method.
    """

    space: Space
    exact: MethodLike
    _known: dict[Pick, Result[Any]] = field(default_factory=dict)

    def of(self, pick: Pick, problem: Problem[Any]) -> Result[Any]:
        """Return the exact method's result on an instance.

        Instances that differ only in the order of their items share one cached result.
        """
        key = Pick(pick.setting, tuple(sorted(pick.items)))
        if key not in self._known:
            self._known[key] = run(self.exact, problem)
        return self._known[key]


def worst_of(picks: Iterable[Pick], method: MethodLike, optima: Optima, **options: Any) -> Worst:
    """Run a method on instances, and return the one on which it is farthest from the optimum, with statistics.

    Raises
    ------
    Contradiction
        The method's value is better than a proven optimum, or the method solves an infeasible instance.
    """
    found = Worst()
    for pick in picks:
        problem = optima.space.problem(pick)
        if problem is not None:
            found += _tried(pick, problem, method, optima.of(pick, problem), options)
    return found


def _tried(
    pick: Pick, problem: Problem[Any], method: MethodLike, best: Result[Any], options: dict[str, Any]
) -> Worst:
    try:
        result, reason = run(method, problem, **options), ""
    except Contradiction:
        raise
    except Exception as error:  # noqa: BLE001 - it may be anybody's method; a failure is a finding too
        result, reason = None, one_line(error)
    if best.status is Status.INFEASIBLE:
        if result is not None and result.objective is not None:
            raise Contradiction(f"{result.method} found {result.objective}, {best.method} proved infeasible")
        return Worst(instances=1)
    if best.status is not Status.OPTIMAL or best.objective is None:
        return Worst(instances=1, unproven=1)
    if result is None or result.objective is None:
        said = reason or (result.message if result else "")
        return Worst(instances=1, unsolved=1, first_unsolved=pick, reason=said)
    value, optimum = result.objective, best.objective
    noise = problem.resolution(value)
    refuse_contradiction(problem.sense, result.method, value, best.method, optimum, resolution=noise)
    times = ratio(problem, value, optimum)
    return Worst(1, times, pick if times else None, None if times else pick)
