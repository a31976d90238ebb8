"""Deadline: how much of a time limit is left."""

from dataclasses import dataclass, field
from time import perf_counter


@dataclass(frozen=True)
class Deadline:
    """A time limit that began when the object was made.

    Examples
    --------
    >>> Deadline(None).left(), Deadline(None).left(most=5.0), Deadline(0.0).passed
    (None, 5.0, True)
    """

    limit: float | None
    begin: float = field(default_factory=perf_counter)

    @property
    def runtime(self) -> float:
        """Seconds since the beginning."""
        return perf_counter() - self.begin

    @property
    def passed(self) -> bool:
        """Whether nothing is left."""
        return self.left() == 0.0

    def left(self, *, most: float | None = None) -> float | None:
        """Give the seconds that are left, and no more than `most`; None for no limit."""
        if self.limit is None:
            return most
        left = max(self.limit - self.runtime, 0.0)
        return left if most is None else min(left, most)
