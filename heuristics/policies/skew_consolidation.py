"""Skew consolidation: Tiresias' placement, which consolidates only jobs of models with a large tensor."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from math import inf
from typing import Any

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.offers import Renewal
from gsopt.simulation.parts.options import Placement, offers
from gsopt.simulation.parts.tiers import Tiers
from heuristics.policies.tiresias import require_thresholds

#: Models whose largest tensor is a large part of the model. Source: Dally, Table I, column "Skew".
SKEWED = ("vgg11", "alexnet", "mobilenetv3")


def skew_consolidation(
    state: State,
    *,
    skewed: Collection[str] = SKEWED,
    thresholds: Sequence[float] = (3250.0, 7200.0),
    lease: float | None = 28800.0,
    renew: Renewal = "best",
    placement: Placement = "best",
) -> Decider:
    """Let jobs of skewed models wait for their best tier, while all other jobs accept any tier.

    Source: Tiresias (NSDI 2019), sections 3.2 (discretized attained service) and 3.3 (placement by skew), as in
    Dally's baseline, section V-C. Key: first the job's queue (by its GPU-seconds so far), then its release
    date. Ties: the job that has waited longer, then the lower job number. Preemptive at the end of leases. Does
    not know durations. O(waiting jobs) per event.

    Departures: "as few machines as possible" means the innermost level that can hold the job. A job is demoted
    when its lease ends, not when it reaches the threshold.

    Parameters
    ----------
    skewed
        Names of the models with a large tensor.
    thresholds
        GPU-seconds, in ascending order, at which a job leaves the first queue, the second queue, and so on.
    lease, renew, placement
        As in `heuristics.policies.dally.dally`.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> sizes = [("a", 9, ""), ("b", 5, ""), ("c", 1, "vgg11"), ("d", 1, "resnet18")]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=2, model=m) for n, d, m in sizes]
    >>> racks = Cluster.uniform(racks=2, machines=1, gpus=3)
    >>> simulate(Workload(jobs=jobs), skew_consolidation, cluster=racks).start_times
    (0.0, 0.0, 5.0, 0.0)
    """
    require_thresholds(thresholds)

    def key(state: State, job: int) -> tuple[int, float]:
        return bisect_right(thresholds, state.service(job)), state.jobs[job].release_date

    return offers(state, _Skew(state, skewed), order=key, placement=placement, lease=lease, renew=renew)


class _Skew:
    """Infinite patience for jobs of skewed models, and none for other jobs."""

    def __init__(self, state: State, skewed: Collection[str]) -> None:
        self._tiers, self._skewed = Tiers(state), frozenset(skewed)

    def seconds(self, state: State, job: int, tier: int, _gpus: tuple[int, ...], /) -> float:
        """Return infinity if the job's model is skewed and its GPUs could be closer together, else 0."""
        item = state.jobs[job]
        return inf if item.model in self._skewed and tier > self._tiers.best(item) else 0.0

    def accept(self, _state: State, _job: int, _tier: int, _waited: Any, /) -> None:
        """Do nothing, because there is nothing to learn."""
