"""Table: tables on a page, in which each number has a display text and an exact value for sorting."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from gsopt.core.drawing import time_unit
from gsopt.core.result import plain
from gsopt.evaluation.tables import written
from gsopt.schedule.figures import FigureKind
from gsopt.studies.grid import described


@dataclass(frozen=True)
class Head:
    """The heading of a column: its title, and the kind of numbers in it, or None if it holds names."""

    title: str
    kind: FigureKind | None = None
    like: str = ""  # title of an earlier column with the same unit

    @property
    def number(self) -> bool:
        """Whether the column holds numbers."""
        return self.kind is not None


class Entry(NamedTuple):
    """A cell of a table: its text, and its exact number, or None if it does not hold a number."""

    text: str
    value: float | None = None


@dataclass(frozen=True)
class Table:
    """A table on a page, and the number of lines that it would have if it were not truncated."""

    heads: tuple[Head, ...]
    lines: tuple[tuple[Entry, ...], ...]
    total: int


def table(heads: Sequence[Head], lines: Iterable[Sequence[Any]], *, most: int) -> Table:
    """Return a table of the first `most` lines, with long times in a larger unit.

    Each line has one value per column.
    """
    rest = iter(lines)
    shown = [list(map(plain, line)) for line in islice(rest, most)]
    total = len(shown) + sum(1 for _ in rest)
    named: list[Head] = []
    columns: list[list[Entry]] = []
    units: dict[str, tuple[float, str]] = {}
    for place, head in enumerate(heads):
        values = [line[place] for line in shown]
        if head.kind is FigureKind.SECONDS:
            longest = max((abs(value) for value in values if value is not None), default=0.0)
            units[head.title] = units[head.like] if head.like in units else time_unit(longest)
        scale, name = units.get(head.title, (1, "s"))
        named.append(replace(head, title=head.title.replace("[s]", f"[{name}]")))
        columns.append([_entry(head, value, scale) for value in values])
    return Table(tuple(named), tuple(zip(*columns, strict=True)), total)


def _entry(head: Head, value: Any, unit: float) -> Entry:
    if head.kind is None:
        return Entry(described(value))
    return Entry(written(value if value is None or unit == 1 else value / unit, head.kind), value)
