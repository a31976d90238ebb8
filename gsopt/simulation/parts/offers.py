"""Offers: free GPUs offered to one waiting job after another, each of which accepts them or keeps waiting."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import inf, nextafter
from typing import Any, Literal, NamedTuple

from gsopt.simulation.parts.patience import Patience
from gsopt.simulation.parts.tiers import Need, Tiers, need_of
from gsopt.simulation.parts.turns import Turn, Turns
from gsopt.simulation.placer import Placer
from gsopt.simulation.policy import Action, Start, State, Stop, Wake

#: When the waiting time of a job begins: when it arrives or loses its GPUs, or at its first offer after that.
Clock = Literal["starvation", "offer"]

#: Which jobs need not wait to stay on their tier when their lease ends: those on their best tier, all jobs, or
#: no jobs.
Renewal = Literal["best", "same", "never"]

#: A function of the state and a job that returns the job's key. It is called when the job begins to wait. GPUs
#: are offered in ascending order of keys.
Key = Callable[[State, int], Any]


class _Offer(NamedTuple):
    """Offered GPUs (empty if they have no indices), and the tier that connects them."""

    gpus: tuple[int, ...]
    tier: int


class Offers:
    """A decider that offers free GPUs to waiting jobs in ascending order of keys; a job accepts or declines.

    A job is offered as many GPUs as it demands. It is skipped if too few are free. GPUs that a job declines are
    offered to the next job. Ties between keys go to the job that has waited longer, then to the lower number.

    When the lease of a job ends, the job waits again, and its GPUs are free to be offered. If they are still
    free when its turn comes, the job is offered these GPUs, unless the placer finds closer ones. If it accepts
    its own GPUs, it simply continues.

    Parameters
    ----------
    state
        The state at the start of the run.
    patience
        Object that decides how long jobs wait before they accept an offer, such as
        `gsopt.simulation.parts.patience.Timers`.
    key
        Function of the state and a job that returns the job's key when it begins to wait; None if all keys are
        equal.
    clock
        When the waiting time of a job begins. ``"starvation"``: when it arrives or loses its GPUs. ``"offer"``:
        at its first offer after that.
    lease
        Seconds for which a job may hold its GPUs; None for no limit, so that no job is stopped.
    renew
        Which jobs, at the end of their lease, accept GPUs on the same or a closer tier without waiting.
        ``"best"``: jobs on the innermost tier that they could ever get. ``"same"``: all jobs. ``"never"``: no
        jobs.
    placer
        Function that chooses the GPUs that are offered; None for the placer of the run.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from gsopt.simulation.parts.patience import Timers, never_waits
    >>> def impatient(state):
    ...     return Offers(state, Timers(state, never_waits), lease=4)
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=5, gpus=2) for n in "abc"])
    >>> simulate(jobs, impatient, cluster=4).completion_times
    (5.0, 6.0, 9.0)
    """

    def __init__(
        self,
        state: State,
        patience: Patience,
        key: Key | None = None,
        *,
        clock: Clock = "starvation",
        lease: float | None = None,
        renew: Renewal = "best",
        placer: Placer | None = None,
    ) -> None:
        number = type(state.now)
        self.preemptive = lease is not None
        self._patience, self._key, self._placer = patience, key, placer
        self._from_offer = clock == "offer"
        self._lease = None if lease is None else number(lease)
        self._renew = renew
        self._tiers = Tiers(state)
        self._turns = Turns()
        self._due: Any = inf  # when the next waiting job would accept what it has declined
        self._since: dict[int, Any] = {}  # when the clocks of waiting jobs began
        self._ends: list[tuple[Any, int]] = []  # of leases; void unless a job's own
        self._end: dict[int, Any] = {}
        self._number = number

    def decide(self, state: State) -> Iterable[Action]:
        """Yield the actions that end expired leases and start the jobs that accept free GPUs."""
        self._due = inf
        for job in state.completed:
            self._end.pop(job, None)
        for job in (*state.evicted, *state.arrived):
            self._wait(state, job)
        ended = self._ended(state.now)
        if self._renew != "never" and self._nothing_changes(state, ended):
            for job in ended:
                self._hold(state, job)
        else:
            yield from self._end_leases(state, ended)
        yield from self._wake()

    def _nothing_changes(self, state: State, ended: Sequence[int]) -> bool:
        """Check whether the jobs whose leases have ended can simply continue.

        This is so if all of them are on their best tier, and no waiting job would fit even if they stopped.
        """
        most = state.free + sum(state.running[job] for job in ended)
        if any(need.gpus <= most for need in self._turns.needs):
            return False
        return all(self._is_content(state, job) for job in ended)

    def _end_leases(self, state: State, ended: Sequence[int]) -> Generator[Action, None, None]:
        """Stop the jobs whose leases have ended, and offer all free GPUs."""
        before: dict[int, _Offer] = {}
        for job in ended:
            gpus = state.placement(job)
            before[job] = _Offer(gpus, self._tiers.of(gpus))
            yield Stop(job)
            self._wait(state, job)
        yield from self._offer_all(state, before)

    def _is_content(self, state: State, job: int) -> bool:
        """Check whether a running job is on its best tier."""
        return self._tiers.of(state.placement(job)) <= self._tiers.best(state.jobs[job])

    def _wait(self, state: State, job: int) -> None:
        """Add a job to the waiting jobs."""
        self._end.pop(job, None)
        if not self._from_offer:
            self._since[job] = state.now
        key = 0 if self._key is None else self._key(state, job)
        self._turns.add(Turn(key, state.now, job), need_of(state.jobs[job]))

    def _offer_all(self, state: State, before: Mapping[int, _Offer]) -> Generator[Action, None, None]:
        """Offer free GPUs to one job after another, and find when the next declining job would accept."""
        if state.free <= 0:
            return
        offers: dict[Need, _Offer] = {}  # since the last acceptance

        def is_open(need: Need) -> bool:
            if need not in offers and need.gpus <= state.free:
                gpus = state.offer(self._turns.first(need).job, self._placer)
                if gpus is not None:
                    offers[need] = _Offer(gpus, self._tiers.of(gpus))
            return need in offers

        for turn, need in self._turns.walk(is_open):
            accepted, due = self._answer(state, turn.job, offers[need], before.get(turn.job))
            if accepted is None:
                self._due = min(self._due, due)
            else:
                self._turns.remove(turn, need)
                self._hold(state, turn.job)
                yield Start(turn.job, accepted.gpus or None)
                offers.clear()

    def _wake(self) -> Iterator[Action]:
        wake = min(self._due, self._next_end())
        if wake < inf:
            yield Wake(wake)

    def _answer(
        self, state: State, job: int, offer: _Offer, before: _Offer | None
    ) -> tuple[_Offer | None, Any]:
        """Return the GPUs that a job accepts, or None and the time from which it would accept the offer."""
        if before is not None:
            if offer.tier >= before.tier and before.gpus and not any(map(state.users, before.gpus)):
                offer = before  # no free GPUs are closer than its own
            if offer.tier <= before.tier and self._may_renew(state, job, before):
                return offer, None
        since = self._since.setdefault(job, state.now)
        seconds = self._patience.seconds(state, job, offer.tier, offer.gpus)
        due = inf if seconds == inf else since + self._number(seconds)
        if due > state.now:
            return None, due
        self._patience.accept(state, job, offer.tier, state.now - since)
        return offer, None

    def _may_renew(self, state: State, job: int, before: _Offer) -> bool:
        """Check whether a job may renew its lease without waiting."""
        if self._renew == "best":
            return before.tier <= self._tiers.best(state.jobs[job])
        return self._renew == "same"

    def _hold(self, state: State, job: int) -> None:
        """Record that a job holds GPUs, and when its lease ends."""
        self._since.pop(job, None)
        if self._lease is not None:
            end = state.now + self._lease
            if end <= state.now:  # only by rounding
                end = nextafter(state.now, inf)
            self._end[job] = end
            heappush(self._ends, (end, job))

    def _ended(self, now: Any) -> list[int]:
        """Return the jobs whose leases end now."""
        ended = []
        while self._next_end() <= now:
            ended.append(heappop(self._ends)[1])
        return ended

    def _next_end(self) -> Any:
        """Return the time at which the next lease ends, or infinity if there is none."""
        while self._ends and self._end.get(self._ends[0][1]) != self._ends[0][0]:
            heappop(self._ends)
        return self._ends[0][0] if self._ends else inf
