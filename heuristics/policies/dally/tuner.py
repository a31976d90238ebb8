"""Tuner: delay timers tuned to how long jobs have waited for each tier."""

from collections import deque
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gsopt.simulation.parts.patience import Timer, Timers
from gsopt.simulation.parts.tiers import Tiers
from gsopt.simulation.policy import State

if TYPE_CHECKING:
    from heuristics.policies.dally.settings import DallySettings

#: Waits are added up in integer fractions of a second, so that sums stay exact when waits are removed.
_UNITS = 10**12

#: What is compared with the largest age of an entry: the time since it was recorded, or the wait itself.
HistoryOn = Literal["record", "wait"]


class TunedTimer(NamedTuple):
    """A timer at a point in time: the seconds for which jobs that demand `gpus` GPUs wait for a tier."""

    time: Any
    tier: str
    gpus: int
    seconds: float


class WaitList:
    """The waits for one tier, recorded for jobs with the same demand, and the resulting timer.

    The timer is the mean plus two standard deviations of the waits. For the parameters, see
    `heuristics.policies.dally.dally`.

    Source: Dally, Algorithm 2 and section IV-B3.
    """

    def __init__(
        self,
        *,
        history: float = inf,
        history_on: HistoryOn = "record",
        max_len: int | None = None,
        ddof: int = 1,
    ) -> None:
        self._history, self._by_wait, self._max_len, self._ddof = history, history_on == "wait", max_len, ddof
        self._waits: deque[tuple[Any, int]] = deque()  # with when they were recorded
        self._sum, self._squares = 0, 0

    def add(self, now: Any, wait: float) -> None:
        """Record a wait, given in seconds."""
        if self._by_wait and wait > self._history:
            return
        if len(self._waits) == self._max_len:
            self._drop_first()
        units = round(wait * _UNITS)
        self._waits.append((now, units))
        self._sum += units
        self._squares += units**2

    def timer(self, now: Any) -> float | None:
        """Return the timer in seconds, or None if no waits are left."""
        if not self._by_wait:
            while self._waits and now - self._waits[0][0] > self._history:
                self._drop_first()
        count = len(self._waits)
        if not count:
            return None
        above = count * self._squares - self._sum**2
        return (self._sum / count + 2 * sqrt(above / (count * max(count - self._ddof, 1)))) / _UNITS

    def _drop_first(self) -> None:
        _, units = self._waits.popleft()
        self._sum -= units
        self._squares -= units**2


class Tuner(Timers):
    """Timers tuned to the waits of earlier jobs, with a list for each tier and demand.

    Source: Dally, Algorithms 1 and 2. While a list is empty, the timer comes from `empty`.
    """

    def __init__(self, state: State, settings: "DallySettings", empty: Timer) -> None:
        super().__init__(state, self._tuned)
        self._state, self._settings, self._empty = state, settings, empty
        self._lists: dict[tuple[int, int], WaitList] = {}
        self._seen: dict[tuple[int, int], float] = {}
        self._last = len(Tiers(state).names) - 1

    def accept(self, state: State, job: int, tier: int, waited: Any, /) -> None:
        """Record how long a job waited for a tier, except the outermost tier, for which no job waits.

        With the option `censored`, the wait is also recorded for the better tiers that the job gave up.
        """
        item = state.jobs[job]
        first = min(self._tiers.best(item), tier) if self._settings.censored else tier
        for each in range(first, min(tier, self._last - 1) + 1):
            self._record(each, item.gpus, waited)

    def _record(self, tier: int, gpus: int, waited: Any) -> None:
        settings = self._settings
        if waited < settings.least_wait:
            return
        if (tier, gpus) not in self._lists:
            self._lists[tier, gpus] = WaitList(
                history=settings.history,
                history_on=settings.history_on,
                max_len=settings.max_len,
                ddof=settings.ddof,
            )
        self._lists[tier, gpus].add(self._state.now, float(waited))
        if settings.observe is not None:
            self._tuned(tier, gpus)

    def _tuned(self, tier: int, gpus: int) -> float:
        waits = self._lists.get((tier, gpus))
        timer = None if waits is None else waits.timer(self._state.now)
        if timer is None:
            timer = self._empty(tier, gpus)
        floors, caps, observe = self._settings.floors, self._settings.caps, self._settings.observe
        if tier < len(floors):
            timer = max(timer, floors[tier])
        if tier < len(caps):
            timer = min(timer, caps[tier])
        if observe is not None and self._seen.get((tier, gpus)) != timer:
            self._seen[tier, gpus] = timer
            observe(TunedTimer(self._state.now, self._tiers.names[tier], gpus, timer))
        return timer
