"""Report: the results of a study as a table, for a terminal, a spreadsheet or a paper."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from gsopt.errors import InvalidInput, shorten
from gsopt.studies.grid import described
from gsopt.studies.outcome import State
from gsopt.studies.results import Results
from gsopt.studies.rows import Row
from gsopt.studies.statistics import statistic
from gsopt.studies.tables import html_of, text_of

#: What a table shows unless told otherwise, as far as the results have it.
_HEADLINE = (
    "objective",
    "mean_jct",
    "p99_jct",
    "makespan",
    "utilisation",
    "unfair_fraction",
    "worst_fairness",
    "preemptions_per_job",
    "lower_bound",
    "gap",
    "runtime",
)

#: Figures that are shares, shown in percent.
SHARES = frozenset({"gap", "own_gap", "utilisation", "unfair_fraction"})

#: From here on a table shows numbers with one decimal, below with four digits.
_LARGE = 1000

#: Characters; a wide table is scrolled, not folded.
_WIDTH = 1000

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
class Report:
    """A table of results.

    Attributes
    ----------
    names
        The columns by which cells are grouped.
    figures
        The columns of numbers.
    lines
        One value per column; None where there is none.
    shares
        The columns of numbers that are shares.

    Examples
    --------
    >>> print(Report(("method",), ("gap",), (("greedy", 0.25),), frozenset({"gap"})).markdown(), end="")
    | method | gap |
    |:--|--:|
    | greedy | 25.0% |
    """

    names: tuple[str, ...]
    figures: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]
    shares: frozenset[str] = frozenset()

    @property
    def header(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.names + self.figures

    def rich(self) -> Table:
        """Give the table for a terminal."""
        table = Table(box=box.SIMPLE_HEAD)
        for name in self.header:
            table.add_column(escape(name), justify="right" if name in self.figures else "left")
        previous = None
        for line in self.lines:
            if len(self.names) > 1 and previous not in (None, line[0]):
                table.add_section()
            previous = line[0]
            table.add_row(*map(escape, self._cells(line)))
        return table

    def text(self) -> str:
        """Give the table as plain text."""
        return text_of(self.rich(), _WIDTH) + "\n"

    def html(self) -> str:
        """Give the table as preformatted HTML, for notebooks."""
        return html_of(self.rich(), _WIDTH)

    def csv(self) -> str:
        """Give the table as CSV, numbers in full."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(["" if value is None else value for value in line] for line in self.lines)
        return text.getvalue()

    def json(self) -> str:
        """Give the table as a JSON array of objects, numbers in full."""
        return json.dumps([dict(zip(self.header, line, strict=True)) for line in self.lines], indent=1) + "\n"

    def markdown(self) -> str:
        """Give the table in Markdown."""
        rule = [":--"] * len(self.names) + ["--:"] * len(self.figures)
        lines = [[cell.replace("|", r"\|") for cell in line] for line in [self.header, *self._text()]]
        return "".join([_barred(lines[0], " "), _barred(rule, ""), *(_barred(line, " ") for line in lines[1:])])

    def latex(self) -> str:
        """Give the table in LaTeX, with the rules of the package booktabs."""
        columns = "l" * len(self.names) + "r" * len(self.figures)
        head, *body = (
            " & ".join(cell.translate(_LATEX) for cell in line) + r" \\"
            for line in [self.header, *self._text()]
        )
        parts = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
        return "\n".join([*parts, r"\bottomrule", r"\end{tabular}", ""])

    def _text(self) -> Iterable[list[str]]:
        return map(self._cells, self.lines)

    def _cells(self, line: Sequence[Any]) -> list[str]:
        shown = [described(value) for value in line[: len(self.names)]]
        numbers = zip(self.figures, line[len(self.names) :], strict=True)
        return shown + [_number(value, share=name in self.shares) for name, value in numbers]


def report(
    found: Results,
    *,
    by: Sequence[str] = (),
    figures: Sequence[str] = (),
    statistics: Sequence[str] = (),
    relative_to: str = "",
) -> Report:
    """Group the cells of a study and give statistics of their figures.

    Parameters
    ----------
    found
        The results.
    by
        Columns: ``group``, ``instance``, ``method``, ``seed``, or an option of instances or methods; group and
        method if none is given.
    figures
        Figures; the usual ones if none is given.
    statistics
        As `gsopt.studies.statistics.statistic`; the mean if none is given.
    relative_to
        A method by whose figure on the same instance (the mean over its seeds) every figure is divided; where
        that is 0 or missing, the quotient is left out.

    Raises
    ------
    InvalidInput
        There is no such column, figure, statistic or method.

    Examples
    --------
    >>> report(Results("example", (), 0)).header
    ('group', 'method', 'cells')
    """
    names = tuple(by) or ("group", "method")
    chosen = tuple(figures) or headline(found.rows)
    summaries = {name: statistic(name) for name in statistics or ("mean",)}
    _refuse_unknown("by", names, ["group", "method", *_columns(found.rows)])
    _refuse_unknown("figure", chosen, numeric_figures(found.rows))
    groups: dict[str, list[Row]] = {}
    for row in found.rows:
        groups.setdefault(json.dumps([row.columns.get(name) for name in names]), []).append(row)
    bases = baselines(found.rows, relative_to, chosen) if relative_to else None
    if bases is not None:  # leave out what the method has no part in
        chosen = tuple(name for name in chosen if figures or any(figure == name for _, figure in bases))
        groups = {
            key: rows for key, rows in groups.items() if any(values_of(rows, each, bases) for each in chosen)
        }
    lost = any(row.outcome.state is not State.DONE for row in found.rows)
    heads = {
        _head(figure, name, relative_to, plain=not statistics): (figure, name)
        for figure in chosen
        for name in summaries
    }
    lines = [
        (
            *json.loads(key),
            sum(row.outcome.state is State.DONE for row in rows),
            *([sum(row.outcome.state is not State.DONE for row in rows)] if lost else []),
            *(summaries[name](values_of(rows, figure, bases)) for figure, name in heads.values()),
        )
        for key, rows in groups.items()
    ]
    shares = [head for head, (figure, _) in heads.items() if figure in SHARES and not relative_to]
    counts = ("cells", "without result") if lost else ("cells",)
    return Report(names, (*counts, *heads), tuple(lines), frozenset(shares))


def cells_csv(found: Results) -> str:
    """Give every cell as a line of CSV, with names, options, state and all figures."""
    lines = [row.as_dict() for row in found.rows]
    names = list(dict.fromkeys(name for line in lines for name in line))
    text = StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def numeric_figures(rows: Iterable[Row]) -> list[str]:
    """Name the figures that are numbers in some row."""
    names = ((name, value) for row in rows for name, value in row.figures.items())
    return list(dict.fromkeys(name for name, value in names if _is_number(value)))


def headline(rows: Sequence[Row]) -> tuple[str, ...]:
    """Name the figures that are shown unless told otherwise."""
    known = numeric_figures(rows)
    return tuple(name for name in _HEADLINE if name in known)


def values_of(
    rows: Iterable[Row], figure: str, bases: Mapping[tuple[str, str], float] | None = None
) -> list[float]:
    """Give a figure of each row that has it; as a multiple of the instance's baseline when there are some."""
    pairs = [(row, row.figures.get(figure)) for row in rows]
    numbers = [(row, value) for row, value in pairs if value is not None and _is_number(value)]
    if bases is None:
        return [value for _, value in numbers]
    divided = [(value, bases.get((row.instance_key, figure))) for row, value in numbers]
    return [value / base for value, base in divided if base]


def baselines(rows: Sequence[Row], method: str, figures: Iterable[str]) -> dict[tuple[str, str], float]:
    """Give, by instance and figure, the mean over the seeds of one method.

    Raises
    ------
    InvalidInput
        There is no such method.
    """
    _refuse_unknown("relative_to", [method], dict.fromkeys(str(row.labels.method) for row in rows))
    mean = statistic("mean")
    instances: dict[str, list[Row]] = {}
    for row in rows:
        if str(row.labels.method) == method:
            instances.setdefault(row.instance_key, []).append(row)
    means = {
        (key, figure): mean(values_of(group, figure)) for key, group in instances.items() for figure in figures
    }
    return {place: value for place, value in means.items() if value is not None}


def _columns(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.columns))


def _refuse_unknown(what: str, wanted: Iterable[str], known: Iterable[str]) -> None:
    there = list(dict.fromkeys(known))
    for name in wanted:
        if name not in there:
            rule = f"must be one of {', '.join(there)}" if there else "is not among the results, which are none"
            raise InvalidInput("", what, shorten(name), rule)


def _head(figure: str, name: str, relative_to: str, *, plain: bool) -> str:
    head = figure if plain else f"{name} {figure}"
    return f"{head} / {relative_to}" if relative_to else head


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _barred(cells: Sequence[str], space: str) -> str:
    return "|" + "|".join(f"{space}{cell}{space}" for cell in cells) + "|\n"


def _number(value: Any, *, share: bool) -> str:
    if value is None:
        return "-"
    if share:
        return f"{value:.1%}"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= _LARGE else f"{value:.4g}"
