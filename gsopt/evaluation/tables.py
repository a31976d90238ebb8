"""Tables: columns laid out on a page, as plain text or for a notebook, the same in both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from math import floor, log10
from typing import Any, Literal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape as escape_markup
from rich.table import Table
from rich.text import Text

from gsopt.core.errors import escape as escape_text
from gsopt.core.numbers.grid import Number
from gsopt.core.result import plain
from gsopt.schedule.figures import FigureKind

#: Characters in a line of a page.
PAGE = 80

#: Characters between two columns.
_BETWEEN = 2

#: Names longer than this are folded if a column can stay for it; they get no narrower than the latter.
_LONG, _NARROWEST = 28, 12

#: Share from which one decimal of a per cent shows it, and the most decimals before powers of ten are shorter.
_LEAST_SHOWN, _MOST_DECIMALS = 0.0005, 6

#: Seconds from which tenths of one say nothing.
_DAY = 86_400

#: From here on a number is shown with one decimal, below with four digits.
_LARGE = 1000

#: Digits of a value and a bound, and to how many they grow where two different numbers would look alike.
_FEWEST_DIGITS, _MOST_DIGITS = 6, 17


@dataclass(frozen=True)
class Column:
    """A column of a table; what a terminal would obey in a cell is shown by its number.

    Of the columns that do not fit on a page, those of the highest rank are left out first, of rank 0 none.
    """

    name: str
    cells: Sequence[str]
    right: bool = True  # whether it is a column of numbers
    rank: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", [escape_text(cell) for cell in self.cells])

    @property
    def least(self) -> int:
        """Characters that it needs: a heading is broken at blanks, a cell is not."""
        return max(map(len, [*self.name.split(), *self.cells]), default=0)


def lay_out(
    columns: Sequence[Column],
    *,
    headings: Mapping[int, str] | None = None,
    notes: Iterable[str] = (),
    width: int = PAGE,
    elsewhere: str = "to_frame() and --json",
) -> RenderableType:
    """Lay columns out on a page; what does not fit on it is left out, and a line below says where to find it.

    `headings` stand above the line of their number, and `notes` below the table.
    """
    kept = list(columns)
    left_out: list[Column] = []
    while _needed(kept) > width and any(column.rank for column in kept):
        left_out.append(max(kept, key=lambda column: column.rank))
        kept.remove(left_out[-1])
    widths = _widths(kept, width)
    names = ", ".join(column.name for column in columns if column in left_out)
    told = [f"left out: {names}; {elsewhere} have them"] if names else []
    lines = len(columns[0].cells) if columns else 0
    above = headings or {}
    starts = sorted({0, *above})
    parts: list[RenderableType] = [_table(kept, widths, (), head=True)] if above else []
    for start, end in zip(starts, [*starts[1:], lines], strict=True):
        if start in above:
            parts.append(Text(escape_text(above[start]), style="bold", overflow="fold"))
        parts.append(_table(kept, widths, range(start, end), head=not above))
    parts += [Text(escape_text(note), overflow="fold") for note in [*notes, *told]]
    return Group(*parts)


def _needed(columns: Sequence[Column]) -> int:
    between = _BETWEEN * (len(columns) - 1)
    return between + sum(column.least if column.right else min(column.least, _LONG) for column in columns)


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Compute the width of each column: what it needs, and for names no more than is left."""
    widths = [column.least for column in columns]
    excess = sum(widths) + _BETWEEN * (len(columns) - 1) - width
    names = [place for place, column in enumerate(columns) if not column.right]
    while excess > 0 and names:
        place = max(names, key=lambda place: widths[place])
        if widths[place] <= _NARROWEST:
            break
        widths[place] -= 1
        excess -= 1
    return widths


def _table(columns: Sequence[Column], widths: Sequence[int], lines: Iterable[int], *, head: bool) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_header=head, show_edge=False, pad_edge=False, padding=(0, _BETWEEN - 1, 0, 0)
    )
    for column, width in zip(columns, widths, strict=True):
        side: Literal["right", "left"] = "right" if column.right else "left"
        table.add_column(escape_markup(column.name), justify=side, width=width, overflow="fold")
    for line in lines:
        table.add_row(*(escape_markup(column.cells[line]) for column in columns))
    return table


def markdown_of(columns: Sequence[Column]) -> str:
    r"""Return columns as a table in Markdown, whatever its width."""
    head = [column.name for column in columns]
    rule = ["--:" if column.right else ":--" for column in columns]
    lines = zip(*(column.cells for column in columns), strict=True)
    told = [" | ".join(cell.replace("|", r"\|") for cell in line) for line in [head, *lines]]
    return "\n".join([f"| {told[0]} |", f"|{'|'.join(rule)}|", *(f"| {line} |" for line in told[1:]), ""])


def text_of(table: RenderableType, width: int = PAGE) -> str:
    """Return a table as text without colour, in lines of at most so many characters."""
    text = StringIO()
    console = Console(file=text, width=width, no_color=True, force_jupyter=False, force_terminal=False)
    console.print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")


def html_of(table: RenderableType, width: int = PAGE) -> str:
    """Return a table as preformatted HTML, for notebooks."""
    return f"<pre>{escape(text_of(table, width))}</pre>"


def written(value: Any, kind: FigureKind) -> str:
    """Write a figure of a kind for a reader; a dash where there is none."""
    value = plain(value)
    if value is None:
        return "-"
    if kind is FigureKind.SHARE:
        return percent(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    if kind is FigureKind.SECONDS and abs(value) >= _DAY:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= _LARGE else f"{value:.4g}"


def told_apart(value: Number | None, bound: Number | None) -> tuple[str, str]:
    """Write a value and a bound with as many digits as it takes to tell them apart, if they differ."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        shown = _number(value, digits), _number(bound, digits)
        if shown[0] != shown[1] or value == bound:
            return shown
    return _number(value, _MOST_DIGITS), _number(bound, _MOST_DIGITS)


def _number(value: Number | None, digits: int = _FEWEST_DIGITS) -> str:
    simple = plain(value)
    if simple is None:
        return "-"
    if isinstance(simple, int):
        return f"{simple:,}"
    if abs(simple) >= _LARGE:
        return f"{simple:,.{1 + digits - _FEWEST_DIGITS}f}"
    return f"{simple:.{digits}g}"


def written_gap(gap: float | None, excess: Number | None) -> str:
    """Write a gap, or what a value exceeds a bound of 0 by where there is none."""
    if gap is not None:
        return percent(gap)
    return "-" if excess is None else f"+{_number(excess)}"


def percent(share: float) -> str:
    """Show a share in per cent with one decimal, or as many as it takes to see that it is not 0."""
    if share == 0 or abs(share) >= _LEAST_SHOWN:
        return f"{100 * share:,.1f} %"
    decimals = -floor(log10(abs(100 * share)))
    return f"{100 * share:.{decimals}f} %" if decimals <= _MOST_DECIMALS else f"{100 * share:.0e} %"
