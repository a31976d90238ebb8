"""Greedy: the jobs of the smallest keys run, each on as many GPUs as it may use and can get."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from gsopt.scenario.job import Job
from gsopt.simulation.parts.pool import Holding, pool_of, size
from gsopt.simulation.parts.running import Running
from gsopt.simulation.parts.waiting import Rank, Waiting
from gsopt.simulation.policy import Action, State


class _Wants(NamedTuple):
    """A job that is there, its allowed counts, and its queue while it waits."""

    item: Job
    counts: tuple[int, ...]
    queue: Any


class Greedy:
    """Grant the GPUs to those whom a scan of all jobs in the order of their keys would choose.

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
        self._there: dict[int, _Wants] = {}
        self._pool = pool_of(state)
        self._waiting = Waiting()
        self._running = Running(None if pace is None else lambda holding: pace(size(holding)))
        self._asking: list[Rank] = []  # whose wishes are still to be looked at in this decision
        self._nobody_behind = False  # that is, behind whoever asks now
        self._free: Any = None  # what the last decision left
        self._anew = True  # whether more than arrivals may have given rise to wishes
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
        if state.completed or state.evicted or self._pace is not None or not self._skip:
            self._anew = True
        for job in state.completed:
            if job in self._running:
                self._leave(job)
            del self._there[job]
        for job in state.evicted:
            if job in self._running:
                self._leave(job)
                self._wait(job)
        self._asking.clear()
        for job in state.arrived:
            item = self._jobs[job]
            counts = (item.gpus,) if self._counts_of is None else self._counts_of(job)
            queue = self._pool.queue(item, counts[0]) if self._skip else None
            self._there[job] = _Wants(item, counts, queue)
            self._asking.append(self._wait(job))

    def rekey(self, job: int) -> None:
        """Look at the key of a running or waiting job again."""
        self._anew = True
        self.settle(job)

    def settle(self, job: int) -> None:
        """Look again at a key that has fallen while its job runs, or risen while it waits."""
        if job in self._running:
            self._running.rekey(job, self._key(job))
        else:
            self._wait(job)

    def repair(self, state: State) -> list[Action]:
        """Return the actions that lead to the allocation that a scan would choose."""
        pool, asking, waiting, running = self._pool, self._asking, self._waiting, self._running
        pool.look(state)
        self._before.clear()
        self._anew = self._anew or pool.free != self._free
        if self._anew:
            asking[:] = waiting.heads()
        if self._wishing:
            asking += [(self._key(job), job) for job in self._wishing]
        heapify(asking)
        self._nobody_behind = False
        refused: set[Any] = set()  # queues whose first job gets nothing, hence none of its jobs
        while asking and not (self._nobody_behind and pool.is_empty):
            rank = heappop(asking)
            job = rank[1]
            if job in self._wishing:
                self._grow(rank)
            elif job in waiting and (queue := self._there[job].queue) not in refused:
                if self._serve(rank, None):
                    if (head := waiting.head(queue)) is not None:
                        heappush(asking, head)
                elif self._skip:
                    refused.add(queue)
                else:
                    self._stop_behind(rank)
                    break
        self._free, self._anew = pool.free, False
        if not self._before:
            return []
        after = {job: running.holding(job) if job in running else None for job in self._before}
        return pool.actions(state, self._before, after)

    def _grow(self, rank: Rank) -> None:
        """Grant a running job more if it can have more."""
        holding = self._leave(rank[1])  # it does not stand behind itself, whatever key it was known by
        if not self._serve(rank, holding):
            self._run(rank[1], holding, rank[0])

    def _serve(self, rank: Rank, holding: Holding | None) -> bool:
        """Grant a job as much as it can get where only the jobs before it count; False if that is no more."""
        job = rank[1]
        item, counts, _ = self._there[job]
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
        self._run(job, self._pool.take(self._there[job].item, count, self._before[job]), self._key(job))

    def _run(self, job: int, holding: Holding, key: Any) -> None:
        self._running.add(job, holding, key)
        if size(holding) < self._there[job].counts[-1]:
            self._wishing[job] = None

    def _stop(self, job: int) -> None:
        holding = self._leave(job)
        self._before.setdefault(job, holding)
        self._pool.give_back(holding)
        heappush(self._asking, self._wait(job))
        if not self._anew:  # jobs behind this one may have wishes now
            self._anew = True
            for head in self._waiting.heads():
                heappush(self._asking, head)

    def _stop_behind(self, rank: Rank) -> None:
        """Stop every job behind a rank."""
        victims, _ = self._last_behind(rank, self._usable_behind(rank), None)
        for job, _ in victims:
            self._stop(job)

    def _usable_behind(self, rank: Rank) -> dict[Holding, tuple[int, int]]:
        """Count, by holding, the jobs behind a rank that have it, and how much of it the rank's job can use."""
        item, usable = self._there[rank[1]].item, self._pool.usable
        found = {holding: (number, usable(holding, item)) for holding, number in self._running.behind(rank)}
        self._nobody_behind = not found
        return found

    def _last_behind(
        self, rank: Rank, behind: Mapping[Holding, tuple[int, int]], need: int | None
    ) -> tuple[list[tuple[int, int]], int]:
        """Find the last running jobs, all behind a rank, that hold `need` GPUs for the job of the rank.

        With each comes how many GPUs of the right kinds it holds, and with all of them their sum. All there are
        when that is too few, or when there is no need.
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
                running.rekey(job, fresh)  # it has fallen
                continue
            holding = running.holding(job)
            chosen[holding] += 1
            part = behind[holding][1]
            victims.append((job, part))
            found += part
        return victims, found

    def _wait(self, job: int) -> Rank:
        key = self._key(job)
        self._waiting.add(job, key, self._there[job].queue)
        return key, job

    def _leave(self, job: int) -> Holding:
        self._wishing.pop(job, None)
        return self._running.remove(job)


def largest(counts: tuple[int, ...], free: int) -> int:
    """Return the largest of ascending counts that is free; 0 if none is."""
    return counts[bisect_right(counts, free) - 1] if counts[0] <= free else 0
