"""Comparison: the results of several methods on instances, shown as a table, a data frame or a plot."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from rich.console import RenderableType

from gsopt.core.errors import Contradiction, InvalidInput, shorten
from gsopt.core.files import parse_json, read_text, validated
from gsopt.core.numbers.grid import exact_total
from gsopt.core.problem import Frozen, Many, Number, Problem, Sense
from gsopt.core.result import Claim, Result, Status, agree, plain, relative_gap, settle, settles
from gsopt.evaluation.listing import Listing, need
from gsopt.evaluation.tables import Column, lay_out, runtime_column, told_apart, written_gap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Maximum number of groups into which a summary divides a suite by headline figures.
_MOST_GROUPS = 4


@dataclass(frozen=True)
class ComparisonRow:
    """The result of one method on one instance.

    Attributes
    ----------
    instance, method
        Names of the instance and of the method.
    kind
        ``exact`` or ``heuristic``.
    problem
        The instance.
    result
        Result of the method, or None if the method failed or does not handle the instance.
    bound
        Best bound that any method proved for the instance, or None.
    optimum_known
        Whether the value of some method equals that bound.
    note
        Reason why there is no result, if there is none.
    failed
        Whether the method raised an error, which `note` then describes.
    """

    instance: str
    method: str
    kind: str
    problem: Problem[Any] = field(repr=False)
    result: Result[Any] | None
    bound: Number | None = None
    optimum_known: bool = False
    note: str = ""
    failed: bool = False

    @property
    def excess(self) -> Number | None:
        """Distance of the value from the best bound, in the objective's unit; None if either is missing."""
        if self.result is None or self.result.objective is None or self.bound is None:
            return None
        return abs(Fraction(self.result.objective) - Fraction(self.bound))

    @property
    def gap(self) -> float | None:
        """Gap between the value and the best bound, as in `relative_gap`; 0 if they differ only by rounding."""
        value = None if self.result is None else self.result.objective
        met = value is not None and settles(value, self.bound, self.problem.resolution(value))
        return 0.0 if met else relative_gap(value, self.bound)

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON types."""
        found = self.result
        return {
            "instance": self.instance,
            **self.problem.headline(),
            "method": self.method,
            "kind": self.kind,
            "status": None if found is None else found.status.value,
            "objective": None if found is None else plain(found.objective),
            "bound": plain(self.bound),
            "gap": self.gap,
            "runtime": None if found is None else found.runtime,
            "level": None if found is None else found.level.value,
            "failed": self.failed,
            "note": self.note or ("" if found is None else found.message),
        }


@dataclass(frozen=True, repr=False)
class Comparison(Listing[ComparisonRow]):
    """The rows of a comparison, grouped by instance.

    A comparison prints as a table and is shown as one in notebooks.

    Attributes
    ----------
    rows
        One row for each method on each instance.
    interrupted
        Whether Ctrl-C ended the comparison early.

    Examples
    --------
    >>> import gsopt
    >>> from formulations.reclaiming import exact
    >>> from heuristics.reclaiming import greedy
    >>> comparison = gsopt.compare(gsopt.load("reclaiming/aryl-figure-5"), [exact, greedy])
    >>> [(row.method, row.result.objective, row.gap) for row in comparison]
    [('exact', 1, 0.0), ('greedy', 1, 0.0)]
    """

    rows: tuple[ComparisonRow, ...]
    interrupted: bool = False

    def __add__(self, other: "Comparison") -> "Comparison":
        return Comparison(self.rows + other.rows, self.interrupted or other.interrupted)

    def table(self) -> RenderableType:
        """Return a table with one line per method, grouped by instance.

        Notes below the table explain why results are missing.
        """
        headings: dict[int, str] = {}
        for place, row in enumerate(self.rows):
            if place == 0 or row.instance != self.rows[place - 1].instance:
                headings[place] = _described(row.instance, row.problem.headline())
        return lay_out(self.columns()[1:], headings=headings, notes=self.notes())

    def notes(self, *, failed_only: bool = False) -> list[str]:
        """Return notes that explain why rows have no result, for all such rows or only for failed methods."""
        unsolved = [row for row in self.rows if row.result is None and row.note and row.failed >= failed_only]
        return list(dict.fromkeys(f"{row.method} {_status(row)}: {row.note}" for row in unsolved))

    def columns(self) -> list[Column]:
        """Return the columns of the table, with the instance first."""
        rows = self.rows
        unit = " or ".join(dict.fromkeys(row.problem.unit for row in rows)) or "value"
        shown = [told_apart(row.result.objective, _bound(row)) if row.result else ("", "") for row in rows]
        gaps = [written_gap(row.gap, row.excess) if row.result else "" for row in rows]
        best = _best(rows)
        return [
            Column("instance", [row.instance for row in rows], right=False),
            Column("method", [row.method for row in rows], right=False),
            Column(unit, [value for value, _ in shown], best=best),
            Column("proven bound", [bound for _, bound in shown]),
            Column("gap", gaps, best=best),
            runtime_column(
                "time", [None if row.result is None else row.result.runtime for row in rows], rank=1
            ),
            Column("status", [_status(row) for row in rows], right=False),
        ]

    def summary(self) -> RenderableType:
        """Return a table of total values and bounds, gaps and median times, by method and group of instances.

        Instances form a group if they belong to the same suite, and have the same unit and the same headline
        figures (`Problem.headline`). A suite in which more than four combinations of figures occur forms one
        group, with the range of each figure.
        """
        keys = _shared_keys(self.rows)
        lines: list[list[str]] = []
        times: list[float | None] = []
        headings: dict[int, str] = {}
        for (suite, unit, figures), group in _groups(self.rows, keys).items():
            headings[len(lines)] = _described(suite, dict(zip(keys, figures, strict=True)), unit)
            for name in dict.fromkeys(row.method for row in group):
                rows = [row for row in group if row.method == name and (row.result or row.failed)]
                if rows:
                    lines.append([name, *_totals(rows)])
                    times.append(_median_runtime(rows))
        least = not self.rows or self.rows[0].problem.sense is Sense.MINIMIZE
        proven = f"proven {'minimum' if least else 'maximum'}"
        columns = [
            Column(name, [line[place] for line in lines], right=place > 0, rank=int(name == "instances"))
            for place, name in enumerate(["method", "instances", "value", proven, "gap of totals"])
        ]
        columns.append(runtime_column("median time", times, rank=2))
        headings = {place: heading for place, heading in headings.items() if place < len(lines)}
        return lay_out(columns, headings=headings, notes=self.notes(failed_only=True))

    def records(self) -> list[dict[str, Any]]:
        """Return a record of every row, without its solution, as plain JSON types."""
        return [row.as_dict() for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison, including solutions, as plain JSON types, for `gsopt.write`."""
        rows = [
            {
                "instance": row.instance,
                "method": row.method,
                "kind": row.kind,
                "result": None if row.result is None else row.result.as_dict(),
                "note": row.note,
                "failed": row.failed,
            }
            for row in self.rows
        ]
        return {"rows": rows, "interrupted": self.interrupted}

    @classmethod
    def from_dict(
        cls, problems: Iterable[Problem[Any]], data: Mapping[str, Any], *, source: str = "comparison"
    ) -> "Comparison":
        """Restore a comparison from the output of `as_dict`, and judge its solutions to the problems again.

        Raises
        ------
        InvalidInput
            The data do not have the form of the output of `as_dict`, or contain the name of a problem that was
            not passed.
        InvalidSolution, Contradiction
            As in `Result.from_dict`. `Contradiction` is also raised if one row's value beats another's bound.

        Examples
        --------
        >>> import gsopt
        >>> problem = gsopt.load("reclaiming/aryl-figure-5")
        >>> comparison = gsopt.compare(problem, ["exact", "greedy"])
        >>> Comparison.from_dict([problem], comparison.as_dict()) == comparison
        True
        """
        known = {problem.name or problem.word: problem for problem in problems}
        try:
            text = json.dumps(data)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput("", "", f"must be plain JSON: {error}", source=source) from None
        stored = validated(_StoredComparison, source, text)
        rows: dict[str, list[ComparisonRow]] = {}
        for place, each in enumerate(stored.rows):
            if each.instance not in known:
                rule = "must be the name of one of the problems"
                raise InvalidInput(f"rows[{place}].instance", shorten(each.instance), rule, source=source)
            problem = known[each.instance]
            where = f"{source}: rows[{place}].result"
            result = None if each.result is None else Result.from_dict(problem, each.result, source=where)
            row = ComparisonRow(each.instance, each.method, each.kind, problem, result)
            row = replace(row, note=each.note, failed=each.failed)
            rows.setdefault(each.instance, []).append(row)
        settled_rows = [row for name, members in rows.items() for row in settled(known[name], members)]
        return cls(tuple(settled_rows), stored.interrupted)

    def plot(self) -> "Axes":
        """Plot the gap of every method on every instance, on a logarithmic axis if the gaps differ widely.

        Up to eleven methods also differ by marker, so that the plot is readable without colour.

        Raises
        ------
        InvalidInput
            matplotlib is not installed.
        """
        need("matplotlib", "plot")
        from gsopt.evaluation.plots import gaps

        points: dict[str, list[tuple[float, str]]] = {}
        for row in self.rows:
            if row.gap is not None:
                points.setdefault(row.method, []).append((row.gap, row.instance))
        axes = gaps(points, instances=list(dict.fromkeys(row.instance for row in self.rows)))
        if hidden := sum(row.gap is None for row in self.rows):
            axes.set_xlabel(f"{axes.get_xlabel()}; {hidden:,} without a gap not shown")
        return axes


class _StoredRow(Frozen):
    """A row as stored in a file."""

    instance: str
    method: str
    kind: Literal["exact", "heuristic"]
    result: dict[str, Any] | None
    note: str
    failed: bool


class _StoredComparison(Frozen):
    """A comparison as stored in a file."""

    rows: Many[_StoredRow]
    interrupted: bool


def read_comparison(path: str | Path, problems: Problem[Any] | Iterable[Problem[Any]]) -> Comparison:
    """Read a comparison that `gsopt.write` wrote, and judge its solutions to the given problems again.

    Raises
    ------
    InvalidInput
        The file cannot be read, is not JSON, or is rejected by `Comparison.from_dict`.
    InvalidSolution, Contradiction
        As in `Comparison.from_dict`.

    Examples
    --------
    >>> import gsopt
    >>> from tempfile import TemporaryDirectory
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> comparison = gsopt.compare(problem, ["exact", "greedy"])
    >>> with TemporaryDirectory() as folder:
    ...     gsopt.write(comparison, f"{folder}/comparison.json")
    ...     gsopt.read_comparison(f"{folder}/comparison.json", problem) == comparison
    True
    """
    given = [problems] if isinstance(problems, Problem) else problems
    return Comparison.from_dict(given, parse_json(str(path), read_text(path)), source=str(path))


def settled(problem: Problem[Any], rows: list[ComparisonRow]) -> list[ComparisonRow]:
    """Return rows with the instance's best bound, after checking that no two rows contradict each other.

    If two solver families proved the same optimum, optimal results get the level `agreed`.
    """
    results = [row.result for row in rows if row.result is not None]
    try:
        found = settle(problem.sense, [_claim(problem, result) for result in results])
    except Contradiction as contradiction:
        raise Contradiction(f"{problem.name or problem.word}: {contradiction}") from None
    agreed = iter(agree(problem, results))
    return [
        replace(row, result=next(agreed) if row.result else None, bound=found.bound, optimum_known=found.known)
        for row in rows
    ]


def _claim(problem: Problem[Any], result: Result[Any]) -> Claim:
    resolution = 0 if result.objective is None else problem.resolution(result.objective)
    return Claim(result.method, result.objective, result.bound, resolution)


def _shared_keys(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return the names of the headline figures that all rows have in common."""
    shared = list(rows[0].problem.headline()) if rows else []
    for row in rows:
        figures = row.problem.headline()
        shared = [key for key in shared if key in figures]
    return shared


def _groups(
    rows: Iterable[ComparisonRow], keys: Sequence[str]
) -> dict[tuple[str, str, tuple[str, ...]], list[ComparisonRow]]:
    """Group rows by suite, unit and headline figures.

    A suite in which more than four combinations of figures occur forms one group, with their ranges.
    """
    suites: dict[tuple[str, str], list[ComparisonRow]] = {}
    for row in rows:
        suite = row.instance.removeprefix(f"{row.problem.word}/").rpartition("/")[0] or row.instance
        suites.setdefault((suite, row.problem.unit), []).append(row)
    groups: dict[tuple[str, str, tuple[str, ...]], list[ComparisonRow]] = {}
    for (suite, unit), members in suites.items():
        headlines = [row.problem.headline() for row in members]
        figures = [tuple(headline[key] for key in keys) for headline in headlines]
        for row, figure in zip(members, figures, strict=True):
            label = tuple(str(value) for value in figure)
            if len(set(figures)) > _MOST_GROUPS:
                label = tuple(_span(column) for column in zip(*figures, strict=True))
            groups.setdefault((suite, unit, label), []).append(row)
    return groups


def _span(values: Sequence[Any]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}-{high}"


def _totals(rows: list[ComparisonRow]) -> list[str]:
    solved = [row for row in rows if row.result is not None and row.result.objective is not None]
    if not solved:
        return [f"0 of {len(rows)}", "-", "-", "-"]
    values = (row.result.objective for row in solved if row.result)
    value = exact_total(each for each in values if each is not None)
    bounds = [bound for row in solved if (bound := _bound(row)) is not None]
    bound = exact_total(bounds) if len(bounds) == len(solved) else None
    excess = None if bound is None else abs(Fraction(value) - Fraction(bound))
    proven = all(row.optimum_known for row in solved)
    first, second = told_apart(value, bound)
    return [
        str(len(rows)) if len(solved) == len(rows) else f"{len(solved)} of {len(rows)}",
        first,
        ("" if proven else "bound ") + second,
        written_gap(0.0 if all(row.gap == 0 for row in solved) else relative_gap(value, bound), excess),
    ]


def _median_runtime(rows: Sequence[ComparisonRow]) -> float | None:
    runtimes = [row.result.runtime for row in rows if row.result is not None]
    return median(runtimes) if runtimes else None


def _best(rows: Sequence[ComparisonRow]) -> list[int]:
    """Return the indices of rows with the best value of their instance, unless all its values are equal."""
    found: dict[str, list[tuple[Number, int]]] = {}
    for line, row in enumerate(rows):
        if row.result is not None and row.result.objective is not None:
            found.setdefault(row.instance, []).append((row.result.objective, line))
    lines: list[int] = []
    for instance, pairs in found.items():
        values = [value for value, _ in pairs]
        sense = next(row.problem.sense for row in rows if row.instance == instance)
        best = min(values) if sense is Sense.MINIMIZE else max(values)
        if min(values) != max(values):
            lines += [line for value, line in pairs if value == best]
    return lines


def _bound(row: ComparisonRow) -> Number | None:
    """Return the bound to show, or the value if the two differ only by rounding."""
    value = None if row.result is None else row.result.objective
    return value if row.gap == 0 else row.bound


def _status(row: ComparisonRow) -> str:
    if row.result is None:
        return "failed" if row.failed else "not applicable"
    status = row.result.status
    return f"optimal, {row.result.level.value}" if status is Status.OPTIMAL else status.value


def _described(name: str, figures: Mapping[str, Any], unit: str = "") -> str:
    """Return the name of an instance or suite, followed by its headline figures and unit."""
    told = [f"{key} {value}" for key, value in figures.items()]
    return f"{name}  ({', '.join(told + [unit] * bool(unit))})" if told or unit else name
