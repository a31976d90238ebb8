"""Table: lines of a page, in which each number has a text and the exact value by which it is sorted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from gsopt.core.result import plain
from gsopt.evaluation.tables import written
from gsopt.schedule.figures import FigureKind
from gsopt.studies.grid import described


@dataclass(frozen=True)
class Head:
    """The head of a column: its title, and which kind of numbers stand below it; None for names."""

    title: str
    kind: FigureKind | None = None

    @property
    def number(self) -> bool:
        """Whether the column has numbers."""
        return self.kind is not None


class Entry(NamedTuple):
    """What a reader sees below a head, and the exact number; None for a name, or where there is no number."""

    text: str
    value: float | None = None


@dataclass(frozen=True)
class Table:
    """A table of a page, with the number of lines that it would have if there were room for all."""

    heads: tuple[Head, ...]
    lines: tuple[tuple[Entry, ...], ...]
    total: int


def table(heads: Sequence[Head], lines: Iterable[Sequence[Any]], *, most: int) -> Table:
    """Make a table of the first lines, which have a value per column."""
    rest = iter(lines)
    shown = tuple(tuple(map(_entry, heads, line)) for line in islice(rest, most))
    return Table(tuple(heads), shown, len(shown) + sum(1 for _ in rest))


def _entry(head: Head, value: Any) -> Entry:
    return Entry(described(value)) if head.kind is None else Entry(written(value, head.kind), plain(value))
