"""Settings: the options of the policy `dally`, checked."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.simulation.parts.offers import Clock, Renewal
from gsopt.simulation.parts.options import Order, Placement
from heuristics.policies.dally.tuner import HistoryOn, TunedTimer

#: The kind of timers: tuned, given, zero, or infinite.
TimerKind = Literal["auto", "manual", "none", "consolidated"]

_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class DallySettings:
    """The options of `heuristics.policies.dally.dally`, documented there."""

    timers: TimerKind = "auto"
    clock: Clock = "starvation"
    lease: float | None = 8 * _HOUR
    renew: Renewal = "best"
    order: Order = "network_sensitive"
    placement: Placement = "best"
    delays: Sequence[float] = (12 * _HOUR, 24 * _HOUR)
    history: float = 168 * _HOUR
    history_on: HistoryOn = "record"
    max_len: int | None = None
    ddof: Literal[0, 1] = 1
    empty: Sequence[float] | None = None
    floors: Sequence[float] = ()
    caps: Sequence[float] = ()
    least_wait: float = 0.0
    censored: bool = False
    observe: Callable[[TunedTimer], Any] | None = None

    def __post_init__(self) -> None:
        require_one_of("timers", self.timers, get_args(TimerKind))
        require_one_of("history_on", self.history_on, get_args(HistoryOn))
        _require_timers("delays", self.delays, least=1)
        for name in ("empty", "floors", "caps"):
            _require_timers(name, getattr(self, name) or (), least=0)
        require(number_of(self.history) > 0, "history", self.history, "must be more than 0 seconds")
        sound = self.max_len is None or number_of(self.max_len) >= 1
        require(sound, "max_len", self.max_len, "must be at least 1")
        require(self.ddof in {0, 1}, "ddof", self.ddof, "must be 0 or 1")
        sound = 0 <= number_of(self.least_wait) < inf
        require(sound, "least_wait", self.least_wait, "must be a finite number of seconds, at least 0")


def _require_timers(name: str, given: Sequence[float], least: int) -> None:
    enough = isinstance(given, Collection) and len(given) >= least
    sound = enough and all(0 <= number_of(seconds) < inf for seconds in given)
    require(sound, name, given, "must be finite numbers of seconds, at least 0")
