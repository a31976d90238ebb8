"""SJF-BSBF: Castor's policy, shortest job first and best sharing benefit first."""

from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.performance.colocation import Rule
from gsopt.performance.colocation.sub_batches import Ties, choose_sub_batch
from gsopt.simulation import Decider, State
from gsopt.simulation.parts.accumulation import Pairs, memory_left
from gsopt.simulation.parts.options import Placement, Size, placer_of, size_key
from gsopt.simulation.parts.partners import Judge, Match
from heuristics.policies.castor.colocating import Colocating
from heuristics.policies.castor.patient import Patient

#: The sub-batches to try: all, or only the whole batch.
Batches = Literal["all", "whole"]

#: What sharing is compared with: waiting for the partner, or for the first free GPUs.
WaitFor = Literal["partner", "gpus"]


def sjf_bsbf(
    state: State,
    *,
    rule: Rule = "end_points",
    batches: Batches = "all",
    ties: Ties = "larger",
    order: Size = "time",
    skip: bool = True,
    free_first: bool = False,
    placement: Placement = "best",
    wait_for: WaitFor = "partner",
) -> Decider:
    """Start jobs in order of remaining time. A job that lacks free GPUs shares GPUs if this pays off.

    If too few GPUs are free for a job, it may share GPUs that a running job has to itself. The running job is a
    partner unless waiting for its completion would lead to a lower mean completion time of the two. The job
    takes GPUs of its partners, in ascending order of the mean with sharing, and then free GPUs. If all these
    are too few, it waits for the next event. At most two jobs share a GPU, and none do if the `share_limit` of
    the run is 1.

    A job that shares may use sub-batches: modes that split its batch into several steps on the demanded number
    of GPUs. It starts with whichever is best for the pair, the whole batch or one of the sub-batches, and never
    changes to another. If the best choice differs between its partners, the job uses the smallest, or an even
    smaller one if memory requires this.

    Source: Castor, section 5.2, Algorithms 1 and 2. Key: remaining time. Ties: lower job number, also among
    partners with the same mean. Not preemptive; decides at arrivals and completions; knows durations and
    interference. O(waiting jobs times running jobs times sub-batches) per event at worst.

    Departures: by mistake, the paper requires a sub-batch to exceed the memory; here, it must fit beside the
    running job. A job that waits is assumed to use the whole batch later. Decisions compare two jobs, and
    ignore that a job with several partners is as slow as with the worst one.

    Parameters
    ----------
    rule
        How it is decided whether a pair shares: ``"end_points"``, which is exact for two jobs, or ``"sign"`` or
        ``"cases"``, two readings of the paper's proof (`gsopt.performance.colocation.Pair.shares`).
    batches
        Which sub-batches are tried: ``"all"``, or only the ``"whole"`` batch, as in Algorithm 2, which returns
        within its loop.
    ties
        Which of several sub-batches with equal means is used: the ``"larger"`` one, or the ``"smaller"`` one,
        as in line 7 of Algorithm 2.
    order
        By remaining ``"time"``, as in Algorithm 1; by ``"gpus"``, as in the text; or by ``"gpu_time"``, their
        product.
    skip
        Whether a job that cannot start is skipped, as in Algorithm 1. If False, it blocks all jobs behind it.
    free_first
        Whether a job that shares takes free GPUs first. In the text, it takes shared ones first, and in
        Algorithm 1, only these.
    placement
        As in `heuristics.policies.dally.dally`, for jobs that fit on free GPUs.
    wait_for
        What sharing is compared with: waiting until the ``"partner"`` completes, as in the theorem, or also
        waiting until enough ``"gpus"`` are free (`heuristics.policies.castor.patient.Patient`).

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.speed import Speed
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 4), ("b", 1)]])
    >>> machine = Cluster.uniform(machines=1, gpus=1)
    >>> for slowdown in (1.25, 3.0):
    ...     speed = Speed(default_interference=slowdown)
    ...     print(simulate(jobs, sjf_bsbf, cluster=machine, speed=speed, share_limit=2).completion_times)
    (4.25, 1.25)
    (5.0, 1.0)
    """
    words = {"rule": (rule, Rule), "batches": (batches, Batches), "ties": (ties, Ties)}
    for name, (value, allowed) in {**words, "wait_for": (wait_for, WaitFor)}.items():
        require_one_of(name, value, get_args(allowed))
    return Colocating(
        state,
        size_key(state, order),
        best_sharing(rule, batches, ties),
        skip=skip,
        free_first=free_first,
        placer=placer_of(placement),
        patience=Patient() if wait_for == "gpus" else None,
    )


def best_sharing(rule: Rule, batches: Batches, ties: Ties) -> Judge:
    """Return a judge that accepts pairs for which sharing pays off, and ranks them by mean completion time.

    Source: Castor, Algorithm 2. For the parameters, see `sjf_bsbf`.
    """
    pairs = Pairs()

    def judge(state: State, job: int, partner: int, gpus: tuple[int, ...], /) -> Match | None:
        offered = pairs.of(state, job, partner, gpus)[: 1 if batches == "whole" else None]
        choice = choose_sub_batch(offered, memory_left=memory_left(state, gpus), rule=rule, ties=ties)
        return Match(choice.mean_jct, choice.name) if choice.shares else None

    return judge
