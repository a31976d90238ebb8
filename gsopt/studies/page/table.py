"""Table: lines of a page, of which each entry has a text and perhaps the number by which it is sorted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gsopt.core.result import plain
from gsopt.evaluation.tables import written
from gsopt.schedule.figures import FigureKind
from gsopt.studies.grid import described


@dataclass(frozen=True)
class Head:
    """The head of a column.

    Attributes
    ----------
    title
        Its name.
    number
        Whether its entries are numbers.
    """

    title: str
    number: bool = False


@dataclass(frozen=True)
class Entry:
    """What stands in a line below a head.

    Attributes
    ----------
    text
        As a reader sees it.
    value
        The exact number; None for a text, or where there is no number.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True)
class Table:
    """A table of a page.

    Attributes
    ----------
    heads
        Its columns.
    lines
        An entry per column.
    total
        How many lines there would be, if a page had room for all.
    """

    heads: tuple[Head, ...]
    lines: tuple[tuple[Entry, ...], ...]
    total: int


def table(heads: Sequence[Head], lines: Iterable[Sequence[Entry]], *, most: int) -> Table:
    """Make a table of no more than some of the lines."""
    rest = iter(lines)
    shown = tuple(tuple(line) for line in islice(rest, most))
    return Table(tuple(heads), shown, len(shown) + sum(1 for _ in rest))


def text(value: Any) -> Entry:
    """Return an entry that is a name."""
    return Entry(described(value))


def number(value: Any, kind: FigureKind) -> Entry:
    """Return an entry that is a number of a kind; a dash where there is none."""
    return Entry(written(value, kind), plain(value))
