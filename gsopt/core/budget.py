"""Budget: what a caller grants a method, and what it wants on the way."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf
from time import perf_counter
from typing import Any, overload

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.grid import Number
from gsopt.core.numbers.span import WRITTEN, read_seconds
from gsopt.core.progress import Bracket, OnProgress

#: Seconds, thirty years: more than anybody waits, and less than any clock or solver takes for an error.
_LONGEST = 1e9

#: A time limit as callers give it.
TimeLimit = float | str | None


class _TimeLimit:
    """A field that takes seconds, or text such as ``30s``, and gives seconds."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> None: ...

    @overload
    def __get__(self, instance: object, owner: type) -> float | None: ...

    def __get__(self, instance: object | None, owner: type) -> float | None:
        return None if instance is None else vars(instance)[self._name]

    def __set__(self, instance: object, value: TimeLimit) -> None:
        vars(instance)[self._name] = checked_time_limit(value)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The deadline of a method, where it may stop, and what it starts from; of heuristics the deadline only.

    A method hands it down to everything that it calls, so there is one clock. It begins when the object is
    made.

    Attributes
    ----------
    time_limit
        Seconds from the beginning, or text such as ``30s``, ``2min`` or ``1h``; None for none.
    gap
        Gap at which to stop, relative to the bound, as `gsopt.core.result.relative_gap` gives it.
    backend
        Solver, a `gsopt.backends.Backend`; the method's own choice when None.
    start
        A known solution of the problem.
    on_incumbent
        Called with a judged `Result` for each better solution; returning True stops the method.
    on_progress
        Called with a `gsopt.core.progress.Bracket` whenever a better value or bound is known, and at the end; a
        `gsopt.History` can be.
    log
        Whether to stream the solver's log to standard error.

    Raises
    ------
    InvalidInput
        The time limit or the gap is negative, infinite or no number; or the backend or the callback is none.

    Examples
    --------
    >>> Budget().left(), Budget().left(most=5.0), Budget(time_limit=0.0).passed
    (None, 5.0, True)
    >>> Budget(time_limit="2min").time_limit
    120.0
    """

    time_limit: _TimeLimit = _TimeLimit()
    gap: float = 0.0
    backend: Any = None
    start: Any = None
    on_incumbent: Callable[[Any], Any] | None = None
    on_progress: OnProgress | None = None
    log: bool = False
    begin: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        _require("gap", self.gap, _is_share, "must be at least 0 and finite")
        if self.backend is not None:
            _require("backend", self.backend, _is_backend, "must be a backend, such as gsopt.backends.CpSat()")
        if self.on_incumbent is not None:
            _require("on_incumbent", self.on_incumbent, callable, "must be a function of a result")
        if self.on_progress is not None:
            _require("on_progress", self.on_progress, callable, "must be a function of what is known")

    @property
    def runtime(self) -> float:
        """Seconds since the beginning."""
        return perf_counter() - self.begin

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left() == 0.0

    def left(self, *, most: float | None = None) -> float | None:
        """Return the seconds that are left, and no more than `most`; None for no limit."""
        if self.time_limit is None:
            return most
        left = max(self.time_limit - self.runtime, 0.0)
        return left if most is None else min(left, most)

    def passes(self, share: float, *, grace: float = 0.0) -> bool:
        """Check whether a share of the time limit, and some seconds of grace, are over; never without a limit.

        Examples
        --------
        >>> Budget(time_limit=60.0).passes(0.5), Budget(time_limit=0.0).passes(0.5), Budget().passes(0.5)
        (False, True, False)
        """
        return self.time_limit is not None and self.runtime >= share * self.time_limit + grace

    def within(self, seconds: float) -> "Budget":
        """Return the same budget with an end at most so many seconds from now.

        Examples
        --------
        >>> Budget(time_limit=1.0).within(60.0).time_limit
        1.0
        """
        limit = self.runtime + seconds
        return replace(self, time_limit=limit if self.time_limit is None else min(limit, self.time_limit))

    def report(self, *, value: Number | None = None, bound: Number | None = None) -> None:
        """Report to the caller's `on_progress` a solution's value, or of a bound that holds for the problem.

        Examples
        --------
        >>> Budget(on_progress=lambda known: print(known.value, known.bound)).report(bound=3)
        None 3
        """
        if self.on_progress is not None:
            self.on_progress(Bracket(self.runtime, value, bound))

    def longer(self, seconds: float) -> "Budget":
        """Return the same budget with an end so many seconds later.

        Examples
        --------
        >>> Budget(time_limit=1.0).longer(0.5).time_limit, Budget().longer(0.5).time_limit
        (1.5, None)
        """
        limit = self.time_limit
        return self if limit is None else replace(self, time_limit=min(limit + seconds, _LONGEST))

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the options that the caller set.

        Examples
        --------
        >>> Budget(gap=0.1, log=True).asked
        ('gap', 'log')
        """
        return tuple(name for name, default in DEFAULTS.items() if getattr(self, name) != default)


def rounds(number: int, budget: Budget) -> Iterator[int]:
    """Count the rounds of a search, of which none begins once the budget has passed.

    Examples
    --------
    >>> list(rounds(3, Budget())), list(rounds(3, Budget(time_limit=0)))
    ([0, 1, 2], [])
    """
    return takewhile(lambda _: not budget.passed, range(number))


def checked_time_limit(value: TimeLimit, field: str = "time_limit") -> float | None:
    """Return a time limit in seconds.

    Raises
    ------
    InvalidInput
        It is no number of seconds from 0 to a billion, nor text for one.

    Examples
    --------
    >>> checked_time_limit(3), checked_time_limit("500ms"), checked_time_limit(None)
    (3, 0.5, None)
    """
    seconds = _read(value) if isinstance(value, str) else value
    if value is not None and not _is_time(seconds):
        rule = f"must be a number of seconds from 0 to 1e9, or {WRITTEN}"
        raise InvalidInput("", field, shorten(value), rule)
    return seconds


def _read(text: str) -> float | None:
    try:
        return read_seconds(text)
    except ValueError:
        return None


def _require(option: str, value: object, holds: Callable[[Any], bool], rule: str) -> None:
    if not holds(value):
        raise InvalidInput("", option, shorten(value), rule)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _is_time(value: object) -> bool:
    return _is_share(value) and value <= _LONGEST  # type: ignore[operator]  # it is a number


def _is_backend(value: object) -> bool:
    return not isinstance(value, type) and callable(getattr(value, "solve", None))


#: The options of every exact method, with their defaults.
DEFAULTS: dict[str, Any] = {
    "time_limit": None,
    "gap": 0.0,
    "backend": None,
    "start": None,
    "on_incumbent": None,
    "on_progress": None,
    "log": False,
}

#: The budget of a heuristic that is called without one.
UNLIMITED = Budget()
