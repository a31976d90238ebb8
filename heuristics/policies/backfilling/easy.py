"""EASY backfilling: a policy that lets jobs overtake the first waiting jobs if these are not delayed."""

from bisect import insort
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from gsopt.core.errors import InvalidInput, require_one_of, shorten
from gsopt.simulation import Action, State
from gsopt.simulation.bracket import Bracket
from heuristics.policies.backfilling.books import Books
from heuristics.policies.backfilling.profile import Slot

#: Names of the orders in which jobs are backfilled.
ORDERS = ("fcfs", "shortest")


def easy_backfilling(
    state: State,
    *,
    order: Literal["fcfs", "shortest"] = "fcfs",
    depth: int = 1,
    overestimate: float = 1.0,
    seed: int = 0,
) -> "Easy":
    """Start jobs in order of release. Jobs may overtake the first waiting job if they do not delay its start.

    The first waiting job that does not fit gets a reservation at the earliest time at which enough GPUs are
    free by the estimates. A job behind it starts at once if enough GPUs are free, and not reserved, until its
    own estimate is over. Reservations are made anew at every event. The first waiting job starts no later than
    reserved if no job outruns its estimate, no GPUs are removed, and decisions are made at every event.

    An estimate that proves too short is extended (`heuristics.policies.backfilling.estimates.late_end`).

    Source: Lifka, "The ANL/IBM SP scheduling system" (1995); Mu'alem and Feitelson (IEEE TPDS 2001), section 2.
    Key: release date. Ties: lower job number. Not preemptive; knows estimates. O(W R) per event with W waiting
    and R running jobs, one kind of GPU, and a `depth` of 1.

    Parameters
    ----------
    order
        Order in which jobs behind the reserved ones are tried: by release date (``"fcfs"``) or by estimate
        (``"shortest"``, as in SJBF of Tsafrir, Etsion and Feitelson, 2007, also called EASY-SJF).
    depth
        Largest number of waiting jobs that get reservations, at least 1. Jobs behind the first one may start
        later than reserved.
    overestimate
        A job without its own estimate (`gsopt.Job.estimate`) gets its duration times a random number, drawn
        uniformly from 1 to this factor (at most 1e6).
    seed
        Seed of the random factors.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=str(i), release_date=0, duration=d, gpus=g) for i, (d, g) in
    ...         enumerate([(3, 3), (2, 4), (3, 1), (4, 1)])]
    >>> simulate(Workload(jobs=jobs), easy_backfilling, cluster=4).completion_times
    (3.0, 5.0, 3.0, 9.0)
    """
    require_one_of("order", order, ORDERS)
    if not isinstance(depth, int) or depth < 1:
        raise InvalidInput("depth", shorten(depth), "must be a whole number of at least 1")
    return Easy(state, order, depth, Books(state, overestimate, seed))


class Easy:
    """The decider of `easy_backfilling`, with the current reservations.

    Attributes
    ----------
    reservations
        The slots reserved at the last decision, keyed by job.
    """

    preemptive = False

    def __init__(self, state: State, order: str, depth: int, books: Books) -> None:
        self._jobs = state.jobs
        self._books, self._depth = books, depth
        self._is_shortest_first = order == "shortest"
        self._line: dict[int, None] = {}  # the waiting jobs, in order of release
        self._by_key: list[tuple[Any, int]] = []  # the waiting jobs, in order of estimate, if backfilled in it
        self._reserved: dict[int, Slot] = {}

    @property
    def reservations(self) -> Mapping[int, Slot]:
        """The slots reserved at the last decision, keyed by job."""
        return MappingProxyType(self._reserved)

    def decide(self, state: State) -> Iterable[Action]:
        """Start the first waiting jobs that fit, and jobs behind them that do not delay any reserved job."""
        books = self._books
        books.complete(state)
        if not books.agree(state):
            books.correct(state)
        self._queue(state)
        started: dict[int, Slot] = {}
        self._reserved = {}
        for job in list(self._line):
            if len(self._reserved) == self._depth:
                break
            slot = books.earliest(job)
            if slot is None:  # GPUs are away
                continue
            books.profile.take(slot)
            if slot.start <= state.now:
                self._start(job, slot, started)
            else:
                self._reserved[job] = slot
        self._backfill(started)
        for slot in self._reserved.values():
            books.profile.give_back(slot)
        return books.actions(state, started) if started else ()

    def brackets(self, state: State, factor: float | None = None) -> Mapping[int, Bracket]:
        """Return the earliest and latest start of each job that waits after the current decision, keyed by job.

        `factor` is the largest ratio of an estimate to the running time, or None; see `wait_brackets`.
        """
        books = self._books
        if not books.are_exact(self._line, factor):
            first = next(iter(self._line), None)
            latest = {job: slot.start for job, slot in self._reserved.items() if job == first}
            return {job: Bracket(books.soonest(job, state.now, factor), latest.get(job)) for job in self._line}
        for slot in self._reserved.values():
            books.profile.take(slot)
        found = {job: self._exactly(job, state.now) for job in self._line}
        for slot in self._reserved.values():
            books.profile.give_back(slot)
        return found

    def _exactly(self, job: int, now: Any) -> Bracket:
        """Return the bracket of a job, given that all estimates are exact and the reserved slots are taken."""
        if job in self._reserved:
            return Bracket(self._reserved[job].start, self._reserved[job].start)
        slot = self._books.earliest(job)
        return Bracket(now if slot is None else slot.start, None)

    def _queue(self, state: State) -> None:
        if state.evicted:
            self._line = dict.fromkeys(sorted([*self._line, *state.evicted]))
        self._line.update(dict.fromkeys(state.arrived))
        if self._is_shortest_first:
            for job in state.arrived + state.evicted:
                insort(self._by_key, (self._books.need(job).length, job))

    def _backfill(self, started: dict[int, Slot]) -> None:
        """Start the waiting jobs that fit beside the reservations."""
        books = self._books
        waiting = [job for _, job in self._by_key] if self._is_shortest_first else list(self._line)
        free = sum(books.profile.free)
        for job in waiting:
            if free == 0:
                break
            need = books.need(job)
            if need.gpus > free or job in self._reserved:
                continue
            if (slot := books.profile.now(*need)) is not None:
                books.profile.take(slot)
                self._start(job, slot, started)
                free -= need.gpus

    def _start(self, job: int, slot: Slot, started: dict[int, Slot]) -> None:
        self._books.start(job, slot)
        started[job] = slot
        del self._line[job]
        if self._is_shortest_first:
            self._by_key.remove((self._books.need(job).length, job))
