"""Metrics: the figures of one run, from the simulator's own books, with the certified gap."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil, fsum, ulp
from typing import Any

from gsopt.bounds import lower_bound, mean_jct
from gsopt.errors import Contradiction
from gsopt.result import relative_gap
from gsopt.scenario import Scenario
from gsopt.schedule.fairness import finish_time_fairness, unfair_fraction
from gsopt.simulation.engine import Engine
from gsopt.tolerances import SPAN_ERROR


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """The figures of one policy on one workload. Times are in seconds, over the completed jobs.

    Figures are None when no job completed.

    Attributes
    ----------
    policy
        Name of the policy.
    jobs, completed
        Number of jobs, and of those that completed.
    mean_jct, p99_jct
        Job completion time (completion minus release date): mean, and the smallest that 99 % do not exceed.
    makespan
        From the first release date to the last completion.
    mean_queueing
        Mean time between release and completion without GPUs.
    utilisation
        GPU time in use over GPU time that is there, from the first release date to the last completion.
    unfair_fraction
        Share of the completed jobs whose finish-time fairness (job completion time over that under generalized
        processor sharing) is above 1, by more than rounding explains.
    worst_fairness
        Largest finish-time fairness.
    preemptions
        How often a running job lost its GPUs before its completion.
    preemptions_per_job
        Preemptions over jobs.
    resizes
        How often a running job went on with another number of GPUs.
    lower_bound
        Proven bound on the mean job completion time of every policy; None unless all jobs completed.
    gap
        How much longer the mean job completion time is than the bound, relative to the bound.
    """

    policy: str
    jobs: int
    completed: int
    mean_jct: float | None
    p99_jct: float | None
    makespan: float | None
    mean_queueing: float | None
    utilisation: float | None
    unfair_fraction: float | None
    worst_fairness: float | None
    preemptions: int
    preemptions_per_job: float | None
    resizes: int
    lower_bound: float | None
    gap: float | None

    def as_dict(self) -> dict[str, Any]:
        """Give the figures as plain JSON types."""
        return asdict(self)


def metrics_of(engine: Engine, policy: str, bound: float | None, fair_times: Sequence[Any]) -> Metrics:
    """Read the figures of a finished run.

    Parameters
    ----------
    engine
        The run.
    policy
        Name of the policy.
    bound
        Proven bound on the mean job completion time, or None.
    fair_times
        Finish times of the jobs under generalized processor sharing.

    Raises
    ------
    Contradiction
        The policy beats the bound.
    """
    done = [job for job, time in enumerate(engine.completion) if time is not None]
    spans = [engine.completion[job] - engine.release[job] for job in done]
    waits = [span - engine.holding[job] for job, span in zip(done, spans, strict=True)]
    mean = _mean(spans)
    proven = bound if len(done) == len(engine.jobs) else None
    last = max((engine.completion[job] for job in done), default=None)
    if mean is not None and proven is not None:
        if mean < proven - _rounding(mean, len(done), last):
            raise Contradiction(f"{policy}: mean job completion time {mean}, below the proven bound {proven}")
        proven = min(proven, mean)
    used, there = engine.until_completion
    ratios = finish_time_fairness(engine.completion, fair_times, engine.scenario.workload)
    return Metrics(
        policy=policy,
        jobs=len(engine.jobs),
        completed=len(done),
        mean_jct=mean,
        p99_jct=float(sorted(spans)[ceil(len(spans) * 99 / 100) - 1]) if spans else None,
        makespan=None if last is None else float(last - engine.release[0]),
        mean_queueing=_mean(waits),
        utilisation=float(used / there) if there else None,
        unfair_fraction=unfair_fraction(ratios),
        worst_fairness=float(max(ratios[job] for job in done)) if done else None,
        preemptions=engine.preemptions,
        preemptions_per_job=engine.preemptions / len(engine.jobs) if done else None,
        resizes=engine.resizes,
        lower_bound=proven,
        gap=relative_gap(mean, proven),
    )


def mean_jct_bound(scenario: Scenario) -> float | None:
    """Bound the mean job completion time of every policy on a scenario; None without jobs."""
    if not scenario.workload.jobs:
        return None
    gpus = scenario.cluster.gpus * scenario.share_limit
    return mean_jct(lower_bound(scenario.workload, gpus), scenario.workload)


def _rounding(mean: float, jobs: int, last: Any) -> float:
    """Give how far below a bound rounding may bring a mean job completion time.

    The clock rounds each completion by up to half a tick; each job waits for those before it, so that it may
    gain by all of them. The bound is a sum on the same clock.
    """
    return SPAN_ERROR * mean + (jobs + 1) * ulp(float(last))


def _mean(values: Sequence[Any]) -> float | None:
    return fsum(values) / len(values) if values else None
