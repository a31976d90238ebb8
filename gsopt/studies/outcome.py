"""Outcome: what came of computing a cell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """Whether a cell has figures, and why not.

    Examples
    --------
    >>> State("failed")
    <State.FAILED: 'failed'>
    """

    DONE = "done"
    UNSUPPORTED = "unsupported"  # the method does not handle the instance
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """What came of computing a cell.

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
    >>> Outcome(State.DONE, {"makespan": 7.0}, 0.1).state
    <State.DONE: 'done'>
    """

    state: State
    figures: Mapping[str, Any]
    wall: float
    message: str = ""
    error: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
