"""Equal share of the GPUs."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from gsopt.simulation import Action, Decider, Resize, Start, State
from gsopt.simulation.deciders.types import refuse_types
from gsopt.simulation.deciders.waiting import Waiting


def equal_share(state: State) -> Decider:
    """Share the GPUs as equally as the menus of the jobs allow.

    Waiting jobs are admitted in the order of their release while the smallest allowed counts of all admitted
    jobs fit, and are then never stopped. At every event each admitted job gets its smallest count; then,
    while GPUs are left, the job with the fewest GPUs grows to its next allowed count if that fits. Jobs
    without a menu are rigid, so among them this is first in, first out with backfilling.

    Source: max-min fairness in whole GPUs; the "equal share" of the elastic schedulers' evaluations.
    Key: GPUs held. Ties: lower number. Not preemptive; resizes. O(GPUs log GPUs) per event.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 2.0), (4, 4.0)]
    >>> jobs = [Job(name=name, release_date=0, duration=8, gpus=1, menu=menu) for name in "ab"]
    >>> simulate(Workload(jobs=jobs), equal_share, cluster=4).completion_times
    (4.0, 4.0)
    """
    return _Shares(state)


class _Shares:
    preemptive = False

    def __init__(self, state: State) -> None:
        self._counts: dict[int, tuple[int, ...]] = {}
        self._least: dict[int, int] = {}
        self._waiting = Waiting(state.jobs, demand=self._least.__getitem__)
        self._admitted: dict[int, None] = {}

    def decide(self, state: State) -> Iterable[Action]:
        for job in state.completed + state.evicted:
            self._admitted.pop(job, None)
        refuse_types(state)
        for job in state.arrived:
            self._counts[job] = state.jobs[job].counts
            self._least[job] = self._counts[job][0]
        for job in state.arrived + state.evicted:
            self._waiting.add(job, job)
        left = state.capacity - sum(self._least[job] for job in self._admitted)
        starting: list[int] = []
        while (admitted := self._waiting.pop_fitting(left)) is not None:
            self._admitted[admitted] = None
            starting.append(admitted)
            left -= self._least[admitted]
        shares = self._elastic_shares(left)
        running = state.running
        changes = [(share - running[job], job) for job, share in shares.items() if job in running]
        for change, job in sorted(changes):  # shrink before growing
            if change:
                yield Resize(job, shares[job])
        for job in starting:
            yield Start(job, shares.get(job, self._least[job]))

    def _elastic_shares(self, left: int) -> dict[int, int]:
        """Share what is left beyond the smallest counts among the jobs that have a choice."""
        rungs = {job: 0 for job in self._admitted if len(self._counts[job]) > 1}
        growing = [(self._least[job], job) for job in rungs]
        heapify(growing)
        while growing:
            share, job = heappop(growing)
            counts, rung = self._counts[job], rungs[job] + 1
            if counts[rung] - share > left:
                continue
            left -= counts[rung] - share
            rungs[job] = rung
            if rung + 1 < len(counts):
                heappush(growing, (counts[rung], job))
        return {job: self._counts[job][rung] for job, rung in rungs.items()}
