"""Rounds: jobs take turns on GPUs of several kinds, so that each comes to its share of the time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import ceil, floor
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gsopt.simulation.deciders.inventory import Inventory
from gsopt.simulation.deciders.received import Claim, Portions, Received
from gsopt.simulation.policy import Action, State, Wake
from gsopt.tolerances import SPAN_ERROR

#: Gives jobs their shares of the time.
Divide = Callable[[State, Sequence[int], Inventory], Portions]

#: Whose rounds.
Form = Literal["original", "port"]


class Rules(NamedTuple):
    """What differs between the programs that have such rounds.

    Attributes
    ----------
    resets
        Whether shares are computed after arrivals and completions only, and not too often, and the time that
        jobs have had is then counted anew; else they are computed in every round, and nothing is forgotten.
    fixed
        Whether rounds begin at multiples of their length; else one begins as soon as all jobs of the one before
        are through.
    one_queue
        Whether the jobs of all kinds stand in one order; else each kind is given away before the next.
    whole_steps
        Whether a round has whole steps only, of jobs whose steps are known, and so ends a little earlier.

    Examples
    --------
    >>> RULES["port"].fixed
    True
    """

    resets: bool
    fixed: bool
    one_queue: bool
    whole_steps: bool


#: Gavel's own simulator, and its port in the simulators of Sia and Ares.
RULES: Mapping[str, Rules] = {
    "original": Rules(resets=True, fixed=False, one_queue=False, whole_steps=True),
    "port": Rules(resets=False, fixed=True, one_queue=True, whole_steps=False),
}


class Rounds:
    """Run in each round the jobs that have had least of their shares, on all their GPUs.

    A job claims its share over the part that it has had of the time of all jobs on that kind, whatever their
    sizes; half a round is credited to each, so that a job that comes does not go before all others. Claims are
    met from the largest down; a job that does not fit is skipped. Jobs without a share run on what is left.

    In the original form a job that comes waits for the next shares, and yet what it would hold is kept for it,
    as its program does; only where nobody could run are shares computed at once.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    divide
        Gives the shares of the time of the jobs that are there and fit.
    form
        Whose rounds: ``original``, or ``port``.
    interval
        Seconds of a round.
    renewal
        Fewest seconds from shares to shares in the original form; but those at the time 0 hold until jobs come
        or go.
    leftovers
        Whether jobs without a share run on what is left.
    pairs
        Tells who shares all GPUs with whom since the last division, each of the two with the other. They have
        the share of the lower number; when one of them is complete, the other one has none until the next
        division.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> def equally(state, jobs, inventory):
    ...     return {job: {"gpu": 1 / len(jobs)} for job in jobs}
    >>> jobs = [Job(name=name, release_date=0, duration=540, gpus=1) for name in "ab"]
    >>> simulate(Workload(jobs=jobs), lambda state: Rounds(state, equally), cluster=1).completion_times
    (900.0, 1080.0)
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
        self._received = Received(number(interval) / 2)
        self._there: dict[int, None] = {}
        self._shares: Portions = {}
        self._shared_at: Any = None
        self._is_news = False  # whether jobs or GPUs have come or gone since the shares were computed
        self._turns: Mapping[int, tuple[str, Any]] = {}  # kinds of the jobs of this round, and their seconds
        self._begun: Any = None
        self._ends: Any = None

    def decide(self, state: State) -> Iterable[Action]:
        """Begin a round if the one before is over."""
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
            self._received.enter(job, self._inventory.kinds_of(job))
            self._there[job] = None
        for job in state.completed:
            self._inventory.leave(job)
            self._received.leave(job)
            del self._there[job]
        self._is_news = self._is_news or bool(state.arrived or state.completed)

    def _is_over(self, state: State) -> bool:
        if state.now >= self._ends:
            return True
        return not (self._rules.fixed or any(job in state.running for job in self._turns))

    def _close(self, state: State) -> None:
        """Note what the jobs of the round have had."""
        for job, (kind, seconds) in self._turns.items():
            self._received.add(job, kind, min(seconds, state.now - self._begun))
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
        beside = {other: job for job, other in self._pairs().items() if job in chosen and other in self._there}
        chosen |= {other: chosen[job] for other, job in beside.items()}
        yield self._inventory.assign(state, chosen, beside)
        if chosen:
            self._turns = {job: (kind, self._seconds(state, job, kind)) for job, kind in chosen.items()}
            self._begun, self._ends = state.now, state.now + self._span(state)

    # Shares

    def _may_share(self, state: State) -> bool:
        if not self._rules.resets:
            return True
        return self._is_news and (not self._shared_at or state.now - self._shared_at >= self._renewal)

    def _share(self, state: State) -> None:
        """Compute the shares of the jobs that fit."""
        if self._rules.resets:
            since = state.now if self._shared_at is None else self._shared_at
            self._received.reset(self._shares, state.now - since)
        jobs = [job for job in self._there if self._inventory.kinds_with_room(state, job)]
        self._shares = self._divide(state, jobs, self._inventory) if jobs else {}
        self._shared_at, self._is_news = state.now, False

    # Turns

    def _choose(self, state: State) -> dict[int, str]:
        """Give those who run, with the kinds on which they do; room of jobs without shares yet stays empty."""
        left, chosen = dict(self._inventory.counts), dict[int, str]()
        for _, job, kind in self._queue(state):
            if job not in chosen and state.jobs[job].gpus <= left[kind]:
                left[kind] -= state.jobs[job].gpus
                chosen[job] = kind
        return {job: kind for job, kind in chosen.items() if job in self._shares}

    def _queue(self, state: State) -> list[tuple[Claim, int, str]]:
        """Give all claims in the order in which they are met, equal ones in that of arrival."""
        queues = [self._claims(state, kind) for kind in self._inventory.kinds]
        if self._rules.one_queue:
            queues = [[*chain.from_iterable(queues)]]
        return [each for queue in queues for each in sorted(queue, key=itemgetter(0), reverse=True)]

    def _claims(self, state: State, kind: str) -> list[tuple[Claim, int, str]]:
        shares = {
            job: 0.0 if widowed else self._shares.get(job, {}).get(kind, 0.0)
            for job, widowed in self._claimants()
        }
        return [
            (self._received.claim(job, kind, share), job, kind)
            for job, share in shares.items()
            if (share or self._leftovers) and kind in self._inventory.kinds_with_room(state, job)
        ]

    def _claimants(self) -> Iterator[tuple[int, bool]]:
        """Give the jobs with claims of their own, and whether the one with whom they had a share is gone."""
        pairs = self._pairs()
        for job in self._there:
            other = pairs.get(job, job)
            if other >= job or other not in self._there:
                yield job, other not in self._there

    def _seconds(self, state: State, job: int, kind: str) -> Any:
        """Give the seconds of a round in which a job does whole steps; all where they do not count."""
        steps = self._inventory.steps(state, job, kind) if self._rules.whole_steps else None
        whole = floor(steps * self._interval * (1 + SPAN_ERROR)) if steps else 0
        return type(state.now)(whole) / steps if whole else self._interval

    def _span(self, state: State) -> Any:
        """Give the length of the round: that of the last job that is not through with all its steps in it."""
        stay = [
            seconds
            for job, (kind, seconds) in self._turns.items()
            if state.remaining(job) > self._interval * self._inventory.rate(state, job, kind)
        ]
        return self._interval if self._rules.fixed else max(stay, default=self._interval)
