"""Greedy: the jobs of the smallest keys run, each on as many GPUs as it may use and can get."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any

from gsopt.simulation.deciders.pool import Holding, pool_of, size
from gsopt.simulation.deciders.running import Running
from gsopt.simulation.deciders.waiting import Rank, Waiting
from gsopt.simulation.policy import Action, State


class Greedy:
    """Give the GPUs to those whom a scan of all jobs in the order of their keys would choose.

    The scan gives each job the largest of its allowed counts that is free besides what the jobs before it
    have got; a job whose smallest count is not is skipped. So a job grows before the jobs behind it get
    anything.

    At each decision the allocation is repaired instead of made anew: while some job could have more if only
    the jobs before it were looked at, the first of them takes that, of what is free and then of the running
    jobs behind it, the last first. That ends where the scan does, because the scan's is the only allocation
    that leaves nobody such a wish. Only waiting jobs and running ones below their largest count have wishes;
    of the waiting ones the first of each queue speaks for all.

    Where GPUs are of several kinds, a job takes those of the least sufficient memory first. A job is only
    stopped for one that may use its GPUs; it may go on at once on others.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    key
        Key of a job now; that of a waiting job does not change. The key of a running job may fall by itself;
        `rekey` must be called where it rises, unless it does so at its `pace`.
    counts
        The allowed counts of a job, ascending; only the demanded one when None.
    skip
        Whether a job whose smallest count is not free is skipped; else it blocks all jobs behind it.
    pace
        How much the key of a running job rises in a second, by its number of GPUs; None when it never rises.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
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
        self._counts: dict[int, tuple[int, ...]] = {}  # of the jobs that are there
        self._pool = pool_of(state)
        self._waiting = Waiting()
        self._running = Running(None if pace is None else lambda holding: pace(size(holding)))
        self._queue: dict[int, Any] = {}
        self._asking: list[Rank] = []  # whose wishes are still to be looked at in this decision
        self._wishing: dict[int, None] = {}  # running jobs below their largest count
        self._before: dict[int, Holding | None] = {}  # what the jobs that change held before
        self._begin = state.now

    def decide(self, state: State) -> Iterable[Action]:
        """Repair the allocation."""
        self.update(state)
        return self.repair(state)

    @property
    def someone_waits(self) -> bool:
        """Whether a job waits."""
        return len(self._waiting) > 0

    def update(self, state: State) -> None:
        """Take in what happened since the last decision."""
        self._running.elapsed = state.now - self._begin
        for job in state.completed:
            if job in self._running:
                self._leave(job)
            del self._counts[job], self._queue[job]
        for job in state.evicted:
            if job in self._running:
                self._leave(job)
                self._wait(job)
        for job in state.arrived:
            item = self._jobs[job]
            counts = (item.gpus,) if self._counts_of is None else self._counts_of(job)
            self._counts[job] = counts
            self._queue[job] = self._pool.queue(item, counts[0]) if self._skip else None
            self._wait(job)

    def rekey(self, job: int) -> None:
        """Look at the key of a running or waiting job again."""
        if job in self._running:
            self._running.rekey(job, self._key(job))
        else:
            self._wait(job)

    def repair(self, state: State) -> list[Action]:
        """Give the actions that lead to the allocation that a scan would choose."""
        self._pool.look(state)
        self._before.clear()
        asking, waiting, running = self._asking, self._waiting, self._running
        asking[:] = waiting.heads()
        asking += [(self._key(job), job) for job in self._wishing]
        heapify(asking)
        refused: set[Any] = set()  # queues whose first job gets nothing, hence none of its jobs
        while asking:
            rank = heappop(asking)
            job = rank[1]
            queue = self._queue[job]
            if job in self._wishing:
                self._grow(rank)
            elif job in waiting and queue not in refused:
                if self._serve(rank, None):
                    if (head := waiting.head(queue)) is not None:
                        heappush(asking, head)
                elif self._skip:
                    refused.add(queue)
                else:
                    self._stop_behind(rank)
                    break
        after = {job: running.holding(job) if job in running else None for job in self._before}
        return self._pool.actions(state, self._before, after)

    def _grow(self, rank: Rank) -> None:
        """Give a running job more if it can have more."""
        holding = self._leave(rank[1])  # it does not stand behind itself, whatever key it was known by
        if not self._serve(rank, holding):
            self._run(rank[1], holding, rank[0])

    def _serve(self, rank: Rank, holding: Holding | None) -> bool:
        """Give a job as much as it can get where only the jobs before it count; False when that is no more."""
        job = rank[1]
        item, counts, had = self._jobs[job], self._counts[job], size(holding)
        available = had + self._pool.room(item)
        if available < counts[-1]:
            count = largest(counts, available + self._held_behind(rank))
            if count <= had:
                return False
            if count > available:
                victims, found = self._last_behind(rank, count - available)
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
        self._run(job, self._pool.take(self._jobs[job], count, self._before[job]), self._key(job))

    def _run(self, job: int, holding: Holding, key: Any) -> None:
        self._running.add(job, holding, key)
        if size(holding) < self._counts[job][-1]:
            self._wishing[job] = None

    def _stop(self, job: int) -> None:
        holding = self._leave(job)
        self._before.setdefault(job, holding)
        self._pool.give_back(holding)
        heappush(self._asking, (self._wait(job), job))

    def _stop_behind(self, rank: Rank) -> None:
        """Stop every job behind a rank."""
        victims, _ = self._last_behind(rank, None)
        for job, _ in victims:
            self._stop(job)

    def _held_behind(self, rank: Rank) -> int:
        """Give how many GPUs the jobs behind a rank hold at most that a job may use."""
        item, usable = self._jobs[rank[1]], self._pool.usable
        return sum(number * usable(holding, item) for holding, number in self._running.behind(rank))

    def _last_behind(self, rank: Rank, need: int | None) -> tuple[list[tuple[int, int]], int]:
        """Find the last running jobs, all behind a rank, that hold `need` GPUs for the job of the rank.

        With each comes how many GPUs of the right kinds it holds, and with all of them their sum. All there are
        when that is too few, or when there is no need.
        """
        running, pool, item = self._running, self._pool, self._jobs[rank[1]]
        part = {holding: pool.usable(holding, item) for holding, _ in running.behind(rank)}
        chosen = {holding: 0 for holding, usable in part.items() if usable}
        victims: list[tuple[int, int]] = []
        found = 0
        while need is None or found < need:
            last = running.last(chosen)
            if last is None or last <= rank:
                break
            key, job = last
            if self._pace is None and (fresh := self._key(job)) != key:
                running.rekey(job, fresh)  # it has fallen
                continue
            holding = running.holding(job)
            chosen[holding] += 1
            victims.append((job, part[holding]))
            found += part[holding]
        return victims, found

    def _wait(self, job: int) -> Any:
        key = self._key(job)
        self._waiting.add(job, key, self._queue[job])
        return key

    def _leave(self, job: int) -> Holding:
        self._wishing.pop(job, None)
        return self._running.remove(job)


def largest(counts: tuple[int, ...], free: int) -> int:
    """Give the largest of ascending counts that is free; 0 if none is.

    Examples
    --------
    >>> [largest((2, 4, 8), free) for free in (1, 7, 9)]
    [0, 4, 8]
    """
    return counts[bisect_right(counts, free) - 1] if counts[0] <= free else 0
