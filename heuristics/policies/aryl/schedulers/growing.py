"""Growing: GPUs go, a step at a time, to the job whose next step comes first."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from heuristics.policies.aryl.epoch import Elastic, Epoch, Pool
from heuristics.policies.aryl.schedulers.pools import Pools
from heuristics.policies.optimus.race import race as shared_race

#: What the step of a job from so many flexible workers to so many counts; the least goes first, None never.
Rank = Callable[[Elastic, int, int], float | None]


class WorkerStep(NamedTuple):
    """What a job asks for next.

    Attributes
    ----------
    rank
        Its rank; the least goes first.
    gpus
        The GPUs that it asks for.
    pool
        Where it asks for them.
    extra
        Flexible workers that the job has afterwards.
    """

    rank: float
    gpus: int
    pool: Pool
    extra: int


def steps(job: Elastic, rank: Rank) -> Iterator[WorkerStep]:
    """Yield the steps of a job from no flexible workers to its most, as far as they have a rank."""
    before = 0
    for after in job.extras:
        value = rank(job, before, after)
        if value is None:
            return
        yield WorkerStep(value, (after - before) * job.worker_gpus, job.pool, after)
        before = after


def race(pools: Pools, contenders: Iterable[Iterator[WorkerStep]]) -> Iterator[tuple[int, WorkerStep]]:
    """Grant step after step, that of the least rank first, and give whose it is, by place.

    Who has a step that does not fit leaves the race. Of equal ranks the one that is named first goes first.
    O(J + S log J) for S steps of J contenders.
    """
    return shared_race(contenders, lambda _, step: pools.take(step.gpus, step.pool))


def grow(epoch: Epoch, rank: Rank) -> dict[int, int]:
    """Begin with no flexible workers, and give one step after the other to the job that ranks first.

    A step leads to the next number of workers that the job allows; that is one worker more where it allows all
    of them. A job leaves the race when its next step does not fit any more or has no rank.

    Parameters
    ----------
    epoch
        What is decided on.
    rank
        The rank of a step.

    Returns
    -------
    dict of int to int
        Flexible workers of each elastic job.
    """
    given = none(epoch)
    for place, step in race(Pools(epoch), [steps(job, rank) for job in epoch.elastic]):
        given[epoch.elastic[place].job] = step.extra
    return given


def none(epoch: Epoch) -> dict[int, int]:
    """Grant no flexible workers to each elastic job."""
    return dict.fromkeys((job.job for job in epoch.elastic), 0)
