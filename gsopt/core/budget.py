"""Budget: the time limit and other options that a caller passes to a method."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from math import inf
from time import perf_counter
from typing import Any, overload

from gsopt.core.errors import require
from gsopt.core.numbers.grid import Number
from gsopt.core.numbers.span import WRITTEN, read_seconds
from gsopt.core.progress import KnownBracket, OnProgress

#: The longest time limit in seconds, about thirty years, which clocks and solvers can still handle.
_LONGEST = 1e9

#: A time limit: seconds, text such as ``30s``, or None for no limit.
TimeLimit = float | str | None


class _TimeLimit:
    """A descriptor for a time limit, set in seconds or as a string such as ``30s``, and read in seconds."""

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
    """The time limit, solver and other options of a method.

    Heuristics observe at most the time limit, and ignore all other options.

    A method passes its budget on to every function that it calls, so all of them share one clock. The clock
    starts when the budget is created.

    Attributes
    ----------
    time_limit
        Seconds from the creation of the budget, or a string such as ``30s``, ``2min`` or ``1h``; None for no
        limit.
    gap
        Relative gap at which to stop, as defined by `gsopt.core.result.relative_gap`.
    backend
        The solver, a `gsopt.backends.Backend`; if None, the method chooses one.
    start
        A known solution to the problem.
    on_incumbent
        Called with a judged `Result` for each better solution; if it returns True, the method stops.
    on_progress
        Called with a `gsopt.core.progress.KnownBracket` at each better value or bound and at the end. You can
        pass a `gsopt.History`.
    log
        Whether to stream the solver's log to standard error.

    Raises
    ------
    InvalidInput
        The time limit or the gap is negative, infinite or not a number, the time limit exceeds a billion
        seconds, or the backend or a callback cannot be used.

    Examples
    --------
    >>> Budget().left(), Budget().left(most=5.0), Budget(time_limit=0.0).passed
    (None, 5.0, True)
    >>> Budget(time_limit="2min").longer(0.5).time_limit, Budget(gap=0.1, log=True).asked
    (120.5, ('gap', 'log'))
    """

    time_limit: _TimeLimit = _TimeLimit()
    gap: float = 0.0
    backend: Any = None
    start: Any = None
    on_incumbent: Callable[[Any], Any] | None = None
    on_progress: OnProgress | None = None
    log: bool = False
    begin: float = field(default_factory=perf_counter, repr=False)

    def __post_init__(self) -> None:
        require(_is_share(self.gap), "gap", self.gap, "must be at least 0 and finite")
        for name, is_valid, rule in (
            ("backend", _is_backend, "must be a backend, such as gsopt.backends.CpSat()"),
            ("on_incumbent", callable, "must be a function of a result"),
            ("on_progress", callable, "must be a function of a KnownBracket"),
        ):
            value = getattr(self, name)
            require(value is None or is_valid(value), name, value, rule)

    @property
    def runtime(self) -> float:
        """Seconds since the budget was created."""
        return perf_counter() - self.begin

    @property
    def passed(self) -> bool:
        """Whether the time limit has been reached."""
        return self.left() == 0.0

    def left(self, *, most: float | None = None) -> float | None:
        """Return the remaining seconds, at most `most`, or None if there is neither a time limit nor `most`."""
        if self.time_limit is None:
            return most
        left = max(self.time_limit - self.runtime, 0.0)
        return left if most is None else min(left, most)

    def passes(self, share: float, *, grace: float = 0.0) -> bool:
        """Check whether the given share of the time limit, plus `grace` seconds, has elapsed.

        Without a time limit, the result is False.
        """
        return self.time_limit is not None and self.runtime >= share * self.time_limit + grace

    def within(self, seconds: float) -> "Budget":
        """Return this budget, shortened so that it ends no later than the given number of seconds from now."""
        limit = self.runtime + seconds
        return replace(self, time_limit=limit if self.time_limit is None else min(limit, self.time_limit))

    def report(self, *, value: Number | None = None, bound: Number | None = None) -> None:
        """Report a solution's value, or a bound on the optimum, to the caller's `on_progress`.

        Examples
        --------
        >>> Budget(on_progress=lambda known: print(known.value, known.bound)).report(bound=3)
        None 3
        """
        if self.on_progress is not None:
            self.on_progress(KnownBracket(self.runtime, value, bound))

    def longer(self, seconds: float) -> "Budget":
        """Return this budget with its time limit, if there is one, extended by the given number of seconds."""
        limit = self.time_limit
        return self if limit is None else replace(self, time_limit=min(limit + seconds, _LONGEST))

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the options that differ from their defaults."""
        return tuple(name for name, default in DEFAULTS.items() if getattr(self, name) != default)


def rounds(number: int, budget: Budget) -> Iterator[int]:
    """Yield the numbers 0, 1, ... of at most `number` rounds, until the time limit is reached.

    Examples
    --------
    >>> list(rounds(3, Budget())), list(rounds(3, Budget(time_limit=0)))
    ([0, 1, 2], [])
    """
    return takewhile(lambda _: not budget.passed, range(number))


def checked_time_limit(value: TimeLimit, field: str = "time_limit") -> float | None:
    """Return a time limit in seconds, or None for no limit.

    Raise `InvalidInput` unless the given limit is None, a number from 0 to a billion, or a string such as
    ``30s``. The error names the limit as `field`.

    Examples
    --------
    >>> checked_time_limit(3), checked_time_limit("500ms"), checked_time_limit(None)
    (3, 0.5, None)
    """
    seconds: Any = value
    if isinstance(value, str):
        with suppress(ValueError):
            seconds = read_seconds(value)
    is_time = value is None or (_is_share(seconds) and seconds <= _LONGEST)
    require(is_time, field, value, f"must be a number of seconds from 0 to 1e9, or {WRITTEN}")
    found: float | None = seconds
    return found


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _is_backend(value: object) -> bool:
    return not isinstance(value, type) and callable(getattr(value, "solve", None))


#: The options of every exact method, with their defaults.
DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Budget) if each.name != "begin"}

#: The default budget of a heuristic.
UNLIMITED = Budget()
