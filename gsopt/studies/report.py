"""Report: a table of the results of a study for a terminal, a spreadsheet or a paper."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.console import RenderableType

from gsopt.core.errors import InvalidInput, shorten
from gsopt.evaluation.listing import Listing, csv_of
from gsopt.evaluation.tables import (
    PAPER_RANK,
    Column,
    figure_column,
    html_of,
    latex_of,
    lay_out,
    markdown_of,
    text_of,
)
from gsopt.schedule.figures import FIGURES, Figure, FigureKind, figure_of
from gsopt.studies.grid import Label, described
from gsopt.studies.rows import CellRow, CellState
from gsopt.studies.statistics import statistic

#: Figures that a cell may have in addition to those of a schedule.
CELL_FIGURES = (
    Figure("objective", "objective", FigureKind.COUNT, rank=1),
    Figure("bound", "own bound", FigureKind.COUNT),
    Figure("own_gap", "gap to own bound", FigureKind.SHARE),
    Figure("proven_bound", "proven bound", FigureKind.COUNT),
    Figure("runtime", "run time", FigureKind.SECONDS, "s", rank=4),
    Figure("decision_median", "median decision", FigureKind.SECONDS, "s"),
    Figure("decision_p99", "p99 decision", FigureKind.SECONDS, "s"),
)

#: Rank of the columns that count cells, if all lines have the same count. They are left out before any figure
#: that is shown by default. Means over different numbers of cells are hard to compare, so then the counts stay.
_COUNTS_RANK = 9

#: A word that, in place of a method's name, stands for the smallest figure of any method on an instance.
LEAST = "least"

#: Options and formats that show the figures that a table leaves out.
_ELSEWHERE = "--figure, CSV and JSON"


@dataclass(frozen=True)
class Report:
    """A table of the results of a study, with a row for each group of the study's cells.

    Attributes
    ----------
    names
        Names of the columns that say which cells a row stands for, such as ``method``.
    counts
        Names of the columns with numbers of cells.
    figures
        The columns with a statistic of a figure, such as its mean.
    lines
        The rows, each with one value per column; None marks a missing value.

    Examples
    --------
    >>> gap = Heading("gap", figure_of("gap"))
    >>> print(Report(("method",), (), (gap,), (("greedy", 0.25),)).markdown(), end="")
    | method | gap |
    |:--|--:|
    | greedy | 25.0 % |
    """

    names: tuple[str, ...]
    counts: tuple[str, ...]
    figures: tuple["Heading", ...]
    lines: tuple[tuple[Any, ...], ...]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of all columns, as used in data files."""
        return self.names + self.counts + tuple(each.key for each in self.figures)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of all columns, as shown to a reader."""
        return self.names + self.counts + tuple(each.title for each in self.figures)

    @property
    def kinds(self) -> tuple[FigureKind | None, ...]:
        """The kind of numbers in each column; None for columns of names."""
        names, counts = [None] * len(self.names), [FigureKind.COUNT] * len(self.counts)
        return (*names, *counts, *(each.kind for each in self.figures))

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of the table as shown to a reader."""
        names = len(self.names)
        ranks = [
            *([0] * names),
            *(
                _COUNTS_RANK if len({line[names + place] for line in self.lines}) <= 1 else 0
                for place in range(len(self.counts))
            ),
            *(each.rank for each in self.figures),
        ]
        found = []
        for place, (title, kind, rank) in enumerate(zip(self.titles, self.kinds, ranks, strict=True)):
            values = [line[place] for line in self.lines]
            if kind is None:
                cells = ["-" if value is None else described(value) for value in values]
                found.append(Column(title, cells, right=False, rank=rank))
            else:
                found.append(figure_column(title, values, kind, rank=rank))
        return found

    def rich(self) -> RenderableType:
        """Return the table for display in a terminal.

        If cells are grouped by several columns, the first of them is replaced by headings. If the table is
        wider than a page, minor columns are left out, and their names are listed below it.
        """
        if len(self.names) <= 1:
            return lay_out(self.columns, elsewhere=_ELSEWHERE)
        return lay_out(self.columns[1:], headings=self._headings(), elsewhere=_ELSEWHERE)

    def _headings(self) -> dict[int, str]:
        name = "" if self.names[0] == "group" else f"{self.names[0]} "
        values = [described(line[0]) for line in self.lines]
        changes = (place for place, value in enumerate(values) if place == 0 or value != values[place - 1])
        return {place: f"{name}{values[place]}" for place in changes}

    def text(self) -> str:
        """Return the table as plain text."""
        return text_of(self.rich()) + "\n"

    def html(self) -> str:
        """Return the table as preformatted HTML, for notebooks."""
        return html_of(self.rich())

    def csv(self) -> str:
        """Return the table as CSV with unrounded numbers."""
        return csv_of(self.header, self.lines)

    def json(self) -> str:
        """Return the table as a JSON array of objects with unrounded numbers."""
        return json.dumps([dict(zip(self.header, line, strict=True)) for line in self.lines], indent=1) + "\n"

    def markdown(self) -> str:
        """Return the table in Markdown, without minor figures, whose names are listed below it.

        Figures that were requested by name are always kept.
        """
        return markdown_of(*self._on_paper())

    def latex(self) -> str:
        """Return the table in LaTeX, with booktabs rules and the same columns as `markdown`."""
        return latex_of(*self._on_paper())

    def _on_paper(self) -> tuple[list[Column], list[str]]:
        """Return the columns that fit in a paper, and a note that names the others."""
        fixed = len(self.names) + len(self.counts)
        shown = [place < fixed or column.rank <= PAPER_RANK for place, column in enumerate(self.columns)]
        kept = [column for column, keep in zip(self.columns, shown, strict=True) if keep]
        names = [column.name for column, keep in zip(self.columns, shown, strict=True) if not keep]
        return kept, [f"left out: {', '.join(names)}; {_ELSEWHERE} have them"] if names else []


@dataclass(frozen=True)
class Heading:
    """The heading of a column that shows a figure, either on request or by default."""

    key: str  # name in data files, made of the figure, the statistic and `relative_to`
    figure: Figure | None  # None if only the problem defines it
    statistic: str = ""
    relative_to: str = ""
    asked: bool = False

    @property
    def title(self) -> str:
        """The title of the column, as shown to a reader."""
        if self.figure is None:
            return self.key
        title = self.figure.label if self.relative_to else self.figure.title
        return _head(title, self.statistic, self.relative_to)

    @property
    def kind(self) -> FigureKind:
        """The kind of numbers in the column."""
        if self.relative_to:
            return FigureKind.RATIO
        return FigureKind.COUNT if self.figure is None else self.figure.kind

    @property
    def rank(self) -> int:
        """The rank of the column: the higher it is, the sooner a table leaves the column out."""
        return 1 if self.asked or self.figure is None else self.figure.rank - 1


def report(
    found: Listing[CellRow],
    *,
    by: Sequence[str] = (),
    figures: Sequence[str] = (),
    statistics: Sequence[str] = (),
    relative_to: str = "",
) -> Report:
    """Group the cells of a study, and return statistics of their figures.

    Parameters
    ----------
    found
        The results.
    by
        Columns by which to group: ``group``, ``instance``, ``method``, ``seed``, or an option of instances or
        methods; by default, group and method.
    figures
        Names of figures; by default, the main ones that are numbers in at least one cell.
    statistics
        Names as in `gsopt.studies.statistics.statistic`; by default, the mean.
    relative_to
        Method to compare with: every figure is divided by the mean of that method's figure over its seeds on
        the same instance. With ``least``, the divisor is the smallest such mean of any method. Cells whose
        divisor is 0 or missing are left out of the statistics, and groups without any quotient are left out of
        the table.

    Raises
    ------
    InvalidInput
        A column, figure, statistic or method does not exist.

    Examples
    --------
    >>> from gsopt.studies import Results
    >>> report(Results("example", (), 0)).header
    ('group', 'method', 'cells')
    """
    names = tuple(by) or ("group", "method")
    chosen = tuple(figures) or headline(found.rows)
    summaries = {name: statistic(name) for name in statistics or ("mean",)}
    _refuse_unknown("by", names, ["group", "method", *_columns(found.rows)])
    _refuse_unknown("figure", chosen, numeric_figures(found.rows))
    groups: dict[str, list[CellRow]] = {}
    for row in found.rows:
        groups.setdefault(json.dumps([_named(row, name, names) for name in names]), []).append(row)
    bases = baselines(found.rows, relative_to, chosen) if relative_to else None
    if bases is not None:  # leave out what the method has no part in
        chosen = tuple(name for name in chosen if figures or any(figure == name for _, figure in bases))
        groups = {
            key: rows for key, rows in groups.items() if any(values_of(rows, each, bases) for each in chosen)
        }
    lost = any(row.outcome.state is not CellState.DONE for row in found.rows)
    heads = [
        Heading(_head(key, name, relative_to), figure_of(key, CELL_FIGURES), name, relative_to, bool(figures))
        for key in chosen
        for name in (statistics or ("",))
    ]
    plans = [(key, summary) for key in chosen for summary in summaries.values()]
    lines = [
        (
            *json.loads(key),
            sum(row.outcome.state is CellState.DONE for row in rows),
            *([sum(row.outcome.state is not CellState.DONE for row in rows)] if lost else []),
            *(summary(values_of(rows, key, bases)) for key, summary in plans),
        )
        for key, rows in groups.items()
    ]
    counts = ("cells", "without result") if lost else ("cells",)
    return Report(names, counts, tuple(heads), tuple(lines))


def numeric_figures(rows: Iterable[CellRow]) -> list[str]:
    """Return the names of the figures that are numbers in at least one row."""
    names = ((name, value) for row in rows for name, value in row.figures.items())
    return list(dict.fromkeys(name for name, value in names if is_number(value)))


def headline(rows: Sequence[CellRow]) -> tuple[str, ...]:
    """Return the names of the main figures (those with a rank) that are numbers in at least one row."""
    known = numeric_figures(rows)
    first, *others = CELL_FIGURES
    return tuple(each.key for each in (first, *FIGURES, *others) if each.rank and each.key in known)


def values_of(
    rows: Iterable[CellRow], figure: str, bases: Mapping[tuple[str, str], float] | None = None
) -> list[float]:
    """Return the values of a figure, divided by the baselines of their instances if baselines are given.

    Values that are not numbers are left out, as are those whose baseline is 0 or missing.
    """
    pairs = [(row, row.figures.get(figure)) for row in rows]
    numbers = [(row, value) for row, value in pairs if value is not None and is_number(value)]
    if bases is None:
        return [value for _, value in numbers]
    divided = [(value, bases.get((row.instance_key, figure))) for row, value in numbers]
    return [value / base for value, base in divided if base]


def baselines(rows: Sequence[CellRow], method: str, figures: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return the means by which figures are divided, keyed by instance and figure.

    Each is the mean over the seeds of the given method, or the smallest such mean of any method if `method` is
    `LEAST`.
    """
    names = list(dict.fromkeys(str(row.labels.method) for row in rows))
    _refuse_unknown("relative_to", [method], [*names, LEAST])
    mean = statistic("mean")
    groups: dict[tuple[str, str], list[CellRow]] = {}
    for row in rows:
        groups.setdefault((row.instance_key, str(row.labels.method)), []).append(row)
    found: dict[tuple[str, str], float] = {}
    for (instance, name), group in groups.items():
        if name == method or method not in names:
            for figure in figures:
                value = mean(values_of(group, figure))
                if value is not None:
                    found[instance, figure] = min(value, found.get((instance, figure), value))
    return found


def _named(row: CellRow, column: str, columns: Sequence[str]) -> Any:
    """Return the value of a row in a column.

    Names omit options that have columns of their own.
    """
    if column in ("group", "instance", "method"):
        label: Label = getattr(row.labels, column)
        return label.without(*columns)
    return row.columns.get(column)


def _columns(rows: Iterable[CellRow]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.columns))


def _refuse_unknown(what: str, wanted: Iterable[str], known: Iterable[str]) -> None:
    there = list(dict.fromkeys(known))
    for name in wanted:
        if name not in there:
            rule = f"must be one of {', '.join(there)}" if there else "is not among the results: there are none"
            raise InvalidInput(what, shorten(name), rule)


def _head(figure: str, name: str, relative_to: str) -> str:
    head = f"{name} {figure}" if name else figure
    return f"{head} / {relative_to}" if relative_to else head


def is_number(value: Any) -> bool:
    """Check whether a value is a number and not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)
