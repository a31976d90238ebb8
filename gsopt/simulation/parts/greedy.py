"""Greedy: an allocation that gives each job, in ascending order of keys, as many GPUs as it can get."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from gsopt.scenario.job import Job
from gsopt.simulation.parts.pool import Holding, pool_of, size
from gsopt.simulation.parts.running import RunningQueue
from gsopt.simulation.parts.waiting import Rank, WaitingQueue
from gsopt.simulation.policy import Action, State


class _KnownJob(NamedTuple):
    """A released job with its allowed numbers of GPUs, and its queue while it waits."""

    item: Job
    counts: tuple[int, ...]
    queue: Any


class Greedy:
    """A decider that allocates GPUs as if it scanned all jobs in ascending order of keys.

    The scan gives each job the largest allowed number of GPUs that the jobs before it leave free.

    Each decision repairs the last allocation. A waiting job, or a running job below its largest allowed number,
    takes free GPUs. If these are too few for its largest number, running jobs after it are stopped to make
    room, starting with the last one. If all GPUs are of one kind (type and memory size), the allocation then
    equals that of the scan.

    If there are several kinds, a job first takes GPUs of the kinds that it already holds, then those with the
    smallest memory that suffices. A job is stopped only to make room for a job that can use its GPUs. The
    stopped job may continue at once on other GPUs.

    Parameters
    ----------
    state
        The state at the start of the run.
    key
        Function that returns the current key of a job. Changes of keys must be reported to `rekey` or
        `update_key`, with one exception: the keys of running jobs may fall if `pace` is None, and rise at their
        pace otherwise.
    counts
        Function that returns the allowed numbers of GPUs of a job in ascending order; None to allow only the
        demanded number.
    skip
        Whether a job whose smallest number is not free is skipped. If not, no job after it starts or grows, and
        jobs after it are stopped if it can use any of their GPUs.
    pace
        Function that returns how much the key of a running job rises per second, given its number of GPUs; None
        if keys do not rise with time.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 2.0)]
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1, menu=menu) for name in "ab"]
    >>> def in_order(state):
    ...     return Greedy(state, key=lambda job: job, counts=lambda job: state.jobs[job].counts)
    >>> simulate(Workload(jobs=jobs), in_order, cluster=3).completion_times
    (1.0, 1.5)
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        key: Callable[[int], Any],
        counts: Callable[[int], tuple[int, ...]] | None = None,
        *,
        skip: bool = True,
        pace: Callable[[int], Any] | None = None,
    ) -> None:
        self._jobs = state.jobs
        self._key, self._skip, self._pace = key, skip, pace
        self._counts_of = counts
        self._known: dict[int, _KnownJob] = {}
        self._pool = pool_of(state)
        self._waiting = WaitingQueue()
        self._running = RunningQueue(None if pace is None else lambda holding: pace(size(holding)))
        self._asking: list[Rank] = []  # jobs that this decision still has to check for improvement
        self._nobody_behind = False  # of the job that is being checked
        self._free: Any = None  # after the last decision
        self._from_scratch = True  # whether jobs other than new arrivals may improve
        self._can_grow: dict[int, None] = {}  # running jobs below their largest count
        self._before: dict[int, Holding | None] = {}  # of the jobs that change, what they held before
        self._begin = state.now

    def decide(self, state: State) -> Iterable[Action]:
        """Return the actions that update the allocation."""
        self.update(state)
        return self.repair(state)

    @property
    def someone_waits(self) -> bool:
        """Whether any job is waiting."""
        return len(self._waiting) > 0

    def update(self, state: State) -> None:
        """Process the arrivals, completions and evictions since the last decision."""
        self._running.elapsed = state.now - self._begin
        if state.completed or state.evicted or self._pace is not None or not self._skip:
            self._from_scratch = True
        for job in state.completed:
            if job in self._running:
                self._leave(job)
            del self._known[job]
        for job in state.evicted:
            if job in self._running:
                self._leave(job)
                self._wait(job)
        self._asking.clear()
        for job in state.arrived:
            item = self._jobs[job]
            counts = (item.gpus,) if self._counts_of is None else self._counts_of(job)
            queue = self._pool.queue(item, counts[0]) if self._skip else None
            self._known[job] = _KnownJob(item, counts, queue)
            self._asking.append(self._wait(job))

    def rekey(self, job: int) -> None:
        """Update the key of a running or waiting job, whether the key has risen or fallen."""
        self._from_scratch = True
        self.update_key(job)

    def update_key(self, job: int) -> None:
        """Update the key of a job whose key has fallen while it runs, or risen while it waits.

        After any other change, call `rekey` instead.
        """
        if job in self._running:
            self._running.rekey(job, self._key(job))
        else:
            self._wait(job)

    def repair(self, state: State) -> list[Action]:
        """Return the actions that repair the last allocation. Before that, `update` must be called."""
        pool, asking, waiting, running = self._pool, self._asking, self._waiting, self._running
        pool.look(state)
        self._before.clear()
        self._from_scratch = self._from_scratch or pool.free != self._free
        if self._from_scratch:
            asking[:] = waiting.heads()
        if self._can_grow:
            asking += [(self._key(job), job) for job in self._can_grow]
        heapify(asking)
        self._nobody_behind = False
        refused: set[Any] = set()  # queues whose first job cannot improve, and hence none of their jobs
        while asking and not (self._nobody_behind and pool.is_empty):
            rank = heappop(asking)
            job = rank[1]
            if job in self._can_grow:
                self._grow(rank)
            elif job in waiting and (queue := self._known[job].queue) not in refused:
                if self._serve(rank, None):
                    if (head := waiting.head(queue)) is not None:
                        heappush(asking, head)
                elif self._skip:
                    refused.add(queue)
                else:
                    self._stop_behind(rank)
                    break
        self._free, self._from_scratch = pool.free, False
        if not self._before:
            return []
        after = {job: running.holding(job) if job in running else None for job in self._before}
        return pool.actions(state, self._before, after)

    def _grow(self, rank: Rank) -> None:
        """Grant more GPUs to a running job if it can get them."""
        holding = self._leave(rank[1])  # so that it is not behind itself, whatever its last known key
        if not self._serve(rank, holding):
            self._run(rank[1], holding, rank[0])

    def _serve(self, rank: Rank, holding: Holding | None) -> bool:
        """Grant a job the GPUs that the jobs before it leave, if these are more than it has.

        Return whether they are.
        """
        job = rank[1]
        item, counts, _ = self._known[job]
        had = size(holding)
        available = had + self._pool.room(item)
        if available < counts[-1]:
            behind = {} if self._nobody_behind else self._usable_behind(rank)
            held = sum(number * part for number, part in behind.values())
            count = largest(counts, available + held)
            if count <= had:
                return False
            if count > available:
                victims, found = self._last_behind(rank, behind, count - available)
                count = largest(counts, available + found)
                if count <= had:
                    return False
                for victim, part in victims:
                    if available >= count:
                        break
                    available += part
                    self._stop(victim)
        else:
            count = counts[-1]
        self._take(job, count, holding)
        return True

    def _take(self, job: int, count: int, holding: Holding | None) -> None:
        self._before.setdefault(job, holding)
        if holding is None:
            self._waiting.remove(job)
        else:
            self._pool.give_back(holding)
        self._run(job, self._pool.take(self._known[job].item, count, self._before[job]), self._key(job))

    def _run(self, job: int, holding: Holding, key: Any) -> None:
        self._running.add(job, holding, key)
        if size(holding) < self._known[job].counts[-1]:
            self._can_grow[job] = None

    def _stop(self, job: int) -> None:
        holding = self._leave(job)
        self._before.setdefault(job, holding)
        self._pool.give_back(holding)
        heappush(self._asking, self._wait(job))
        if not self._from_scratch:  # jobs behind this one may improve now
            self._from_scratch = True
            for head in self._waiting.heads():
                heappush(self._asking, head)

    def _stop_behind(self, rank: Rank) -> None:
        """Stop all jobs after a rank that hold GPUs which the job of this rank can use."""
        victims, _ = self._last_behind(rank, self._usable_behind(rank), None)
        for job, _ in victims:
            self._stop(job)

    def _usable_behind(self, rank: Rank) -> dict[Holding, tuple[int, int]]:
        """Count the jobs after a rank by their holdings.

        Each count comes with the number of GPUs in such a holding that the job of this rank can use.
        """
        item, usable = self._known[rank[1]].item, self._pool.usable
        found = {holding: (number, usable(holding, item)) for holding, number in self._running.behind(rank)}
        self._nobody_behind = not found
        return found

    def _last_behind(
        self, rank: Rank, behind: Mapping[Holding, tuple[int, int]], need: int | None
    ) -> tuple[list[tuple[int, int]], int]:
        """Return the last running jobs after a rank that together hold `need` GPUs usable by the rank's job.

        Each job is returned with its number of usable GPUs, followed by the sum of these numbers. If the jobs
        after the rank hold too few GPUs, or if `need` is None, all of these jobs are returned.
        """
        running = self._running
        chosen = {holding: 0 for holding, (_, part) in behind.items() if part}
        victims: list[tuple[int, int]] = []
        found = 0
        while need is None or found < need:
            last = running.last(chosen)
            if last is None or last <= rank:
                break
            key, job = last
            if self._pace is None and (fresh := self._key(job)) != key:
                running.rekey(job, fresh)  # its key has fallen
                continue
            holding = running.holding(job)
            chosen[holding] += 1
            part = behind[holding][1]
            victims.append((job, part))
            found += part
        return victims, found

    def _wait(self, job: int) -> Rank:
        key = self._key(job)
        self._waiting.add(job, key, self._known[job].queue)
        return key, job

    def _leave(self, job: int) -> Holding:
        self._can_grow.pop(job, None)
        return self._running.remove(job)


def largest(counts: tuple[int, ...], free: int) -> int:
    """Return the largest allowed number of GPUs that is at most `free`, or 0 if there is none."""
    return counts[bisect_right(counts, free) - 1] if counts[0] <= free else 0
