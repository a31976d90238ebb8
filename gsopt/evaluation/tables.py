"""Tables: columns laid out for a terminal, a notebook or a paper, with the same number formats in all."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from math import floor, log10
from statistics import median
from typing import Any, Literal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape as escape_markup
from rich.table import Table
from rich.text import Text

from gsopt.core.drawing import time_unit
from gsopt.core.errors import escape as escape_text
from gsopt.core.numbers.grid import Number
from gsopt.core.result import plain
from gsopt.schedule.figures import FIGURES, FigureKind, Record

#: Width of a page in characters.
PAGE = 80

#: Number of spaces between two columns.
_BETWEEN = 2

#: Width from which names are folded to make room for another column, and minimum width of folded names.
_LONG, _NARROWEST = 28, 12

#: Highest rank of a column that is shown on paper.
PAPER_RANK = 3

#: Smallest fraction that a percentage with one decimal can show, and the maximum number of decimals, beyond
#: which powers of ten are used instead.
_LEAST_SHOWN, _MOST_DECIMALS = 0.0005, 6

#: Number from which numbers are shown with one decimal, and number of significant digits of smaller ones.
_LARGE, _DIGITS = 1000, 4

#: Ratio of the largest to the smallest number of a column from which numbers differ in their decimals.
_UNLIKE = 100

#: Run time in seconds from which a column is in seconds rather than milliseconds, smallest number shown without
#: decimals, and smallest number shown at all.
_LONG_RUN, _WHOLE, _LEAST_TIME = 10, 100, 0.01

#: The length of a time unit in seconds, and its name.
TimeUnit = tuple[float, str]

#: Number of digits of a value and a bound, and the maximum number used to tell two different numbers apart.
_FEWEST_DIGITS, _MOST_DIGITS = 6, 17

#: The unit of times in data, as it appears in titles.
_SECONDS = " [s]"

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Control characters in cells are escaped.

    If a table is too wide for its page, columns of the highest rank are left out first. Columns of rank 0 are
    never left out.
    """

    name: str
    cells: Sequence[str]
    right: bool = True  # whether it is a column of numbers
    rank: int = 0
    best: Collection[int] = ()  # the lines with the best value, which are bold on paper

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", [escape_text(cell) for cell in self.cells])

    @property
    def least(self) -> int:
        """Minimum width of the column if its heading may break at spaces, but no cell may break."""
        return max(map(len, [*self.name.split(), *self.cells]), default=0)


def lay_out(
    columns: Sequence[Column],
    *,
    headings: Mapping[int, str] | None = None,
    notes: Iterable[str] = (),
    width: int = PAGE,
    elsewhere: str = "to_frame() and --json",
) -> RenderableType:
    """Return columns as a table of at most `width` characters, if possible.

    Columns that do not fit are left out, unless their rank is 0. A line below the table lists their names,
    followed by `elsewhere`, which says where to find them.

    `headings` maps the index of a line to the heading above it. `notes` are printed below the table.
    """
    kept = list(columns)
    left_out: list[Column] = []
    while _needed(kept) > width and any(column.rank for column in kept):
        left_out.append(max(kept, key=lambda column: column.rank))
        kept.remove(left_out[-1])
    widths = _widths(kept, width)
    told = _left_out([column.name for column in columns if column in left_out], elsewhere)
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
    """Return the width of each column.

    Numbers get the width that they need, while names share the remaining width.
    """
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


def on_paper(columns: Sequence[Column], notes: Sequence[str] = ()) -> tuple[list[Column], list[str]]:
    """Return the columns to show in a paper, and the notes, with one more that names any columns left out."""
    kept = [column for column in columns if column.rank <= PAPER_RANK]
    others = [column.name for column in columns if column not in kept]
    return kept, [*notes, *_left_out(others, "to_csv() and to_frame()")]


def _left_out(names: Sequence[str], elsewhere: str) -> list[str]:
    return [f"left out: {', '.join(names)}; {elsewhere} have them"] if names else []


def markdown_of(columns: Sequence[Column], notes: Iterable[str] = ()) -> str:
    r"""Return columns as a Markdown table, however wide, with the notes below it."""
    rule = "|".join("--:" if column.right else ":--" for column in columns)
    head, *body = _lines(columns, lambda cell: cell.replace("|", r"\|"), "**{}**", " | ")
    lines = [f"| {head} |", f"|{rule}|", *(f"| {line} |" for line in body), ""]
    return "\n".join(lines) + "".join(f"\n{note}\n" for note in notes)


def latex_of(columns: Sequence[Column], notes: Iterable[str] = ()) -> str:
    r"""Return columns as a LaTeX tabular with booktabs rules, and the notes as comments."""
    sides = "".join("r" if column.right else "l" for column in columns)
    head, *body = _lines(columns, latex_text, r"\textbf{{{}}}", " & ")
    rows = [rf"{head} \\", r"\midrule", *(rf"{line} \\" for line in body)]
    parts = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", *rows, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*parts, *(f"% {' '.join(note.split())}" for note in notes), ""])


def latex_text(text: str) -> str:
    """Return a string with the special characters of LaTeX escaped."""
    return text.translate(_LATEX)


def _lines(columns: Sequence[Column], escaped: Callable[[str], str], bold: str, between: str) -> list[str]:
    """Return the header of a table and its lines, in the syntax of a paper's format."""
    head = between.join(escaped(column.name) for column in columns)
    lines = range(len(columns[0].cells) if columns else 0)
    return [head, *(between.join(_cell(column, line, escaped, bold) for column in columns) for line in lines)]


def _cell(column: Column, line: int, escaped: Callable[[str], str], bold: str) -> str:
    cell = escaped(column.cells[line])
    return bold.format(cell) if line in column.best else cell


def text_of(table: RenderableType, width: int = PAGE) -> str:
    """Return a table as plain text in lines of at most `width` characters."""
    text = StringIO()
    console = Console(file=text, width=width, no_color=True, force_jupyter=False, force_terminal=False)
    console.print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")


def html_of(table: RenderableType, width: int = PAGE) -> str:
    """Return a table as preformatted HTML, for notebooks."""
    return f"<pre>{escape(text_of(table, width))}</pre>"


def figure_column(
    title: str,
    values: Sequence[Any],
    kind: FigureKind,
    *,
    unit: TimeUnit | None = None,
    rank: int = 0,
    best: bool = False,
) -> Column:
    """Return the column of a figure such as the mean JCT. By default, the unit suits the largest time.

    If `best` is true, the cell of the smallest value and all cells with the same text are bold in papers,
    but not if all cells have this text.
    """
    numbers = [plain(value) for value in values]
    if kind is FigureKind.SECONDS:
        seconds, name = unit or time_unit(max((abs(each) for each in numbers if each is not None), default=0))
        title = f"{title.removesuffix(_SECONDS)} [{name}]"
        numbers = [None if each is None else each / seconds for each in numbers]
    cells = _aligned(numbers, kind)
    _, least = min(
        ((each, cell) for each, cell in zip(numbers, cells, strict=True) if each is not None), default=(0, "")
    )
    bold = [line for line, cell in enumerate(cells) if best and cell == least]
    return Column(title, cells, rank=rank, best=bold if len(bold) < len(cells) else ())


def _aligned(numbers: Sequence[Any], kind: FigureKind) -> list[str]:
    """Format the numbers of a column, with equally many decimals unless they differ too much in size."""
    cells = [written(number, kind) for number in numbers]
    sizes = [abs(number) for number in numbers if number]
    if kind is FigureKind.SHARE or not any("." in cell for cell in cells) or "e" in "".join(cells):
        return cells
    if max(sizes) >= _UNLIKE * min(sizes):
        return cells
    most = 1 if max(sizes) >= _LARGE else _DIGITS - 1 - floor(log10(max(sizes)))
    decimals = min(most, max(len(cell.partition(".")[2]) for cell in cells))
    return [f"{number:,.{decimals}f}" if number else cell for number, cell in zip(numbers, cells, strict=True)]


def common_unit(values: Iterable[Any]) -> TimeUnit:
    """Return the time unit for several columns, chosen to suit the median of all values."""
    return time_unit(median([float(value) for value in values if value is not None] or [0.0]))


def in_unit(seconds: Any, unit: TimeUnit) -> str:
    """Format a time in the given unit, as in ``2.5 h``."""
    return f"{written(float(seconds) / unit[0], FigureKind.SECONDS)} {unit[1]}"


def runtime_column(title: str, seconds: Sequence[float | None], *, rank: int = 0) -> Column:
    """Return a column of run times, in milliseconds if all are below ten seconds, otherwise in seconds."""
    longest = max((each for each in seconds if each is not None), default=0.0)
    unit, name = (0.001, "ms") if longest < _LONG_RUN else (1.0, "s")
    cells = ["" if each is None else _short(each / unit) for each in seconds]
    return Column(f"{title} [{name}]", cells, rank=rank)


def _short(number: float) -> str:
    if number >= _WHOLE:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 1 else f"{number:.2f}" if number >= _LEAST_TIME else f"<{_LEAST_TIME}"


def figure_list(record: Record) -> list[Column]:
    """Return two columns, the names and the values of a schedule's figures, with all times in the same unit."""
    figures = [(each, getattr(record, each.key)) for each in FIGURES]
    shown = [(each, value) for each, value in figures if value is not None]
    unit = common_unit(value for each, value in shown if each.kind is FigureKind.SECONDS)
    columns = [figure_column(each.title, [value], each.kind, unit=unit) for each, value in shown]
    titles, values = [column.name for column in columns], [column.cells[0] for column in columns]
    return [Column("figure", titles, right=False), Column("value", values)]


def written(value: Any, kind: FigureKind) -> str:
    """Format a figure according to its kind, with a dash for None."""
    value = plain(value)
    if value is None:
        return "-"
    if kind is FigureKind.SHARE:
        return percent(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= _LARGE else f"{value:.{_DIGITS}g}"


def told_apart(value: Number | None, bound: Number | None) -> tuple[str, str]:
    """Format a value and a bound, with more digits if they would otherwise look equal; a dash for None."""
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
    """Format a gap in per cent or, if it is None, the excess over the bound; a dash if both are None."""
    if gap is not None:
        return percent(gap)
    return "-" if excess is None else f"+{_number(excess)}"


def percent(share: float) -> str:
    """Format a fraction in per cent, with one decimal unless a nonzero fraction would then read 0."""
    if share == 0 or abs(share) >= _LEAST_SHOWN:
        return f"{100 * share:,.1f} %"
    decimals = -floor(log10(abs(100 * share)))
    return f"{100 * share:.{decimals}f} %" if decimals <= _MOST_DECIMALS else f"{100 * share:.0e} %"
