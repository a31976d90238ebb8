"""Bracket: the earliest and latest start of a waiting job."""

from typing import Any, NamedTuple


class Bracket(NamedTuple):
    """The earliest and latest start of a waiting job.

    Attributes
    ----------
    earliest
        Earliest possible start, in seconds.
    latest
        Latest possible start, in seconds; None if there is no limit, for example because jobs that have not
        arrived yet may overtake the job.
    """

    earliest: Any
    latest: Any | None
