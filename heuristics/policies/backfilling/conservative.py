"""Conservative backfilling: a policy that reserves GPUs for every waiting job."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from gsopt.simulation import Action, State, Wake
from gsopt.simulation.bracket import Bracket
from heuristics.policies.backfilling.books import Books
from heuristics.policies.backfilling.profile import Slot


def conservative_backfilling(state: State, *, overestimate: float = 1.0, seed: int = 0) -> "Conservative":
    """Reserve GPUs for every job when it is released. A job may overtake others only if it delays none of them.

    The reservation is the earliest period, as long as the job's estimate, in which enough GPUs are neither in
    use, according to the estimates, nor reserved. When a job ends early, each waiting job in turn, in order of
    release, moves to the earliest time at which it fits. If a job outruns its estimate, a reserved start is
    missed, or the available GPUs change, all reservations are made anew, in order of release. Otherwise, no
    reservation moves to a later time.

    An estimate that proves too short is extended (`heuristics.policies.backfilling.estimates.late_end`).

    Source: Mu'alem and Feitelson (IEEE TPDS 2001), section 2. Key: release date. Ties: lower job number. Not
    preemptive; knows estimates. O(W J) per completion, with W waiting jobs, J waiting or running jobs, and one
    kind of GPU.

    Parameters
    ----------
    overestimate
        A job without its own estimate (`gsopt.Job.estimate`) gets its duration times a random number, drawn
        uniformly from 1 to this factor (at most 1e6).
    seed
        Seed of the random factors.

    Raises
    ------
    InvalidInput
        `overestimate` is out of range.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=str(i), release_date=0, duration=d, gpus=g) for i, (d, g) in
    ...         enumerate([(3, 3), (2, 4), (3, 1), (4, 1)])]
    >>> simulate(Workload(jobs=jobs), conservative_backfilling, cluster=4).completion_times
    (3.0, 5.0, 3.0, 9.0)
    """
    return Conservative(Books(state, overestimate, seed))


class Conservative:
    """The decider of `conservative_backfilling`, with the current reservations.

    Attributes
    ----------
    reservations
        The reserved slots of the waiting jobs, keyed by job.
    """

    preemptive = False

    def __init__(self, books: Books) -> None:
        self._books = books
        self._reserved: dict[int, Slot] = {}  # of the waiting jobs, in order of release
        self._unplaced: list[int] = []  # jobs that lack a reservation because GPUs are away
        self._is_loose = False  # whether a reservation may move to an earlier time

    @property
    def reservations(self) -> Mapping[int, Slot]:
        """The reserved slots of the waiting jobs, keyed by job."""
        return MappingProxyType(self._reserved)

    def decide(self, state: State) -> Iterable[Action]:
        """Update the reservations, start the jobs whose reservations begin now, and wake at the next one."""
        books, now = self._books, state.now
        if books.complete(state):
            self._is_loose = True
        due = [slot for slot in self._reserved.values() if slot.start <= now]
        overdue = any(slot.start < now for slot in due)
        if overdue or self._unplaced or not books.agree(state, due):
            self._begin_anew(state)
        elif state.completed and self._is_loose:
            self._compress(state)
        for job in state.arrived:
            self._reserve(job)
        started = {job: slot for job, slot in self._reserved.items() if slot.start <= now}
        for job, slot in started.items():
            del self._reserved[job]
            books.start(job, slot)
        actions = books.actions(state, started) if started else []
        if self._reserved:
            actions.append(Wake(min(slot.start for slot in self._reserved.values())))
        return actions

    def brackets(self, state: State, factor: float | None = None) -> Mapping[int, Bracket]:
        """Return the earliest and latest start of each job that waits after the current decision, keyed by job.

        `factor` is the largest ratio of an estimate to the running time, or None; see `wait_brackets`.
        """
        books, now = self._books, state.now
        is_exact = books.are_exact(self._reserved, factor)
        found = {
            job: Bracket(slot.start if is_exact else books.soonest(job, now, factor), slot.start)
            for job, slot in self._reserved.items()
        }
        return found | {job: Bracket(now, None) for job in self._unplaced}

    def _reserve(self, job: int) -> None:
        slot = self._books.earliest(job)
        if slot is None:
            self._unplaced.append(job)
        else:
            self._books.profile.take(slot)
            self._reserved[job] = slot

    def _begin_anew(self, state: State) -> None:
        """Make all reservations anew, because a job is late or the GPUs have changed."""
        self._books.correct(state)
        waiting = sorted([*self._reserved, *self._unplaced, *state.evicted])
        self._reserved, self._unplaced, self._is_loose = {}, [], False
        for job in waiting:
            self._reserve(job)

    def _compress(self, state: State) -> None:
        """Move each reservation to the earliest time at which it fits, if that is earlier."""
        books = self._books
        self._is_loose = False
        for job, slot in self._reserved.items():
            if slot.start <= state.now:
                continue
            if len(books.need(job).kinds) == 1:
                earlier = books.earliest(job, before=slot.start)
                if earlier is None:
                    continue
                books.profile.give_back(slot)
            else:
                books.profile.give_back(slot)
                earlier = books.earliest(job)
                if earlier is None or earlier.start >= slot.start:
                    books.profile.take(slot)
                    continue
            books.profile.take(earlier)
            self._reserved[job] = earlier
            self._is_loose = True
