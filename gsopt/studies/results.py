"""Results: the finished cells of a study, with the best bound on each instance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ulp
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from gsopt.core.errors import Contradiction
from gsopt.core.numbers.tolerances import ULPS
from gsopt.core.problem import Number, Sense
from gsopt.core.result import Claim, relative_gap, settle
from gsopt.evaluation.listing import Listing
from gsopt.evaluation.tables import Column
from gsopt.studies.report import report
from gsopt.studies.rows import CellRow, CellState
from gsopt.studies.store import reading


@dataclass(frozen=True, repr=False)
class Results(Listing[CellRow]):
    """The finished cells of a study in the order of its grid.

    Results print as a table and are shown as one in notebooks.

    If a cell is a completed run of an exact method or heuristic on an instance, two figures are added to its
    own: the best bound that any method of the study proved on the instance (``proven_bound``), and the relative
    gap to it (``gap``).

    Attributes
    ----------
    study
        Name of the study.
    rows
        The finished cells, including those that failed or are unsupported.
    total
        Number of all cells.
    interrupted
        Whether Ctrl-C ended the run that computed the cells.

    Examples
    --------
    >>> Results("example", (), total=4).missing
    4
    """

    study: str
    rows: tuple[CellRow, ...]
    total: int
    interrupted: bool = False

    @property
    def missing(self) -> int:
        """Number of cells that are not finished."""
        return self.total - len(self.rows)

    @property
    def failed(self) -> tuple[CellRow, ...]:
        """The cells that failed."""
        return tuple(row for row in self.rows if row.outcome.state is CellState.FAILED)

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of gsopt that computed the cells."""
        return tuple(sorted({row.version for row in self.rows}))

    def by_decision(self) -> dict[str, "Results"]:
        """Return the results of each decision, keyed by its name. The key of simulations is ``policies``.

        In each of them, `missing` includes all unfinished cells, because their decisions are not known.
        """
        rows: dict[str, list[CellRow]] = {}
        for row in self.rows:
            rows.setdefault(row.word or "policies", []).append(row)
        return {
            name: replace(self, rows=tuple(members), total=len(members) + self.missing)
            for name, members in rows.items()
        }

    def refuse_contradictions(self) -> None:
        """Check that no value is better than a bound proven on the same instance.

        Raises
        ------
        Contradiction
            A value is better than a bound, or a cell failed with a contradiction.
        """
        for row in self.rows:
            if row.outcome.error == Contradiction.__name__:
                raise Contradiction(f"{row.labels.instance}: {row.labels.method}: {row.outcome.message}")
        for rows in _by_instance(self.rows).values():
            try:
                settle(_sense(rows), [_claim(row) for row in rows])
            except Contradiction as error:
                raise Contradiction(f"{rows[0].labels.instance}: {error}") from None

    def table(self) -> RenderableType:
        """Return a table of the default figures, by group and method."""
        return report(self).rich()

    def columns(self) -> list[Column]:
        """Return the columns of the table, with the group first."""
        return report(self).columns

    def records(self) -> list[dict[str, Any]]:
        """Return the names, options, state and figures of every finished cell, as plain JSON."""
        return [row.as_dict() for row in self.rows]


def results(folder: str | Path, *, interrupted: bool = False) -> Results:
    """Return the finished cells in a study's folder, which a run may be using at the same time.

    `interrupted` sets `Results.interrupted`.

    Raises
    ------
    InvalidInput
        The folder holds no study, or its database is damaged.

    Examples
    --------
    >>> results("no/such/folder")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: no/such/folder: must be a folder in which gsopt study run has worked
    """
    with reading(folder) as store:
        name, total = store.study()
        rows = store.rows()
    return Results(name, tuple(_settled(rows)), total, interrupted)


def _by_instance(rows: Sequence[CellRow]) -> dict[str, list[CellRow]]:
    """Group the cells of decisions by instance."""
    found: dict[str, list[CellRow]] = {}
    for row in rows:
        if row.word:
            found.setdefault(row.instance_key, []).append(row)
    return found


def _settled(rows: Sequence[CellRow]) -> Iterator[CellRow]:
    """Yield all rows, adding the best bound on the instance and the gap to it to the cells of decisions."""
    best = {key: _best_bound(group) for key, group in _by_instance(rows).items()}
    for row in rows:
        if not row.word or "objective" not in row.figures:  # a policy, a space, or a cell without a result
            yield row
            continue
        bound = best[row.instance_key]
        figures = {**row.figures, "proven_bound": bound, "gap": relative_gap(row.figures["objective"], bound)}
        yield replace(row, outcome=replace(row.outcome, figures=figures))


def _sense(rows: Sequence[CellRow]) -> Sense:
    senses = [row.figures["sense"] for row in rows if "sense" in row.figures]
    return Sense(senses[0]) if senses else Sense.MINIMIZE


def _best_bound(rows: Sequence[CellRow]) -> Number | None:
    claims = [Claim(str(row.labels.method), bound=row.figures.get("bound")) for row in rows]
    return settle(_sense(rows), claims).bound


def _claim(row: CellRow) -> Claim:
    value = row.figures.get("objective")
    resolution = 0.0 if value is None else _resolution(row.figures, value)
    return Claim(str(row.labels.method), value, row.figures.get("bound"), resolution)


def _resolution(figures: Mapping[str, Any], value: Number) -> float:
    """Return the resolution of the problem, but at least the rounding error of a value stored as a float."""
    return max(figures.get("resolution") or 0.0, ULPS * ulp(float(value)))
