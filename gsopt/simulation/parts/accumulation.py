"""Accumulation: the sub-batches with which a waiting job may start, and its possible pairs with running jobs.

A job that splits its batch into sub-batches accumulates their gradients, so it needs less memory.
"""

from typing import Any

from gsopt.performance.colocation import Pair, SubBatch
from gsopt.scenario.job import DEFAULT_MODE, Job
from gsopt.simulation.policy import State


def sub_batches(job: Job) -> tuple[str, ...]:
    """Return the default mode, followed by the modes that split a batch into steps, fewest steps first.

    These modes use the number and type of GPUs that the job demands, and the same batch size. They accumulate
    gradients over several steps, which leaves the training unchanged. Source: Castor, section 5.2.3.
    """
    divided = [
        mode
        for mode in job.modes
        if mode.steps > 1
        and mode.batch_size in (None, job.batch_size)
        and mode.gpu_type in (None, job.gpu_type)
        and any(count == job.gpus for count, _ in mode.menu)
    ]
    return DEFAULT_MODE, *(mode.name for mode in sorted(divided, key=lambda mode: mode.steps))


def memory_left(state: State, gpus: tuple[int, ...]) -> int | None:
    """Return the minimum free memory among the given GPUs in bytes, or None if memory is unlimited."""
    return min((left for gpu in gpus if (left := state.memory(gpu)) is not None), default=None)


def fits(job: Job, mode: str, left: int | None) -> bool:
    """Check whether a job's mode fits into `left` bytes per GPU. It does if its demand or `left` is None."""
    need = job.memory_in(mode)
    return need is None or left is None or need <= left


class Pairs:
    """Pairs of a waiting and a running job that might share GPUs, with their times and slowdowns.

    Slowdowns depend only on the two models, and are cached. The running job is assumed to have no other
    partner, as in Theorem 1 of Castor. Both jobs are assumed to keep the speeds of their current phases. The
    waiting job is assumed to run on as many GPUs as it demands, connected by the same tier as the GPUs that the
    running job holds alone (only the first of these, if the waiting job demands fewer).

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Workload
    >>> from gsopt.simulation import Start, simulate
    >>> from gsopt.scenario.speed import Speed
    >>> class Look:
    ...     preemptive = False
    ...
    ...     def decide(self, state):
    ...         if state.now == 0:
    ...             yield Start(0, (0,))
    ...         elif state.arrived:
    ...             print(Pairs().of(state, 1, 0, (0,))[0].pair)
    ...         elif 0 in state.completed:
    ...             yield Start(1)
    >>> jobs = [Job(name=name, release_date=2 * i, duration=6 - i, gpus=1) for i, name in enumerate("ab")]
    >>> speed, machine = Speed(default_interference=1.5), Cluster.uniform(machines=1, gpus=1)
    >>> run = simulate(Workload(jobs=jobs), lambda state: Look(), cluster=machine, speed=speed, share_limit=2)
    Pair(remaining=4.0, seconds=5.0, slowdown_running=1.5, slowdown_new=1.5, seconds_whole=5.0)
    """

    def __init__(self) -> None:
        self._slowdowns: dict[tuple[str, str], Any] = {}  # of the first model beside the second

    def of(self, state: State, job: int, partner: int, gpus: tuple[int, ...]) -> list[SubBatch]:
        """Return the pairs that two jobs can form, one for each possible sub-batch of the waiting job.

        The first pair is for the whole batch. Each of the others is for a mode in which the job, on the same
        number and type of GPUs, divides the same batch into steps and accumulates their gradients; modes with
        fewer steps come first. Whether a sub-batch fits into the memory is not checked.

        Parameters
        ----------
        state, job, partner
            The state, the waiting job and the running job.
        gpus
            Indices of the GPUs that only the running job holds.
        """
        item = state.jobs[job]
        tier = state.tier(gpus[: item.gpus])
        left = state.remaining(job)
        names = sub_batches(item)
        seconds = [left / state.rate(job, item.gpus, name, tier=tier) for name in names]
        remaining = max(state.remaining(partner), 0) / state.rate(
            partner, state.placement(partner), state.mode(partner)
        )
        slowdowns = self.slowdown(state, partner, job), self.slowdown(state, job, partner)
        return [
            SubBatch(name, Pair(remaining, each, *slowdowns, seconds_whole=seconds[0]), item.memory_in(name))
            for name, each in zip(names, seconds, strict=True)
        ]

    def slowdown(self, state: State, job: int, beside: int) -> Any:
        """Return the slowdown of a job when it shares GPUs with another job."""
        models = state.jobs[job].model, state.jobs[beside].model
        if models not in self._slowdowns:
            count = state.jobs[job].gpus
            self._slowdowns[models] = state.rate(job, count) / state.rate(job, count, beside=(beside,))
        return self._slowdowns[models]
