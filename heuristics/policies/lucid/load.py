"""Load: rules that predict whether the cluster will be busy enough for jobs to share GPUs."""

from bisect import bisect_right
from collections.abc import Sequence
from math import isfinite
from statistics import fmean
from typing import Any, Literal

from gsopt.core.errors import InvalidInput, shorten

#: Seconds between two checks of the load, and length in seconds of the intervals in which jobs are counted.
TICK, INTERVAL = 100, 600

#: Number of intervals that are considered.
LOOKED_AT = 5

#: Largest number of jobs per interval with which the cluster Venus is quiet, so that jobs do not share; and
#: the number of GPUs of Venus.
QUIET, GPUS = 2.0, 1040

#: How the load is determined: by recent arrivals, by predicted numbers of arrivals, or as always busy.
Source = Literal["recent", "always"] | Sequence[float]


class Load:
    """The load of a cluster that always counts as busy; the base class of other loads."""

    def arrive(self, count: int, now: Any) -> None:
        """Record the arrival of `count` jobs; this base version does nothing.

        Times must not decrease from call to call.
        """

    def is_busy(self, now: Any) -> bool:
        """Check whether the cluster is busy, so that jobs share."""
        del now
        return True

    def next_busy(self, now: Any) -> int | None:
        """Return the tick (time of a check) from which the cluster is busy even if no job arrives, or None.

        None means that no such tick is known, or that the cluster is busy now.
        """
        del now
        return None


def load_from(source: Source, quiet: float) -> Load:
    """Make a load from the options `load` and `quiet` of `lucid`.

    Raises
    ------
    InvalidInput
        `load` is neither a known word nor a sequence of finite numbers.
    """
    if source == "always":
        return Load()
    if source == "recent":
        return _Recent(quiet)
    if isinstance(source, Sequence) and not isinstance(source, str) and all(map(_is_number, source)):
        return _Predicted(source, quiet)
    rule = "must be 'recent', 'always', or predicted numbers of jobs"
    raise InvalidInput("load", shorten(source), rule)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def _tick(now: Any) -> int:
    """Return the time of the last tick, at or before now."""
    return TICK * int(now // TICK)


class _Recent(Load):
    """A load that expects as many jobs as arrived in the last intervals."""

    def __init__(self, quiet: float) -> None:
        self._most = quiet * LOOKED_AT
        self._arrived: list[Any] = []  # times, ascending

    def arrive(self, count: int, now: Any) -> None:
        self._arrived.extend([now] * count)

    def is_busy(self, now: Any) -> bool:
        return self._is_busy_at(_tick(now))

    def next_busy(self, now: Any) -> int | None:
        """Return the next tick if arrivals since the last tick make the cluster busy then, or else None."""
        tick = _tick(now)
        return tick + TICK if not self._is_busy_at(tick) and self._is_busy_at(tick + TICK) else None

    def _is_busy_at(self, tick: int) -> bool:
        """Check whether enough jobs have arrived in the intervals before a tick."""
        begin = bisect_right(self._arrived, tick - LOOKED_AT * INTERVAL)
        return bisect_right(self._arrived, tick) - begin > self._most


class _Predicted(Load):
    """A load determined by predicted numbers of arrivals in every interval from the beginning of the run.

    The next intervals count, but not the current one. After the last prediction, the cluster counts as busy.
    """

    def __init__(self, jobs: Sequence[float], quiet: float) -> None:
        self._busy = [
            fmean(jobs[first : first + LOOKED_AT]) > quiet  # what is left where there are fewer
            for first in range(1, len(jobs))
        ]

    def is_busy(self, now: Any) -> bool:
        interval = _tick(now) // INTERVAL
        return interval >= len(self._busy) or self._busy[interval]

    def next_busy(self, now: Any) -> int | None:
        """Return the beginning of the next busy interval, or None if the cluster is busy now."""
        if self.is_busy(now):
            return None
        interval = _tick(now) // INTERVAL + 1
        while interval < len(self._busy) and not self._busy[interval]:
            interval += 1
        return interval * INTERVAL
