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

    If too few GPUs are free for a job, it is compared with every running job that has GPUs to itself: is the
    mean completion time of the pair lower if they share, or if the new job waits for the other one to complete?
    The running jobs with which sharing is not worse become partners, in ascending order of the mean completion
    time of the pair, until there are enough GPUs. The job starts with the sub-batch that is best with its
    partner (with several partners, see below), and keeps it. Running jobs never change their sub-batches. At
    most two jobs share a GPU. If the `share_limit` of the run is 1, no jobs share GPUs.

    Source: Castor, section 5.2, Algorithms 1 and 2. Key: remaining time. Ties: lower job number, also among
    partners with the same mean. Not preemptive, and decides at arrivals and completions; knows durations and
    interference. O(waiting jobs times running jobs times sub-batches) per event at worst.

    Our interpretations where the paper is silent, or where its text and pseudo-code differ (line numbers are
    those of Algorithm 1, unless Algorithm 2 is named):

    - The GPUs of line 10 are grouped by their jobs. As the text says, shared GPUs are used first, and free GPUs
      fill the rest; the printed lines count free GPUs but never use them.
    - If there are still too few GPUs, or no partner is found, the job waits and is reconsidered at the next
      event.
    - A job takes only GPUs that a partner has to itself, and from the last partner no more than needed. With
      several partners, a job starts with the smallest of the sub-batches found for them, or with an even
      smaller one if that one needs too much memory on some GPU.
    - The theorem covers two jobs. With more jobs, the worst partner of each job determines its speed, which the
      decision ignores.
    - The sub-batches of a job are the whole batch and, in descending order of size, the modes that split the
      same batch into several steps on the demanded number of GPUs. Only sub-batches whose memory fits beside
      that of the running job are considered; by mistake, the paper requires the sub-batch to exceed the memory.
    - A job that waits is assumed to use the whole batch later.

    Parameters
    ----------
    rule
        How it is decided whether a pair shares. ``"end_points"`` compares the two extreme start times, which is
        exact for two jobs. ``"sign"`` and ``"cases"`` are two readings of the paper's proof (see
        `gsopt.performance.colocation.Pair.shares`).
    batches
        ``"all"`` tries all sub-batches. ``"whole"`` tries only the first one, as in the paper, where line 13 of
        Algorithm 2 returns within the loop.
    ties
        Which sub-batch to choose if several have equal means: the ``"larger"`` one, or the ``"smaller"`` one,
        as with the ``<=`` in line 7 of Algorithm 2.
    order
        Order of the jobs: by remaining ``"time"``, as in line 1; by ``"gpus"``, as in the text; or by
        ``"gpu_time"``, the product of the two, as in SSF.
    skip
        Whether a job that cannot start is skipped, as the loop of line 2 suggests. Nothing is reserved for it,
        so a large job may starve. If False, it blocks all jobs behind it.
    free_first
        Whether free GPUs are taken before shared ones when a job shares.
    placement
        ``"best"`` asks the run's placer for free GPUs, ``"first"`` takes the first machine with room, and
        ``"emptiest"`` the machines with the most free GPUs first, which is one reading of line 7.
    wait_for
        ``"partner"``: a job shares if that is not worse than waiting for its partner, as in the theorem.
        ``"gpus"``: sharing must also not be worse than waiting for the first free GPUs, whichever job releases
        them (`heuristics.policies.castor.patient.Patient`).

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
