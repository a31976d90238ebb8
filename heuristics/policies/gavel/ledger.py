"""Ledger: the time that jobs have had on each kind of GPU, and their claims to more."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gsopt.core.numbers.tolerances import CLAIM_DIGITS, MISSED_DECIMALS

#: The share of time of each job (by number) on each kind of GPU (by name).
Portions = Mapping[int, Mapping[str, float]]

#: A job, or two jobs that share their GPUs, the lower number first.
Unit = tuple[int, ...]


class CreditClaim(NamedTuple):
    """The claim of a unit (a job or a pair of jobs) to a kind of GPU; the largest claim comes first."""

    priority: float  # the share over the part that the unit has had of the time of all jobs there
    deficit: Any  # seconds by which it had less than its shares until they were last computed
    share: float


class TimeLedger:
    """The time that each unit (a job or a pair of jobs) has had on each kind of GPU, plus a fixed credit."""

    def __init__(self, credit: Any) -> None:
        self._credit = credit
        self._own: dict[Unit, dict[str, Any]] = {}
        self._all: dict[str, Any] = {}
        self._deficits: dict[Unit, dict[str, Any]] = {}

    def __contains__(self, unit: Unit) -> bool:
        """Check whether a unit has been entered and has not left."""
        return unit in self._own

    def enter(self, unit: Unit, kinds: Iterable[str], missed: Any = 0) -> None:
        """Add a new unit with its credit, and record how many seconds it counts as having missed."""
        self._own[unit] = dict.fromkeys(kinds, self._credit)
        self._deficits[unit] = dict.fromkeys(self._own[unit], 0 * self._credit + missed)
        for kind in self._own[unit]:
            self._all[kind] = self._all.get(kind, 0) + self._credit

    def leave(self, job: int) -> None:
        """Remove a job and its pairs. Their time still counts in the totals."""
        for unit in [unit for unit in self._own if job in unit]:
            del self._own[unit], self._deficits[unit]

    def add(self, unit: Unit, kind: str, seconds: Any) -> None:
        """Record time that a unit has had on a kind of GPU, even if the unit has left."""
        self._all[kind] += seconds
        if unit in self._own:
            self._own[unit][kind] += seconds

    def reset(self, shares: Mapping[Unit, Mapping[str, float]], seconds: Any) -> None:
        """Record how far units fell short of their shares since the last reset, and restart the count.

        `seconds` is the time since then. The new amounts are added to those of earlier resets.
        """
        self._all.clear()
        for unit, own in self._own.items():
            given = shares.get(unit, {})
            for kind, had in own.items():
                meant = type(seconds)(given.get(kind, 0.0)) * seconds
                self._deficits[unit][kind] += meant - (had - self._credit)
                own[kind] = self._credit
                self._all[kind] = self._all.get(kind, 0) + self._credit

    def claim(self, unit: Unit, kind: str, share: float) -> CreditClaim:
        """Return a unit's claim to a kind of GPU on which it should have the given share of time.

        Values are rounded, so that claims that differ only by rounding errors are equal.
        """
        part = float(self._own[unit][kind]) / float(self._all[kind])
        deficit = round(self._deficits[unit][kind], MISSED_DECIMALS)
        return CreditClaim(_settle(share / part), deficit, _settle(share))


def _settle(value: float) -> float:
    return float(f"{value:.{CLAIM_DIGITS}g}")
