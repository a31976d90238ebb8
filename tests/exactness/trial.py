"""Trials: every method of a decision on one instance, held against its exact optimum."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import inf, isfinite
from random import Random
from typing import Any, NamedTuple

from gsopt.core.errors import BrokenModel, Unsupported
from gsopt.core.method import Method, accepts
from gsopt.core.problem import Number, Problem, Sense
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import exact_methods, heuristics
from gsopt.evaluation.solve import solve
from gsopt.problems.reader import problem_types
from gsopt.solvers.backends import CpSat, Scip


class _Optimum(NamedTuple):
    """Where the optimum lies: no solution is better than `best`, one is as good as `worst`, if it is known."""

    best: Number
    worst: Number | None

    @property
    def width(self) -> float:
        """Distance of the two; 0 where the oracle is exact."""
        return float(_apart(self.best, self.worst)) if self.worst is not None else inf


class Oracle(NamedTuple):
    """What knows the optima of a decision without the library's help.

    The optimum is None where there is no solution, and two numbers between which it lies where it is no exact
    number. The value of a solution that breaks a rule is None. Further options of methods may be tried.
    """

    draw: Callable[[Random], Problem[Any]]
    optimum: Callable[[Any], Any]
    value: Callable[[Any, Any], Number | None]
    options: Mapping[str, Mapping[str, Any]]


def _oracle(word: str) -> Oracle:
    """Return what `tests/exactness/<word>.py` knows."""
    module = import_module(f"tests.exactness.{word}")
    return Oracle(module.draw, module.optimum, module.value, _OPTIONS.get(word, {}))


#: Further options of methods by decision.
_OPTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {"reclaiming": {"exact": {"width": -1}}}

ORACLES = {word: _oracle(word) for word in sorted(problem_types())}


@dataclass
class Tally:
    """What trials of one decision have shown, by method and options.

    It counts the instances tried, those that a method refuses, and those that are settled: a value is proven
    optimal, or that there is no solution. Each failure is one line with the seed of the instance.
    """

    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    proven: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def rate(self, way: str) -> float:
        """Part of the instances tried that a way of solving has settled."""
        return self.proven[way] / max(self.tried[way], 1)

    def __str__(self) -> str:
        lines = [f"{'':60} tried refused proven"]
        lines += [
            f"{way:60} {self.tried[way]:5} {self.refused[way]:7} {self.rate(way):6.1%}"
            for way in dict.fromkeys([*self.tried, *self.refused])
        ]
        return "\n".join([*lines, f"{len(self.failures)} failures", *self.failures])


class Way(NamedTuple):
    """A way of solving: a method with some options, directly or through `gsopt.solve`.

    Exact ones prove bounds. Hurried ones may stop before they have found anything themselves, and started ones
    begin with the best that all heuristics find.
    """

    name: str
    run: Callable[[Problem[Any]], Result[Any]]
    exact: bool
    hurried: bool = False
    started: bool = False


def ways(word: str) -> list[Way]:
    """List every way of solving a decision: exact methods as they come, through `solve`, with each option.

    The default method is first of the exact ones.
    """
    exact = exact_methods(word)
    named = sorted(exact, key=lambda name: name != "exact")
    found = [Way(name, exact[name], exact=True) for name in named]
    for name, method in exact.items():
        found += [way for options in _settings(word, name) for way in _with(method, options)]
        run = partial(solve, method=method)
        found.append(Way(f"solve {name}", run, exact=True, started=True))
        hurried = partial(run, time_limit=0.0)
        found.append(Way(f"solve {name} time_limit=0.0", hurried, exact=True, hurried=True))
    return found + [Way(name, method, exact=False) for name, method in heuristics(word).items()]


def _settings(word: str, name: str) -> Iterator[Mapping[str, Any]]:
    """List the options that a method is tried with: every solver, its own, and those that stop it early."""
    yield from ({"backend": kind()} for kind in (CpSat, Scip) if find_spec(kind.package))
    if name in ORACLES[word].options:
        yield ORACLES[word].options[name]
    yield from ({"gap": 0.1}, {"time_limit": 0.0}, {"time_limit": 0.01})


def _with(method: Method, options: Mapping[str, Any]) -> Iterator[Way]:
    if all(accepts(method, option) for option in options):
        said = ", ".join(f"{option}={getattr(setting, 'name', setting)}" for option, setting in options.items())
        run = partial(method, **options)
        yield Way(f"{method.__name__} {said}", run, exact=True, hurried="time_limit" in options)


def instance(word: str, seed: int) -> Problem[Any]:
    """Draw the instance of a decision and seed."""
    return ORACLES[word].draw(Random(f"{word} {seed}"))


def attack(word: str, seeds: Iterable[int], *, turns: int, found: Sequence[Way] | None = None) -> Tally:
    """Solve random instances of a decision, and hold every result against the exact optimum.

    On each instance all heuristics, the first exact way of solving and some others are tried, which take
    `turns`.

    Examples
    --------
    >>> attack("reclaiming", range(3), turns=0).failures
    []
    """
    known = ways(word) if found is None else found
    first = [way for way in known if not way.exact]
    default, *others = [way for way in known if way.exact]
    tally = Tally()
    for seed in seeds:
        places = range(seed * turns, seed * turns + min(turns, len(others)))
        _attempt(tally, word, seed, [*first, default, *(others[place % len(others)] for place in places)])
    return tally


def _attempt(tally: Tally, word: str, seed: int, chosen: Sequence[Way]) -> None:
    """Try some ways on one instance, heuristics first."""
    problem = instance(word, seed)
    optimum = _located(problem, ORACLES[word].optimum(problem))
    known: Number | None = None
    for way in chosen:
        wrong: list[str]
        try:
            result = way.run(problem)
        except (Unsupported, BrokenModel):
            tally.refused[way.name] += 1
            continue
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a failure of the trial
            wrong = [f"{type(error).__name__}: {error}"]
        else:
            wrong = list(_mistakes(word, problem, result, optimum, way))
            tally.proven[way.name] += result.status in {Status.OPTIMAL, Status.INFEASIBLE}
            if way.started and known is not None and _is_better(problem, known, result.objective):
                wrong.append(f"{result.objective!r}, a heuristic finds {known!r}")
            if not way.exact and result.objective is not None and _is_better(problem, result.objective, known):
                known = result.objective
        tally.tried[way.name] += 1
        tally.failures += [f"{word} {seed} ({problem.name}), {way.name}: {mistake}" for mistake in wrong]


def _is_better(problem: Problem[Any], value: Number, other: Number | None) -> bool:
    return other is None or problem.sense.better(value, other)


def _located(problem: Problem[Any], found: Any) -> _Optimum | None:
    if found is None:
        return None
    least, most = found if isinstance(found, tuple) else (found, found)
    best, worst = (least, most) if problem.sense is Sense.MINIMIZE else (most, least)
    return _Optimum(best, worst if isfinite(worst) else None)


def _mistakes(
    word: str, problem: Problem[Any], result: Result[Any], optimum: _Optimum | None, way: Way
) -> Iterator[str]:
    """Say what is wrong with a result, given where the optimum lies; None when there is no solution."""
    if optimum is None:
        settled = result.status is Status.INFEASIBLE or way.hurried or not way.exact
        if result.solution is not None or not settled:
            yield f"{result.status}, there is no solution"
        return
    if result.objective is not None:
        yield from _mistakes_of_value(word, problem, result, result.objective, optimum)
    if optimum.worst is None:
        return
    if result.status is Status.INFEASIBLE:
        yield f"infeasible, the optimum is {optimum.worst!r}"
    if way.exact and result.bound is not None and problem.sense.better(optimum.worst, result.bound):
        yield f"the bound {result.bound!r} is beyond the optimum {optimum.worst!r}"
    if way.exact and result.status is Status.UNKNOWN and not way.hurried:
        yield "unknown, without a time limit"


def _mistakes_of_value(
    word: str, problem: Problem[Any], result: Result[Any], objective: Number, optimum: _Optimum
) -> Iterator[str]:
    own = ORACLES[word].value(problem, result.solution)
    if own is None:
        yield "the solution breaks a rule"
    elif objective != float(own) and _apart(own, objective) > optimum.width:
        yield f"the value is {objective!r}, it should be {own!r}"
    if problem.sense.better(objective, optimum.best):
        yield f"{objective!r} is better than the optimum {optimum.best!r}"
    if result.status is Status.OPTIMAL and optimum.worst is not None:
        excused = problem.resolution(objective) + optimum.width
        if _apart(objective, optimum.worst) > excused:
            yield f"optimal with {objective!r}, the optimum is {optimum.worst!r}"


def _apart(value: Number, other: Number) -> Fraction:
    return abs(Fraction(value) - Fraction(other))
