"""Equal share of the GPUs."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from gsopt.simulation import Action, Decider, Resize, Start, State
from gsopt.simulation.queues import Waiting, refuse_types


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
        refuse_types(state)
        self._least = [job.counts[0] for job in state.jobs]
        self._waiting = Waiting(state.jobs, demand=self._least)
        self._admitted: dict[int, None] = {}

    def decide(self, state: State) -> Iterable[Action]:
        for job in state.completed + state.evicted:
            self._admitted.pop(job, None)
        for job in state.arrived + state.evicted:
            self._waiting.add(job, job)
        left = state.capacity - sum(self._least[job] for job in self._admitted)
        while (admitted := self._waiting.pop_fitting(left)) is not None:
            self._admitted[admitted] = None
            left -= self._least[admitted]
        shares = self._shares(state, left)
        running = dict(state.running)
        changed = [job for job in self._admitted if job in running and shares[job] != running[job]]
        for job in sorted(changed, key=lambda job: shares[job] - running[job]):  # shrink before growing
            yield Resize(job, shares[job])
        for job in self._admitted:
            if job not in running:
                yield Start(job, shares[job])

    def _shares(self, state: State, left: int) -> dict[int, int]:
        shares = {job: self._least[job] for job in self._admitted}
        ladder = {job: [k for k in state.jobs[job].counts if k > share] for job, share in shares.items()}
        smallest = [(share, job) for job, share in shares.items() if ladder[job]]
        heapify(smallest)
        while smallest:
            share, job = heappop(smallest)
            larger = ladder[job].pop(0)
            if larger - share > left:
                continue
            left -= larger - share
            shares[job] = larger
            if ladder[job]:
                heappush(smallest, (larger, job))
        return shares
