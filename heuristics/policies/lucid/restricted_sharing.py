"""Restricted sharing: Lucid's packing rule for small jobs that interfere little."""

from gsopt.core.errors import number_of, require
from gsopt.simulation import Decider, State
from gsopt.simulation.parts.accumulation import fits, memory_left
from gsopt.simulation.parts.options import Placement, Size, placer_of, size_key
from gsopt.simulation.parts.partners import Judge, Match
from heuristics.policies.castor.colocating import Colocating
from heuristics.policies.lucid.scores import Scorer


def restricted_sharing(
    state: State,
    *,
    largest: int = 1,
    threshold: int = 2,
    ratio: float = 2.0,
    share_first: bool = True,
    order: Size = "gpu_time",
    placement: Placement = "best",
) -> Decider:
    """Let a small job share GPUs with one job of equal demand if they hardly slow each other down.

    A job of at most `largest` GPUs seeks a partner: the job that started first among those that run alone on
    the same number of GPUs, leave enough memory, and satisfy `threshold` and `ratio`. Jobs that find no
    partner start on free GPUs, and jobs that do not fit are skipped.

    Source: the packing of pairs in Lucid (ASPLOS 2023), with the thresholds of its published code. The code
    lets jobs of at most 8 GPUs share. The default of `largest` follows the Castor paper, which says that
    multi-GPU jobs never share in Lucid. Key: GPUs times remaining time. Ties: lower job number. Not preemptive;
    knows durations and interference. O(W R^2) per event at worst, for W waiting and R running jobs.

    Lucid's profiler, predictions and load control are left out (see `lucid`). Lucid has one slowdown for each
    model; this policy uses those of each pair.

    Parameters
    ----------
    largest
        Largest demand, in GPUs, of a job that may share; at least 0.
    threshold
        Largest total score of two jobs that share, at least 0. The score of a job is 0 if its speed beside the
        other is at least 0.95 of its speed alone, 1 if it is at least 0.85, and otherwise 2.
    ratio
        Largest ratio of a job's total GPU time to its partner's, above 0.
    share_first
        Whether a small job seeks a partner even if GPUs are free.
    order, placement
        As in `sjf_bsbf`.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.speed import Speed
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 6), ("b", 3)]])
    >>> machine = Cluster.uniform(machines=1, gpus=1)
    >>> for slowdown in (1.125, 1.25):
    ...     speed = Speed(default_interference=slowdown)
    ...     run = simulate(jobs, restricted_sharing, cluster=machine, speed=speed, share_limit=2)
    ...     print(run.completion_times)
    (6.375, 3.375)
    (9.0, 3.0)
    """
    require(number_of(largest) >= 0, "largest", largest, "must be at least 0 GPUs")
    require(number_of(threshold) >= 0, "threshold", threshold, "must be at least 0")
    require(number_of(ratio) > 0, "ratio", ratio, "must be above 0")
    judge, placer = _restricted(largest, threshold, ratio), placer_of(placement)
    return Colocating(state, size_key(state, order), judge, share_first=share_first, placer=placer)


def _restricted(largest: int, threshold: int, ratio: float) -> Judge:
    """Return a judge of pairs that applies the rules of `restricted_sharing`, first started partner first."""
    scorer = Scorer()

    def judge(state: State, job: int, partner: int, gpus: tuple[int, ...], /) -> Match | None:
        new, old = state.jobs[job], state.jobs[partner]
        if not new.gpus == state.running[partner] == len(gpus) <= largest:
            return None
        if new.gpu_seconds > ratio * old.gpu_seconds or not fits(new, "", memory_left(state, gpus)):
            return None
        suits = scorer.of(state, job, partner) <= threshold
        return Match(rank=list(state.running).index(partner)) if suits else None

    return judge
