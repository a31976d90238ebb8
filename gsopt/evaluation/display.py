"""Display: a status line with the value, bound, gap and running time of a solve."""

import sys
from fractions import Fraction
from time import perf_counter
from typing import Any, Protocol, Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from gsopt.core.interrupts import held
from gsopt.core.problem import Number, Problem
from gsopt.core.progress import KnownBracket
from gsopt.evaluation.tables import told_apart, written_gap

_MINUTE, _HOUR = 60, 3600


class Display:
    """A status line on standard error that shows value and bound, and is removed when the solve ends.

    In a notebook, the line remains below the cell. If standard error is not a terminal, each change is printed
    on a separate line.
    """

    def __init__(self, problem: Problem[Any]) -> None:
        self._problem, self._begin = problem, perf_counter()
        self._known = KnownBracket(0.0)
        self._screen = _screen(self)

    def __enter__(self) -> Self:
        self._begin = perf_counter()
        self._screen.start()
        return self

    def __exit__(self, *_: object) -> None:
        with held():  # what was found is still to be given back
            self._screen.stop()

    def __call__(self, known: KnownBracket) -> None:
        """Show the current value and bound."""
        self._known = known
        self._screen.refresh()

    def __str__(self) -> str:
        return self.line(self._known, seconds=self._known.runtime)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = self.line(self._known, seconds=perf_counter() - self._begin, width=options.max_width)
        yield Text(line, no_wrap=True, overflow="ellipsis")

    def line(self, known: KnownBracket, *, seconds: float, width: int | None = None) -> str:
        """Return the status line in at most `width` characters, if possible.

        If the line is too long, the name of the problem is left out first.
        """
        value, bound = told_apart(known.value, known.bound)
        found = f"{self._problem.unit} {value}"
        gap = f"gap {written_gap(known.gap, _excess(known))}"
        parts = [self._problem.name or self._problem.word, found, f"bound {bound}", gap, _clock(seconds)]
        for shorter in (parts, parts[1:], [value, *parts[2:]], [value, *parts[3:]]):
            line = "  ".join(shorter)
            if width is None or len(line) <= width:
                return line
        return line


class _Screen(Protocol):
    """The interface of the outputs on which a display can be shown."""

    def start(self) -> object: ...

    def stop(self) -> object: ...

    def refresh(self) -> object: ...


def _screen(display: Display) -> _Screen:
    console = Console(stderr=True)
    if console.is_jupyter:
        return _Notebook(display)
    if console.is_terminal:
        return Live(display, console=console, transient=True, refresh_per_second=10)
    return _Lines(display)


class _Lines:
    """A screen that prints one line per change."""

    def __init__(self, display: Display) -> None:
        self._display = display

    def start(self) -> None:
        """Start without any output, as there is no value or bound yet."""

    def stop(self) -> None:
        """Stop, and leave the printed lines in place."""

    def refresh(self) -> None:
        """Print the line below the previous one."""
        sys.stderr.write(f"{self._display}\n")


class _Notebook(_Lines):
    """A screen that updates one line below a notebook cell."""

    _shown: Any = None

    def refresh(self) -> None:
        """Replace the previous line."""
        from IPython.display import display

        text = {"text/plain": str(self._display)}
        if self._shown is None:
            self._shown = display(text, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._shown.update(text, raw=True)


def _excess(known: KnownBracket) -> Number | None:
    if known.value is None or known.bound is None:
        return None
    return abs(Fraction(known.value) - Fraction(known.bound))


def _clock(seconds: float) -> str:
    """Format seconds as on a clock, such as ``1:02:03``, or ``2:03`` below an hour."""
    whole = int(seconds)
    minutes, rest = divmod(whole % _HOUR, _MINUTE)
    return f"{whole // _HOUR}:{minutes:02}:{rest:02}" if whole >= _HOUR else f"{minutes}:{rest:02}"
