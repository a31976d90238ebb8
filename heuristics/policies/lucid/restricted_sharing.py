"""Restricted sharing: small jobs share GPUs if their interference is small, as Lucid packs them."""

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
    """Let small jobs share with one other of their demand, if the two hardly slow each other down.

    A job of at most `largest` GPUs seeks a partner before it takes free GPUs: a job that runs alone on as many
    GPUs. Each of the two has a score by its speed when they share, and the sum must not exceed the threshold.
    The new job must not be more than `ratio` times as large as its partner in GPU time, so that it does not
    delay the partner for long. The partner that started first is chosen. All other jobs start on free GPUs, and
    jobs that do not fit are skipped.

    Source: after the packing of pairs in Lucid (ASPLOS 2023), with the thresholds of its published code.
    According to the paper of Castor, for which Lucid is a baseline, multi-GPU jobs never share in Lucid. This
    is the default here. The code lets jobs of up to 8 GPUs share (``largest=8``). Key: GPUs times remaining
    time. Ties: lower job number. Not preemptive; knows durations and interference. O(waiting jobs * running
    jobs) per event at worst. A refused pair is not considered again.

    This is not the whole of Lucid: there is no profiler, with its 200 s and its GPUs, and there are no
    prediction models. Instead, durations are known, as is the interference of each pair, which replaces the
    score of each model over all others. Sharing is not switched off when few jobs are expected, and jobs keep
    their full batch size.

    Parameters
    ----------
    largest
        GPUs of the largest jobs that share, at least 0.
    threshold
        Largest sum of scores: 0 for a job that is at least 0.95 times as fast as alone, 1 from 0.85, else 2.
    ratio
        The largest ratio of a job's GPU time to its partner's, above 0.
    share_first
        Whether a small job seeks a partner even if GPUs are free.
    order
        As in `sjf_bsbf`.
    placement
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
    """Return a judge of pairs that applies the rules of `restricted_sharing`."""
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
