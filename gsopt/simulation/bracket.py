"""Bracket: the times between which a waiting job starts."""

from typing import Any, NamedTuple


class Bracket(NamedTuple):
    """The times between which a waiting job starts.

    Attributes
    ----------
    earliest
        No earlier start is possible.
    latest
        The job starts no later; None if there is no such time, because jobs that have not arrived yet may
        overtake it.
    """

    earliest: Any
    latest: Any | None
