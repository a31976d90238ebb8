"""Equal share: GPUs shared as equally as possible among the admitted jobs."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from gsopt.simulation import Action, Decider, State
from gsopt.simulation.parts.pool import Holding, pool_of
from gsopt.simulation.parts.waiting import WaitingQueue


def equal_share(state: State) -> Decider:
    """Share the GPUs about equally, by letting the job with the fewest GPUs grow first.

    Waiting jobs are admitted in order of release. A job is skipped if its smallest allowed number of GPUs does
    not fit beside the smallest numbers of the admitted jobs. Admitted jobs are never stopped. At every event,
    each admitted job gets its smallest number. Then, as long as GPUs are left, the job with the fewest GPUs
    grows to its next allowed number if that fits. For rigid jobs, this policy is `fifo_skipping`.

    Source: max-min fairness with an integer number of GPUs per job, called "equal share" in evaluations of
    elastic schedulers. Key: GPUs held. Ties: the job that has grown fewer times at this event, then the lower
    job number. Not preemptive; resizes. O(GPUs log GPUs) per event.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 2.0), (4, 4.0)]
    >>> jobs = [Job(name=name, release_date=0, duration=8, gpus=1, menu=menu) for name in "ab"]
    >>> simulate(Workload(jobs=jobs), equal_share, cluster=4).completion_times
    (4.0, 4.0)
    """
    return _Shares(state)


class _Shares:
    preemptive = False

    def __init__(self, state: State) -> None:
        self._jobs = state.jobs
        self._pool = pool_of(state)
        self._waiting = WaitingQueue()
        self._counts: dict[int, tuple[int, ...]] = {}  # of the jobs that are present
        self._least: dict[int, Holding] = {}  # what each admitted job keeps for good
        self._held: dict[int, Holding] = {}  # what the admitted jobs with a choice hold

    def decide(self, state: State) -> Iterable[Action]:
        for job in state.completed + state.evicted:
            self._least.pop(job, None)
            self._held.pop(job, None)
        for job in state.completed:
            del self._counts[job]
        for job in state.arrived:
            self._counts[job] = self._jobs[job].counts
        for job in state.arrived + state.evicted:
            self._waiting.add(job, job, self._pool.queue(self._jobs[job], self._counts[job][0]))
        self._pool.look(state)
        before: dict[int, Holding | None] = dict(self._held)
        for job, holding in self._held.items():
            self._pool.give_back(holding)
            self._least[job] = self._take(job, 0, self._least[job])
        admitted = self._admit()
        before.update(dict.fromkeys(admitted))
        self._grow()
        after = {job: self._held.get(job, self._least[job]) for job in before}
        return self._pool.actions(state, before, after)

    def _admit(self) -> list[int]:
        """Admit waiting jobs while their smallest allowed numbers fit, and return the admitted jobs."""
        admitted = []
        while (first := self._waiting.first(self._pool.fits)) is not None:
            job = first[1]
            self._waiting.remove(job)
            self._least[job] = self._take(job, 0, None)
            if len(self._counts[job]) > 1:
                self._held[job] = self._least[job]
            admitted.append(job)
        return admitted

    def _grow(self) -> None:
        """Share the GPUs beyond the smallest numbers among the jobs with several allowed numbers."""
        growing = [(self._counts[job][0], 0, job) for job in self._held]
        heapify(growing)
        shares = {job: self._least[job] for job in self._held}
        while growing:
            share, rung, job = heappop(growing)
            counts = self._counts[job]
            if counts[rung + 1] - share > self._pool.room(self._jobs[job]):
                continue
            self._pool.give_back(shares[job])
            shares[job] = self._take(job, rung + 1, self._held[job])
            if rung + 2 < len(counts):
                heappush(growing, (counts[rung + 1], rung + 1, job))
        self._held = shares

    def _take(self, job: int, rung: int, before: Holding | None) -> Holding:
        return self._pool.take(self._jobs[job], self._counts[job][rung], before)
