"""Executor: where the cells of a study are computed."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from gsopt.solvers.backends.process import Reply
from gsopt.studies.cells import Cell

#: Runs ``function(cell, link)`` somewhere else, and tells how that ended.
Call = Callable[[Callable[..., Any], Cell], Reply]


class Executor(Protocol):
    """Where the cells of a study are computed; `run` gives it cells and keeps what comes of them.

    Attributes
    ----------
    threads
        How many cells may be under way at once, at any time; a thread of this process waits for each.
    """

    threads: int

    @property
    def workers(self) -> int:
        """Number of cells that are computed at once, at present."""

    @property
    def details(self) -> Mapping[str, Any]:
        """What the store keeps of where the run computes, as plain JSON."""

    @property
    def note(self) -> str:
        """What keeps it from computing, in one line; empty when nothing does."""

    def borrow(self, check: Callable[[], None]) -> AbstractContextManager[Call]:
        """Return a place at which to compute; `check` raises when nothing must be begun any more."""

    def close(self) -> None:
        """End whatever is being computed; threads that wait for it are let go."""
