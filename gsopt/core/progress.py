"""Progress: the best value and bound that are known during a search."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gsopt.core.problem import Number, Problem
from gsopt.core.result import Result, plain, relative_gap, round_bound


@dataclass(frozen=True)
class KnownBracket:
    """The best value and bound known at some point in a search.

    Attributes
    ----------
    runtime
        Seconds since the search began.
    value
        Value of the best known solution, or None.
    bound
        The best proven bound, or None.

    Examples
    --------
    >>> KnownBracket(runtime=0.5, value=12, bound=10).gap
    0.2
    """

    runtime: float
    value: Number | None = None
    bound: Number | None = None

    @property
    def gap(self) -> float | None:
        """Gap between value and bound, as `gsopt.core.result.relative_gap` defines it."""
        return relative_gap(self.value, self.bound)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields and the gap as plain JSON types."""
        return {
            "runtime": self.runtime,
            "value": plain(self.value),
            "bound": plain(self.bound),
            "gap": self.gap,
        }


#: A function that is called with the best value and bound at each improvement and at the end.
OnProgress = Callable[[KnownBracket], Any]


class Watch:
    """A collector of reports from all parts of a method. It passes improvements on to a listener.

    Reported bounds are rounded by `gsopt.core.result.round_bound`.

    Attributes
    ----------
    value, bound
        Best value and best bound so far, or None.
    best
        The best `Result` with a solution that was reported so far, or None.

    Examples
    --------
    >>> import gsopt
    >>> watch = Watch(gsopt.load("reclaiming/aryl-figure-5"), print)  # counts preemptions
    >>> watch(KnownBracket(0.1, value=3))
    KnownBracket(runtime=0.1, value=3, bound=None)
    >>> watch(KnownBracket(0.2, value=4))
    >>> watch(KnownBracket(0.3, bound=0.5))
    KnownBracket(runtime=0.3, value=3, bound=1)
    """

    def __init__(self, problem: Problem[Any], listener: OnProgress | None) -> None:
        self._problem, self._listener = problem, listener
        self.value: Number | None = None
        self.bound: Number | None = None
        self.best: Result[Any] | None = None

    def end(self, runtime: float) -> None:
        """Report the final value and bound when the method ends."""
        if self._listener is not None:
            self._listener(KnownBracket(runtime, self.value, self.bound))

    def hear(self, result: Result[Any], runtime: float) -> None:
        """Keep a `Result` if it is the best so far, and report any better value or bound."""
        known = None if self.best is None else self.best.objective
        if result.objective is not None and (
            known is None or self._problem.sense.better(result.objective, known)
        ):
            self.best = result
        self._take(runtime, result.objective, result.bound)

    def __call__(self, reported: KnownBracket) -> None:
        """Process a report from a part of the method.

        A bound beyond the known value is replaced by that value, which is optimal in this case.
        """
        bound = None if reported.bound is None else round_bound(self._problem, reported.bound)
        self._take(reported.runtime, reported.value, bound)

    def _take(self, runtime: float, found: Number | None, proven: Number | None) -> None:
        better = self._problem.sense.better
        value, bound = self.value, self.bound
        if found is not None and (value is None or better(found, value)):
            value = found
        if proven is not None and (bound is None or better(bound, proven)):
            bound = proven
        if value is not None and bound is not None and better(value, bound):
            bound = value
        if (value, bound) != (self.value, self.bound):
            self.value, self.bound = value, bound
            if self._listener is not None:
                self._listener(KnownBracket(runtime, value, bound))
