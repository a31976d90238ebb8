"""Partners: the running jobs whose GPUs a waiting job may share, updated during a decision."""

from collections.abc import Callable
from typing import Any, NamedTuple

from gsopt.scenario.job import Job
from gsopt.simulation.policy import State


class Match(NamedTuple):
    """A rating of a waiting job and a running job that may share GPUs; smaller ranks are better.

    `mode` is the mode in which the waiting job would start.

    Examples
    --------
    >>> Match(rank=3.5, mode="halves") < Match(rank=4.0)
    True
    """

    rank: Any
    mode: str = ""


#: Function that rates a pair: (state, waiting job, running job, GPUs that only the running job holds) ->
#: match, or None to reject the pair. Matches with smaller ranks are better. Once it rejects a pair, it must
#: keep rejecting it for as long as the running job holds these GPUs alone.
Judge = Callable[[State, int, int, tuple[int, ...]], Match | None]


class Partner(NamedTuple):
    """A running job that a waiting job may join on `gpus`, with the rank and the mode of the `Match`."""

    rank: Any
    job: int
    mode: str
    gpus: tuple[int, ...]


class Partners:
    """The running jobs that hold GPUs alone and may share them with a waiting job.

    At most two jobs share a GPU. There are no partners if jobs may not share GPUs, or if GPUs have no indices.

    A rejected pair is rated again only if either job is evicted, the running job has phases, or the GPUs that
    it holds alone change.

    Parameters
    ----------
    judge
        Function of the state, a waiting job, a running job and GPUs. The running job holds these GPUs alone,
        and their type suits the waiting job. The function returns the `Match` of the two jobs, or None to
        reject the pair.

    Attributes
    ----------
    room
        Number of GPUs that exactly one job holds; 0 if jobs may not share GPUs.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Workload
    >>> from gsopt.simulation import Start, simulate
    >>> from gsopt.simulation.parts.turns import Turns
    >>> class Everybody:
    ...     preemptive = False
    ...
    ...     def __init__(self):
    ...         self.partners = Partners(lambda state, job, partner, gpus: Match(rank=gpus))
    ...
    ...     def decide(self, state):
    ...         self.partners.update(state)
    ...         for job in state.arrived:
    ...             found = self.partners.of(state, job)
    ...             yield Start(job, found[0].gpus if found else None)
    ...             self.partners.refresh(state, job)
    >>> jobs = Workload(jobs=[Job(name=name, release_date=0, duration=1, gpus=2) for name in "ab"])
    >>> machine = Cluster.uniform(machines=1, gpus=2)
    >>> simulate(jobs, lambda state: Everybody(), cluster=machine, share_limit=2).completion_times
    (1.0, 1.0)
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._alone: dict[int, tuple[int, ...]] = {}  # by job, in the order of their starts
        self._refused: dict[int, dict[int, tuple[int, ...]]] = {}  # by running job, then by waiting job
        self.room = 0

    def update(self, state: State) -> None:
        """Process the changes since the last decision, and find the jobs that hold GPUs alone."""
        for job in state.completed:
            self._refused.pop(job, None)
        for job in state.evicted:  # it may have lost work
            self._refused.pop(job, None)
            for waiting in self._refused.values():
                waiting.pop(job, None)
        self._alone.clear()
        self.room = 0
        if state.share_limit > 1:
            for job in state.running:
                self._see(state, job)

    def refresh(self, state: State, job: int) -> None:
        """Update what is known about a job that has just started, and about the jobs that share its GPUs."""
        if state.share_limit > 1:
            beside = {user for gpu in state.placement(job) for user in state.users(gpu)}
            for each in sorted(beside):
                self._see(state, each)

    def of(self, state: State, job: int) -> list[Partner]:
        """Return the partners of a waiting job, best first; ties go to the lower job number."""
        item = state.jobs[job]
        found = []
        for partner, alone in self._alone.items():
            refused = self._refused.setdefault(partner, {})
            if refused.get(job) == alone:
                continue
            gpus = suitable(state, item, alone)
            match = self._judge(state, job, partner, gpus) if gpus else None
            if match is not None:
                found.append(Partner(match.rank, partner, match.mode, gpus))
            elif not state.jobs[partner].phases:  # in a slower phase it may have more seconds left than before
                refused[job] = alone
        return sorted(found)

    def _see(self, state: State, job: int) -> None:
        alone = tuple(gpu for gpu in state.placement(job) if len(state.users(gpu)) == 1)
        self.room += len(alone) - len(self._alone.pop(job, ()))
        if alone:
            self._alone[job] = alone


def suitable(state: State, job: Job, gpus: tuple[int, ...]) -> tuple[int, ...]:
    """Return those of the given GPUs whose type the job can use."""
    if not job.gpu_type:
        return gpus
    machines, machine_of = state.cluster.machines, state.cluster.machine_of
    return tuple(gpu for gpu in gpus if machines[machine_of[gpu]].gpu_type == job.gpu_type)
