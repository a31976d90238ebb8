"""Received: the time that jobs have had on each kind of GPU, beside the shares of it that they are to have."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gsopt.tolerances import CLAIM_DIGITS, MISSED_DECIMALS

#: Shares of the time of jobs, by number, on kinds of GPUs, by name.
Portions = Mapping[int, Mapping[str, float]]


class Claim(NamedTuple):
    """What a job may claim on a kind of GPU; the largest claim comes first.

    Attributes
    ----------
    priority
        Its share over the part that it has had of the time of all jobs there.
    deficit
        Seconds by which it had less than its shares until they were last computed.
    share
        Its share.

    Examples
    --------
    >>> Claim(2.0, 0.0, 0.5) > Claim(1.0, 60.0, 0.5) > Claim(1.0, 0.0, 0.75)
    True
    """

    priority: float
    deficit: Any
    share: float


class Received:
    """Books of the time that jobs have had, in which each begins with a credit on every kind.

    Parameters
    ----------
    credit
        Seconds.

    Examples
    --------
    >>> received = Received(180.0)
    >>> for job in (0, 1):
    ...     received.enter(job, ["v100"])
    >>> received.add(0, "v100", 360.0)
    >>> received.claim(0, "v100", 0.5).priority, received.claim(1, "v100", 0.5).priority
    (0.66666667, 2.0)
    """

    def __init__(self, credit: Any) -> None:
        self._credit = credit
        self._own: dict[int, dict[str, Any]] = {}
        self._all: dict[str, Any] = {}
        self._deficits: dict[int, dict[str, Any]] = {}

    def enter(self, job: int, kinds: Iterable[str]) -> None:
        """Give a job its credit."""
        self._own[job] = dict.fromkeys(kinds, self._credit)
        self._deficits[job] = dict.fromkeys(self._own[job], 0 * self._credit)
        for kind in self._own[job]:
            self._all[kind] = self._all.get(kind, 0) + self._credit

    def leave(self, job: int) -> None:
        """Forget a job, whose time still counts among that of all."""
        del self._own[job], self._deficits[job]

    def add(self, job: int, kind: str, seconds: Any) -> None:
        """Note that a job, which may have left, has had time."""
        self._all[kind] += seconds
        if job in self._own:
            self._own[job][kind] += seconds

    def reset(self, shares: Portions, seconds: Any) -> None:
        """Begin anew; what jobs had less than their shares of the time since the last beginning is noted."""
        self._all.clear()
        for job, own in self._own.items():
            given = shares.get(job, {})
            for kind, had in own.items():
                meant = type(seconds)(given.get(kind, 0.0)) * seconds
                self._deficits[job][kind] += meant - (had - self._credit)
                own[kind] = self._credit
                self._all[kind] = self._all.get(kind, 0) + self._credit

    def claim(self, job: int, kind: str, share: float) -> Claim:
        """Give what a job with a share may claim on a kind, so that claims that differ by rounding only tie."""
        part = float(self._own[job][kind]) / float(self._all[kind])
        return Claim(_settle(share / part), round(self._deficits[job][kind], MISSED_DECIMALS), _settle(share))


def _settle(value: float) -> float:
    return float(f"{value:.{CLAIM_DIGITS}g}")
