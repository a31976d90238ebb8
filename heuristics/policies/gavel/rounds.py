"""Rounds: a decider that lets jobs take turns on GPUs of several kinds to give each job its share of time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import ceil, floor
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import Action, State, Wake
from heuristics.policies.gavel.ledger import CreditClaim, Portions, TimeLedger, Unit

#: A function that computes the jobs' shares of time.
Divide = Callable[[State, Sequence[int], Inventory], Portions]

#: The program whose rules rounds follow: Gavel's simulator, or its port in later simulators.
Form = Literal["original", "port"]


class Rules(NamedTuple):
    """The rules for rounds that differ between Gavel's own simulator and its port in later simulators."""

    #: Whether shares are computed only after arrivals and completions, and not too often, and the jobs' time is
    #: counted anew each time. Otherwise, shares are computed in every round, and counts are never reset.
    resets: bool
    #: Whether rounds begin at multiples of their length. Otherwise, a round begins when all jobs of the
    #: previous round are done.
    fixed: bool
    #: Whether there is one queue for all kinds of GPUs. Otherwise, each kind is allocated before the next.
    one_queue: bool
    #: Whether a round ends once its jobs have run the complete steps that fit, if their steps are known.
    whole_steps: bool


#: The rules of Gavel's own simulator, and of its port in the simulators of Sia and Ares.
RULES: Mapping[str, Rules] = {
    "original": Rules(resets=True, fixed=False, one_queue=False, whole_steps=True),
    "port": Rules(resets=False, fixed=True, one_queue=True, whole_steps=False),
}


class Rounds:
    """A decider that, in each round, runs the jobs that have received the smallest part of their shares.

    A job's claim to a kind of GPU is its share of time on that kind, divided by its fraction of the time that
    all jobs have had on that kind, regardless of their demands. Each job is credited with half a round, so that
    a new job does not precede all others. Claims are served in descending order. With ``form="original"``, this
    is done for one kind after another. Ties go to the job that had missed more of its time when shares were
    last computed, then to the larger share, then to the job that arrived first (for a pair, the arrival of its
    later job counts). A job that does not fit is skipped. With `leftovers`, jobs without a share run on spare
    GPUs.

    With ``form="original"``, new shares are computed before the first round after an arrival, a completion or a
    change of GPUs, but at least `renewal` seconds after the last ones, unless these were computed at time 0. If
    no job could run before that, they are computed immediately. A new job waits for the next shares. With
    `leftovers`, spare GPUs may be kept free for it, as in Gavel's program. With ``form="port"``, shares are
    computed in every round.

    `pairs` returns a mapping, in both directions, between the jobs that were paired to share all their GPUs
    when shares were last computed. A pair has the share of its job with the lower number, and runs only on
    kinds on which it has a share. Its time is counted separately from its jobs' own time, and it begins as if
    it had missed half a round. When one of its jobs completes, the other has no share until shares are computed
    again.
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        divide: Divide,
        *,
        form: Form = "original",
        interval: float = 360,
        renewal: float = 1920,
        leftovers: bool = True,
        pairs: Callable[[], Mapping[int, int]] = dict,
    ) -> None:
        number = type(state.now)
        self._divide, self._rules, self._leftovers = divide, RULES[form], leftovers
        self._pairs = pairs
        self._interval, self._renewal = number(interval), number(renewal)
        self._inventory = Inventory(state)
        self._ledger = TimeLedger(number(interval) / 2)
        self._there: dict[int, None] = {}
        self._shares: Portions = {}
        self._shared_at: Any = None
        self._is_news = False  # whether jobs or GPUs have come or gone since the shares were computed
        self._turns: Mapping[Unit, tuple[str, Any]] = {}  # who has this round: their kinds, and their seconds
        self._begun: Any = None
        self._ends: Any = None

    def decide(self, state: State) -> Iterable[Action]:
        """Begin a round if the previous one is over."""
        self._take_in(state)
        if not self._there:
            self._close(state)
            return
        if self._ends is None:
            self._ends = ceil(state.now / self._interval) * self._interval if self._rules.fixed else state.now
        if self._is_over(state):
            yield from self._begin(state)
        if self._ends is not None:
            yield Wake(self._ends)

    def _take_in(self, state: State) -> None:
        for job in state.arrived:
            self._inventory.enter(state, job)
            self._ledger.enter((job,), self._inventory.kinds_of(job))
            self._there[job] = None
        for job in state.completed:
            self._inventory.leave(job)
            self._ledger.leave(job)
            del self._there[job]
        self._is_news = self._is_news or bool(state.arrived or state.completed)

    def _is_over(self, state: State) -> bool:
        if state.now >= self._ends:
            return True
        return not (self._rules.fixed or any(job in state.running for unit in self._turns for job in unit))

    def _close(self, state: State) -> None:
        """Record the time of the units that ran in the round, and end the round."""
        for unit, (kind, seconds) in self._turns.items():
            self._ledger.add(unit, kind, min(seconds, state.now - self._begun))
        self._turns, self._ends = {}, None

    def _begin(self, state: State) -> Iterator[Action]:
        self._close(state)
        before = self._inventory.counts
        self._inventory.look(state)
        self._is_news = self._is_news or self._inventory.counts != before
        if self._may_share(state):
            self._share(state)
        chosen = self._choose(state)
        if not chosen and self._is_news:
            self._share(state)
            chosen = self._choose(state)
        kinds = {job: kind for unit, kind in chosen.items() for job in unit}
        beside = {unit[1]: unit[0] for unit in chosen if len(unit) > 1}
        yield self._inventory.assign(state, kinds, beside)
        if chosen:
            self._turns = {unit: (kind, self._seconds(state, unit, kind)) for unit, kind in chosen.items()}
            self._begun, self._ends = state.now, state.now + self._span(state)

    def _may_share(self, state: State) -> bool:
        if not self._rules.resets:
            return True
        return self._is_news and (not self._shared_at or state.now - self._shared_at >= self._renewal)

    def _share(self, state: State) -> None:
        """Compute the shares of the jobs that fit."""
        if self._rules.resets:
            since = state.now if self._shared_at is None else self._shared_at
            own = {self._unit(job): portions for job, portions in self._shares.items()}
            self._ledger.reset(own, state.now - since)
        jobs = [job for job in self._there if self._inventory.kinds_with_room(state, job)]
        self._shares = self._divide(state, jobs, self._inventory) if jobs else {}
        self._shared_at, self._is_news = state.now, False
        for unit in self._units():
            if unit not in self._ledger:
                self._ledger.enter(unit, self._kinds_of(unit), self._interval / 2)

    def _unit(self, job: int) -> Unit:
        """Return the unit that has a job's share: the job, or its pair when shares were last computed."""
        return tuple(sorted({job, self._pairs().get(job, job)}))

    def _kinds_of(self, unit: Unit) -> list[str]:
        """Return the kinds on which all jobs of a unit can run."""
        own = [self._inventory.kinds_of(job) for job in unit]
        return [kind for kind in own[0] if all(kind in kinds for kinds in own)]

    def _choose(self, state: State) -> dict[Unit, str]:
        """Return the units that run, with their kinds of GPU. GPUs chosen for jobs without shares stay free."""
        left, chosen = dict(self._inventory.counts), dict[Unit, str]()
        for _, unit, kind in self._queue(state):
            gpus = state.jobs[unit[0]].gpus
            if unit not in chosen and gpus <= left[kind]:
                left[kind] -= gpus
                chosen[unit] = kind
        return {unit: kind for unit, kind in chosen.items() if all(job in self._shares for job in unit)}

    def _queue(self, state: State) -> list[tuple[CreditClaim, Unit, str]]:
        """Return all claims in descending order, with ties in order of arrival."""
        units = self._units()
        queues = [self._claims(state, units, kind) for kind in self._inventory.kinds]
        if self._rules.one_queue:
            queues = [[*chain.from_iterable(queues)]]
        return [each for queue in queues for each in sorted(queue, key=itemgetter(0), reverse=True)]

    def _units(self) -> list[Unit]:
        """Return the complete pairs and all other jobs, in the order in which the last job of each arrived."""
        whole = {job: self._unit(job) for job in self._there}
        units = {unit if all(job in whole for job in unit) else (job,) for job, unit in whole.items()}
        return sorted(units, key=lambda unit: unit[::-1])

    def _claims(self, state: State, units: Sequence[Unit], kind: str) -> list[tuple[CreditClaim, Unit, str]]:
        shares = {unit: self._share_of(unit).get(kind, 0.0) for unit in units}
        return [
            (self._ledger.claim(unit, kind, share), unit, kind)
            for unit, share in shares.items()
            if (share or (self._leftovers and len(unit) == 1))
            and all(kind in self._inventory.kinds_with_room(state, job) for job in unit)
        ]

    def _share_of(self, unit: Unit) -> Mapping[str, float]:
        """Return the share of a unit by kind of GPU, which is empty for the remaining job of a pair."""
        return self._shares.get(unit[0], {}) if unit == self._unit(unit[0]) else {}

    def _seconds(self, state: State, unit: Unit, kind: str) -> Any:
        """Return the seconds of a round in which a unit runs complete steps, or the full round otherwise."""
        return max(self._whole(state, job, _others(unit, job), kind) for job in unit)

    def _whole(self, state: State, job: int, beside: Unit, kind: str) -> Any:
        steps = self._inventory.steps(state, job, kind, beside) if self._rules.whole_steps else None
        whole = floor(steps * self._interval * (1 + SPAN_ERROR)) if steps else 0
        return type(state.now)(whole) / steps if whole else self._interval

    def _span(self, state: State) -> Any:
        """Return the seconds until every unit that does not complete has run its steps, or the interval."""
        stay = [
            seconds
            for unit, (kind, seconds) in self._turns.items()
            if any(self._stays(state, job, _others(unit, job), kind) for job in unit)
        ]
        return self._interval if self._rules.fixed else max(stay, default=self._interval)

    def _stays(self, state: State, job: int, beside: Unit, kind: str) -> bool:
        return bool(state.remaining(job) > self._interval * self._inventory.rate(state, job, kind, beside))


def _others(unit: Unit, job: int) -> Unit:
    return tuple(other for other in unit if other != job)
