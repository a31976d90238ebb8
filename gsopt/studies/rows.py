"""Rows: the results of a study, one row per cell, in the form that the store, tables and plots use."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from gsopt.studies.cells import Cell, Labels
from gsopt.studies.grid import Label


class CellState(StrEnum):
    """The state of a cell: whether it has figures and, if not, why not.

    It is ``done``, ``unsupported`` (the method does not handle the instance) or ``failed``.

    Examples
    --------
    >>> CellState("failed")
    <CellState.FAILED: 'failed'>
    """

    DONE = "done"
    UNSUPPORTED = "unsupported"  # the method does not handle the instance
    FAILED = "failed"


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of the computation of a cell.

    Attributes
    ----------
    state
        State of the cell.
    figures
        Figures as plain JSON, keyed by name.
    wall
        Wall-clock time in seconds to compute the cell, including the time to load its instance.
    message
        Reason why there are no figures; empty if there are figures.
    error
        Type of the error if the cell failed, otherwise empty.
    sources
        The files from which the cell's instance was read, with their SHA-256 digests. Empty if the cell is not
        done, or if the outcome was read from a study's folder.

    Examples
    --------
    >>> CellOutcome(CellState.DONE, {"makespan": 7.0}, 0.1).state
    <CellState.DONE: 'done'>
    """

    state: CellState
    figures: Mapping[str, Any]
    wall: float
    message: str = ""
    error: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellRow:
    """A cell and its outcome.

    Attributes
    ----------
    labels
        Names for tables (of the group, the instance and the method), and the options by which to group cells.
    word
        Name of the decision; empty if a policy was simulated on a workload.
    instance_key
        Hash of the instance.
    seed
        Seed of a randomized method, or None.
    outcome
        Outcome of computing the cell.
    version
        Version of gsopt that computed the cell.
    key
        Hash of the cell; empty if unknown.

    Examples
    --------
    >>> from gsopt.studies.cells import cells_of
    >>> from gsopt.studies.compute import compute
    >>> from gsopt.studies.spec import Study
    >>> study = Study(study="a", instances=["reclaiming/aryl-figure-5"], methods=["greedy"])
    >>> cell = cells_of(study)[0]
    >>> CellRow(cell.labels, cell.word, cell.instance_key, 0, compute(cell), "0.1.0").figures["objective"]
    1
    """

    labels: Labels
    word: str
    instance_key: str
    seed: int | None
    outcome: CellOutcome
    version: str
    key: str = ""

    @property
    def figures(self) -> Mapping[str, Any]:
        """The figures, keyed by name; empty unless the cell is done."""
        return self.outcome.figures

    @property
    def columns(self) -> dict[str, Any]:
        """The values by which rows can be grouped, keyed by column: names, seed, then options.

        The names are those of the group, the instance and the method. Options of the method come before those
        of the instance. An option with the name of an earlier column is called ``method.NAME`` or
        ``instance.NAME``, such as ``instance.seed``.
        """
        labels = self.labels
        named = {
            "group": str(labels.group),
            "instance": str(labels.instance),
            "method": str(labels.method),
            "seed": self.seed,
        }
        own = {name: value for name, value in labels.method_options.items() if name != "seed"}
        for role, options in (("method", own), ("instance", labels.instance_options)):
            named |= {f"{role}.{name}" if name in named else name: value for name, value in options.items()}
        return named

    def as_dict(self) -> dict[str, Any]:
        """Return columns, wall-clock time, state, message and figures as plain JSON.

        An option is called ``option.NAME`` if a figure has the same name, or if it is named ``wall``, ``state``
        or ``message``.
        """
        cell = self.outcome
        further = {"wall": cell.wall, "state": cell.state.value, "message": cell.message, **self.figures}
        columns = {f"option.{name}" if name in further else name: value for name, value in self.columns.items()}
        return {**columns, **further}


def labels_of(cell: Cell) -> dict[str, Any]:
    """Return the labels, decision, instance key and seed of a cell as they are stored, as plain JSON types."""
    return {
        **asdict(cell.labels),
        "word": cell.word,
        "instance_key": cell.instance_key,
        "seed": cell.options.get("seed"),
    }


def row_of(
    labels: str, state: str, figures: str, message: str, error: str, wall: float, version: str, key: str
) -> CellRow:
    """Restore a row from its stored form."""
    stored = json.loads(labels)
    group, instance, method = (Label(**stored[name]) for name in ("group", "instance", "method"))
    known = Labels(group, instance, method, stored["instance_options"], stored["method_options"])
    outcome = CellOutcome(CellState(state), json.loads(figures), wall, message, error)
    return CellRow(known, stored["word"], stored["instance_key"], stored["seed"], outcome, version, key)
