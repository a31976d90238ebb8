"""Tiresias: discretized two-dimensional least attained service, i.e. queues by GPU-seconds used so far."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import ceil, inf, nextafter
from typing import Any

from gsopt.core.errors import number_of, require
from gsopt.simulation import Action, Decider, Start, State, Stop, Wake
from gsopt.simulation.parts.greedy import Greedy
from gsopt.simulation.parts.options import Placement, placer_of
from gsopt.simulation.placer import Placer


def tiresias(
    state: State,
    *,
    thresholds: Sequence[float] = (3250.0, 7200.0),
    promote: float | None = None,
    by_release: bool = False,
    on_time: bool = False,
    placement: Placement = "best",
) -> Decider:
    """Run the jobs in the highest queue first, and demote jobs when their service reaches a threshold.

    A job's service is measured in GPU-seconds. Jobs that do not fit are skipped.

    Source: Tiresias (NSDI 2019), section 3.2 (Discretized 2D-LAS, without knowledge of durations), and the
    authors' public simulator (schedule ``dlas-gpu``). With the defaults, and if all times are integer seconds,
    the schedules are identical to the simulator's.

    Key: the queue. By default, running jobs of a queue come before waiting ones, and each of these two groups
    keeps the order in which its jobs joined. A job that arrives, is demoted or is promoted joins its queue
    behind the waiting jobs. Any other job that is stopped is put in front of them. Ties: lower job number.
    Preemptive at every event.

    Departure: the paper orders each queue by the jobs' first starts, which are undefined for jobs that have
    never started.

    With one threshold of 57,600 GPU-seconds, `by_release`, `on_time`, the ``emptiest`` nodes and 60-second
    rounds, the policy is a baseline of Pollux (OSDI 2021). In Pollux' workloads 2 to 4, every job then
    completes in the same second as in the authors' runs.

    Parameters
    ----------
    thresholds
        GPU-seconds, in ascending order, at which a job leaves the first queue, the second queue, and so on.
    promote
        A job returns to the highest queue, with its service reset to 0, once it has waited this many times as
        long as it has run. Both times are counted from its first start or its last promotion. If None, this
        never happens.
    by_release
        Whether queues are ordered by release date, regardless of which jobs run.
    on_time
        Whether a job is demoted exactly when it reaches a threshold, as in the paper. Otherwise, as in the
        simulator, it may be demoted later: at an arrival, at a completion, or when the simulator expects it to
        reach the threshold. The simulator rounds this time up to a full second, and mistakes seconds for
        GPU-seconds.
    placement
        Which GPUs a job gets: those that the run's placer chooses (``best``), the ``first`` free ones, or those
        on the ``emptiest`` nodes.

    Raises
    ------
    InvalidInput
        A threshold or `promote` is not a positive, finite number, the thresholds are not ascending, or
        `placement` is unknown.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 1, 2)]]
    >>> simulate(Workload(jobs=jobs), tiresias, cluster=1, thresholds=[2]).completion_times
    (6.0, 4.0)
    """
    require_thresholds(thresholds)
    require(promote is None or _is_positive(promote), "promote", promote, "must be a positive number")
    placer = placer_of(placement)
    return _Queues(state, thresholds, promote, by_release=by_release, on_time=on_time, placer=placer)


def require_thresholds(thresholds: Sequence[float]) -> None:
    """Raise `InvalidInput` unless thresholds are positive, finite and strictly ascending."""
    positive = isinstance(thresholds, Iterable) and all(map(_is_positive, thresholds))
    rises = positive and all(a < b for a, b in pairwise(thresholds))
    require(rises, "thresholds", thresholds, "must be positive GPU-seconds that rise")


def _is_positive(value: Any) -> bool:
    return bool(0 < number_of(value) < inf)


#: The time at which a job is demoted or promoted, a running number that breaks ties, and the job.
_Change = tuple[Any, int, int]


class _Queues:
    preemptive = True

    def __init__(
        self,
        state: State,
        thresholds: Sequence[float],
        promote: float | None,
        *,
        by_release: bool,
        on_time: bool,
        placer: Placer | None,
    ) -> None:
        number = type(state.now)
        self._zero = number(0)
        self._thresholds = [number(threshold) for threshold in thresholds]
        self._promote = None if promote is None else number(promote)
        self._order = None if by_release else _Order()
        self._checks = None if on_time else _SimulatorChecks()
        self._queue: dict[int, int] = {}
        self._counts_from: dict[int, Any] = {}  # service when last promoted
        self._waited: dict[int, Any] = {}  # seconds since the first start or the last promotion
        self._stopped: dict[int, Any] = {}  # since when
        self._greedy, self._placer = Greedy(state, key=self._key), placer
        self._changes: list[_Change] = []  # when jobs fall or are promoted
        self._change: dict[int, _Change] = {}  # the next change of each job; any other in the heap is void
        self._planned = 0

    def decide(self, state: State) -> Iterable[Action]:
        self._take_in(state)
        self._greedy.update(state)
        moved = self._change_queues(state)
        actions = self._greedy.repair(state)
        self._follow(state, actions, moved)
        if (time := self._next_check(state)) is not None:
            actions.append(Wake(time))
        return actions if self._placer is None else self._placed(state, actions, self._placer)

    def _placed(self, state: State, actions: Iterable[Action], placer: Placer) -> Iterator[Action]:
        """Yield the actions, with GPUs chosen by a placer for jobs that start."""
        for action in actions:
            if isinstance(action, Start):
                yield action._replace(gpus=state.offer(action.job, placer) or action.gpus)
            else:
                yield action

    def _key(self, job: int) -> Any:
        return (self._queue[job], self._order.place[job]) if self._order else self._queue[job]

    def _take_in(self, state: State) -> None:
        """Put new jobs into the highest queue, remove completed jobs, and update evicted ones."""
        for job in state.completed:
            for books in (self._queue, self._counts_from, self._waited, self._stopped, self._change):
                books.pop(job, None)
            if self._order:
                del self._order.place[job]
        if self._order and state.evicted:
            self._order.stop(state.evicted)
        for job in state.evicted:
            if job in self._change and self._change[job][0] <= state.now:  # at the threshold just then
                self._queue[job] += 1
                if self._order:
                    self._order.join(job)
            self._plan_promotion(state, job)
        for job in state.arrived:
            self._queue[job] = 0
            self._counts_from[job] = self._waited[job] = self._zero
            if self._order:
                self._order.join(job)

    def _change_queues(self, state: State) -> list[int]:
        """Demote or promote the jobs that are due, and return those that run."""
        due = []
        while self._changes and self._changes[0][0] <= state.now:
            change = heappop(self._changes)
            if self._change.get(change[2]) == change:
                due.append(change[2])
        moved = []
        for job in sorted(due):
            if job in state.running:
                self._queue[job] += 1
                self._plan_fall(state, job)
                moved.append(job)
            else:
                self._queue[job] = 0
                self._counts_from[job] = state.service(job)
                self._waited[job] = self._zero
                self._stopped.pop(job, None)
                del self._change[job]
            if self._order:
                self._order.join(job)
            self._greedy.rekey(job)
        return moved

    def _follow(self, state: State, actions: Sequence[Action], moved: Sequence[int]) -> None:
        """Record which jobs run and which wait after a decision."""
        if not (actions or moved):
            return
        started = [action.job for action in actions if isinstance(action, Start)]
        stopped = [action.job for action in actions if isinstance(action, Stop)]
        for job in started:
            if job in self._stopped:
                self._waited[job] += state.now - self._stopped.pop(job)
            self._plan_fall(state, job)
        for job in stopped:
            self._plan_promotion(state, job)
        if self._order:
            settled = set(moved) - set(stopped)
            self._order.stop(sorted(set(stopped) - set(moved), key=self._key))
            for job in sorted((*started, *settled), key=self._key):
                self._order.run(job)
                self._greedy.update_key(job)
            for job in stopped:
                self._greedy.update_key(job)

    def _next_check(self, state: State) -> Any:
        """Return the next time at which a job may change its queue without an event, or None."""
        while self._changes and self._change.get(self._changes[0][2]) != self._changes[0]:
            heappop(self._changes)
        if self._checks is None:
            return self._changes[0][0] if self._changes else None
        return self._checks.next(state.now, self._change)

    def _plan_fall(self, state: State, job: int) -> None:
        """Plan when a running job reaches the threshold of its queue."""
        self._change.pop(job, None)
        queue = self._queue[job]
        if queue < len(self._thresholds):
            count = state.jobs[job].gpus
            service = state.service(job) - self._counts_from[job]
            change = self._plan(state, job, (self._thresholds[queue] - service) / count)
            if self._checks:
                self._checks.expect(change, count, state.now + self._thresholds[queue] - service / count)

    def _plan_promotion(self, state: State, job: int) -> None:
        """Plan when a job that has just been stopped will be promoted."""
        self._change.pop(job, None)
        self._stopped[job] = state.now
        if self._promote is not None and self._queue[job] > 0:
            had_run = (state.service(job) - self._counts_from[job]) / state.jobs[job].gpus
            change = self._plan(state, job, self._promote * had_run - self._waited[job])
            if self._checks:
                self._checks.expect(change, 1, change[0])

    def _plan(self, state: State, job: int, seconds: Any) -> _Change:
        time = state.now + seconds
        if time <= state.now and not seconds > 0 and self._checks:
            time = state.now  # at the next event
        elif time <= state.now:  # only by rounding
            time = nextafter(state.now, inf)
        self._planned += 1
        self._change[job] = change = (time, self._planned, job)
        heappush(self._changes, change)
        return change


class _Order:
    """The positions of jobs in their queues: running jobs first, then stopped jobs, then all others."""

    def __init__(self) -> None:
        self.place: dict[int, tuple[int, int]] = {}
        self._front = 0
        self._end = 0

    def join(self, job: int) -> None:
        """Put a job at the end of the waiting jobs."""
        self._end += 1
        self.place[job] = (1, self._end)

    def run(self, job: int) -> None:
        """Put a job behind the running jobs."""
        self._end += 1
        self.place[job] = (0, self._end)

    def stop(self, jobs: Sequence[int]) -> None:
        """Put jobs in front of the waiting jobs, keeping their order."""
        self._front -= len(jobs)
        for place, job in enumerate(jobs, start=self._front):
            self.place[job] = (1, place)


class _SimulatorChecks:
    """The times at which the authors' simulator checks whether jobs change their queues.

    The simulator expects a running job to reach its threshold after (threshold - seconds run) / GPUs, rounded
    up to full seconds. This time shifts as the job runs, but equally for all jobs on the same number of GPUs,
    so their order is kept.
    """

    def __init__(self) -> None:
        self._expected: dict[int, list[tuple[Any, _Change]]] = {}

    def expect(self, change: _Change, gpus: int, until: Any) -> None:
        """Record a change, which the simulator expects after the seconds until `until`, divided by `gpus`."""
        heappush(self._expected.setdefault(gpus, []), (until, change))

    def next(self, now: Any, changes: dict[int, _Change]) -> Any:
        """Return the next time at which the simulator checks, or None if no change is expected."""
        times = []
        for gpus, heap in self._expected.items():
            while heap and changes.get(heap[0][1][2]) != heap[0][1]:
                heappop(heap)
            if heap:
                times.append(now + ceil((heap[0][0] - now) / gpus))
        return min((time for time in times if time > now), default=None)
