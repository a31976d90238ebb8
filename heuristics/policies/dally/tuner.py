"""Tuner: delay timers that follow how long jobs have waited for each tier."""

from collections import deque
from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import Any, Literal, NamedTuple

from gsopt.simulation.parts.patience import Timers
from gsopt.simulation.parts.tiers import Tiers
from gsopt.simulation.policy import State

#: Parts of a second in which waits are added up: integers, so that sums stay exact however many come and go.
_UNITS = 10**12

#: By what an entry of a list grows too old: the time at which it was recorded, or the wait that it is.
HistoryOn = Literal["record", "wait"]


class TunedTimer(NamedTuple):
    """A timer as it was found at some time.

    Attributes
    ----------
    time
        When, in seconds.
    tier
        Name of the tier for which jobs wait.
    gpus
        Number of GPUs that they demand.
    seconds
        How long they wait.
    """

    time: Any
    tier: str
    gpus: int
    seconds: float


class WaitList:
    """Waits of the jobs of one demand that got one tier, and the timer that follows from them.

    The timer is the mean plus two standard deviations of the waits that are not too old.

    Source: Dally, Algorithm 2 and section IV-B3.

    Parameters
    ----------
    history
        Age in seconds beyond which a wait is dropped.
    history_on
        Whether the age is the time since a wait was recorded, or the wait itself, as printed.
    max_len
        Most waits that are kept, the latest ones; any number when None.
    ddof
        1 for the standard deviation of a sample, which is 0 of a single wait; 0 for that of a population.
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
        """Record a wait."""
        if self._by_wait and wait > self._history:
            return
        if len(self._waits) == self._max_len:
            self._drop_first()
        units = round(wait * _UNITS)
        self._waits.append((now, units))
        self._sum += units
        self._squares += units**2

    def timer(self, now: Any) -> float | None:
        """Return the timer at a time; None when there is no wait to learn from."""
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
    """Timers that are tuned by the waits of the jobs that got a tier, in a list for each tier and demand.

    Source: Dally, Algorithms 1 and 2. A list that is empty says nothing; then the timer is that of `empty`.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    make_list
        Makes an empty list of waits.
    empty
        The timers while a list is empty.
    floors, caps
        Least and greatest timers, of each tier from the innermost out; none for further tiers.
    least_wait
        Shorter waits are not recorded.
    censored
        Whether a job that gives a tier up has its wait recorded for that tier, too: it would have been longer.
    observe
        Called with every timer that is found to have changed.
    """

    def __init__(
        self,
        state: State,
        make_list: Callable[[], WaitList],
        empty: Callable[[int, int], float],
        *,
        floors: Sequence[float] = (),
        caps: Sequence[float] = (),
        least_wait: float = 0.0,
        censored: bool = False,
        observe: Callable[[TunedTimer], Any] | None = None,
    ) -> None:
        super().__init__(state, self._tuned)
        self._state = state
        self._make_list, self._empty = make_list, empty
        self._floors, self._caps = floors, caps
        self._least_wait, self._censored, self._observe = least_wait, censored, observe
        self._lists: dict[tuple[int, int], WaitList] = {}
        self._seen: dict[tuple[int, int], float] = {}
        self._last = len(Tiers(state).names) - 1

    def accept(self, state: State, job: int, tier: int, waited: Any, /) -> None:
        """Record the wait for the tier, unless it is the outermost, for which nobody waits."""
        item = state.jobs[job]
        first = min(self._tiers.best(item), tier) if self._censored else tier
        for each in range(first, min(tier, self._last - 1) + 1):
            self._record(each, item.gpus, waited)

    def _record(self, tier: int, gpus: int, waited: Any) -> None:
        if waited < self._least_wait:
            return
        if (tier, gpus) not in self._lists:
            self._lists[tier, gpus] = self._make_list()
        self._lists[tier, gpus].add(self._state.now, float(waited))
        if self._observe is not None:
            self._tuned(tier, gpus)

    def _tuned(self, tier: int, gpus: int) -> float:
        waits = self._lists.get((tier, gpus))
        timer = None if waits is None else waits.timer(self._state.now)
        if timer is None:
            timer = self._empty(tier, gpus)
        if tier < len(self._floors):
            timer = max(timer, self._floors[tier])
        if tier < len(self._caps):
            timer = min(timer, self._caps[tier])
        if self._observe is not None and self._seen.get((tier, gpus)) != timer:
            self._seen[tier, gpus] = timer
            self._observe(TunedTimer(self._state.now, self._tiers.names[tier], gpus, timer))
        return timer
