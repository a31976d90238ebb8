"""Rows: the results of a study, cell by cell, as they are stored and as tables and plots take them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from gsopt.studies.cells import Cell, Labels
from gsopt.studies.grid import Label


class CellState(StrEnum):
    """Whether a cell has figures, and why not.

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
    """The outcome of computing a cell.

    Attributes
    ----------
    state
        Whether it has figures.
    figures
        Plain JSON by name.
    wall
        Seconds that it took, the loading of its instance included.
    message
        Why there are no figures.
    error
        Kind of the error, where it failed.
    sources
        The files that its instance was read from, with the SHA-256 of each; the store keeps them apart.

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
    """A cell and what came of it.

    Attributes
    ----------
    labels
        What tables call it.
    word
        The decision; empty for a policy.
    instance_key
        Fingerprint of the instance.
    seed
        Seed of a method that draws at random, or None.
    outcome
        Outcome of computing it.
    version
        Version of gsopt that computed it.
    key
        Fingerprint of the cell, where it is known.

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
        """The figures by name; none unless the cell is done."""
        return self.outcome.figures

    @property
    def columns(self) -> dict[str, Any]:
        """Everything by which rows can be grouped: names, then options, a method's before an instance's."""
        labels = self.labels
        own = {name: value for name, value in labels.method_options.items() if name != "seed"}
        named = {
            "group": str(labels.group),
            "instance": str(labels.instance),
            "method": str(labels.method),
            "seed": self.seed,
            **own,
        }
        for name, value in labels.instance_options.items():
            named[f"instance.{name}" if name in named else name] = value
        return named

    def as_dict(self) -> dict[str, Any]:
        """Return columns, state and figures as plain JSON; ``option.NAME`` where a figure has that name too."""
        further = {"state": self.outcome.state.value, "message": self.outcome.message, **self.figures}
        columns = {f"option.{name}" if name in further else name: value for name, value in self.columns.items()}
        return {**columns, "wall": self.outcome.wall, **further}


def labels_of(cell: Cell) -> dict[str, Any]:
    """Return what is stored of a cell, as plain JSON types."""
    return {
        **asdict(cell.labels),
        "word": cell.word,
        "instance_key": cell.instance_key,
        "seed": cell.options.get("seed"),
    }


def row_of(
    labels: str, state: str, figures: str, message: str, error: str, wall: float, version: str, key: str
) -> CellRow:
    """Read a row from what is stored."""
    stored = json.loads(labels)
    group, instance, method = (Label(**stored[name]) for name in ("group", "instance", "method"))
    known = Labels(group, instance, method, stored["instance_options"], stored["method_options"])
    outcome = CellOutcome(CellState(state), json.loads(figures), wall, message, error)
    return CellRow(known, stored["word"], stored["instance_key"], stored["seed"], outcome, version, key)
