"""Gaps: the values of methods on each instance, the best bound, and the method that proved it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from gsopt.schedule.figures import FigureKind, figure_of
from gsopt.studies.page.table import Head, Table, table
from gsopt.studies.results import Results
from gsopt.studies.rows import CellRow, CellState

#: Maximum number of lines in a table. A page with more lines would be slow, and the CSV file contains them all.
_MOST_INSTANCES, _MOST_CELLS = 1000, 1000


@dataclass(frozen=True)
class Decision:
    """The successful cells of the decision called `word`, or those of policies if `word` is empty."""

    word: str
    rows: tuple[CellRow, ...]

    @property
    def title(self) -> str:
        """The title of the decision with its objective."""
        units = dict.fromkeys(str(row.figures["unit"]) for row in self.rows if row.figures.get("unit"))
        return f"{self.word}: {', '.join(units)}" if self.word else "policies: mean JCT"

    @property
    def _value_title(self) -> str:
        known = None if self.word else figure_of("mean_jct")
        return "value" if known is None else known.title

    @property
    def repeats(self) -> bool:
        """Whether some method has several results on one instance."""
        return any(len(cells) > 1 for found in self._instances.values() for cells in found.values())

    def by_instance(self) -> Table:
        """Return a table with a line per instance: best value, bound, proving method and each method's gap."""
        methods = list(dict.fromkeys(str(row.labels.method) for row in self.rows))
        heads = [
            Head("instance"),
            Head(f"best {self._value_title}", self._kind),
            Head("bound", self._kind, like=f"best {self._value_title}"),
            Head("proven by"),
            *(Head(method, FigureKind.SHARE) for method in methods),
        ]
        return table(heads, self._instance_lines(methods), most=_MOST_INSTANCES)

    def by_cell(self) -> Table:
        """Return a table of cells: value, best bound on the instance, method that proved it, gap and time."""
        heads = [
            Head("instance"),
            Head("method"),
            Head("seed", FigureKind.COUNT),
            Head(self._value_title, self._kind),
            Head("bound", self._kind, like=self._value_title),
            Head("proven by"),
            Head("gap", FigureKind.SHARE),
            Head("time [s]", FigureKind.SECONDS),
        ]
        return table(heads, map(self._cell_line, self.rows), most=_MOST_CELLS)

    def _instance_lines(self, methods: Sequence[str]) -> Iterator[list[Any]]:
        for found in self._instances.values():
            cells = [row for members in found.values() for row in members]
            values = [value for row in cells if (value := self._value(row)) is not None]
            maximize = any(row.figures.get("sense") == "maximize" for row in cells)
            best = (max if maximize else min)(values, default=None)
            yield [
                str(cells[0].labels.instance),
                best,
                self._bound(cells[0]),
                self._prover(cells[0]),
                *(_mean_gap(found.get(method, ())) for method in methods),
            ]

    def _cell_line(self, row: CellRow) -> list[Any]:
        return [
            str(row.labels.instance),
            str(row.labels.method),
            row.seed,
            self._value(row),
            self._bound(row),
            self._prover(row),
            row.figures.get("gap"),
            row.outcome.wall,
        ]

    @cached_property
    def _instances(self) -> dict[str, dict[str, list[CellRow]]]:
        """Return the cells, keyed by instance and then by method."""
        found: dict[str, dict[str, list[CellRow]]] = {}
        for row in self.rows:
            found.setdefault(row.instance_key, {}).setdefault(str(row.labels.method), []).append(row)
        return found

    @cached_property
    def _provers(self) -> dict[str, str]:
        """Return the first method that proved the best bound, with its solver, keyed by instance."""
        found: dict[str, str] = {}
        for row in self.rows:
            bound = row.figures.get("bound")
            if bound is not None and bound == row.figures.get("proven_bound"):
                solver = row.figures.get("solver")
                name = f"{row.labels.method}, {solver}" if solver else str(row.labels.method)
                found.setdefault(row.instance_key, name)
        return found

    def _prover(self, row: CellRow) -> str:
        return (self._provers.get(row.instance_key, "") if self.word else row.figures.get("proof")) or "-"

    def _value(self, row: CellRow) -> Any:
        return row.figures.get("objective" if self.word else "mean_jct")

    def _bound(self, row: CellRow) -> Any:
        return row.figures.get("proven_bound" if self.word else "lower_bound")

    @property
    def _kind(self) -> FigureKind:
        return FigureKind.COUNT if self.word else FigureKind.SECONDS


def decisions(found: Results) -> list[Decision]:
    """Group the successful cells by decision.

    The cells of policies form another group.
    """
    parts = found.by_decision().values()
    done = [tuple(row for row in part.rows if row.outcome.state is CellState.DONE) for part in parts]
    return [Decision(rows[0].word, rows) for rows in done if rows]


def _mean_gap(cells: Sequence[CellRow]) -> float | None:
    gaps = [gap for row in cells if (gap := row.figures.get("gap")) is not None]
    return fmean(gaps) if gaps else None
