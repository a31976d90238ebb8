"""Shortest job first, with best sharing benefit first: the policy of Castor."""

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

#: Which sub-batches are tried.
Batches = Literal["all", "whole"]

#: What sharing is weighed against.
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
    """Start the shortest job that fits; if too few GPUs are free, beside the jobs with which that pays.

    A job for which too few GPUs are free is compared with every running job that has GPUs to itself: would the
    two together complete sooner if they shared, or if one waited for the other? Jobs with which sharing is
    better become partners by the mean completion time of the pair, the least first, until there are as many
    GPUs as the job demands. It starts in the sub-batch that is best beside them, and keeps it; running jobs
    never change theirs. At most two jobs share a GPU. The policy needs a cluster of racks with a `share_limit`
    of 2, and is `heuristics.policies.sjf.sjf` elsewhere.

    Source: Castor, section 5.2, Algorithms 1 and 2. Key: remaining time. Ties: lower number, also of partners
    with the same mean. Not preemptive, and decides at arrivals and completions; knows durations and
    interference. O(waiting jobs times running jobs times sub-batches) per event at worst; a pair that was
    refused is not looked at again.

    Where the paper is silent, or its text and pseudo-code differ: the GPUs of line 10 are grouped by their
    jobs. Shared GPUs come before free ones, which fill up what is missing, as the text says; the printed lines
    count free GPUs and then never use them. If all that is too little the job waits and is looked at again at
    the next event, as one is for which no partner is found. Of a partner only those GPUs are taken that it has
    to itself, and the last partner gives no more than are missing. Beside several partners a job starts in the
    smallest of the sub-batches found for them. The theorem knows two jobs; with more, the worst partner of each
    job sets its speed, and the decision does not know. Sub-batches are the job's modes with more steps on the
    same GPUs and of the same batch, from the whole batch to the smallest one, if their memory fits beside the
    running job's; the text, garbled, asks for one that exceeds it. Waiting is with the whole batch.

    Parameters
    ----------
    rule
        How it is decided whether a pair shares: by its two end points, which is right for two jobs, or as
        printed (`gsopt.performance.colocation.Pair.shares`).
    batches
        All sub-batches are tried, or ``"whole"``: the first one only, since line 13 of Algorithm 2 returns
        within the loop.
    ties
        Of sub-batches with equal means the larger one, or the ``"smaller"`` one, as the ``<=`` of line 7 of
        Algorithm 2 has it.
    order
        Jobs come by remaining ``"time"`` as line 1 says; by ``"gpus"``, as the text says; or by ``"gpu_time"``,
        the product, as SSF.
    skip
        Whether jobs come after one that cannot start, as the loop of line 2 goes on. Nothing is reserved for
        it, so that a large job may starve. If not it blocks all behind it.
    free_first
        Whether free GPUs are taken before shared ones when a job shares.
    placement
        ``"best"`` asks the run's placer for free GPUs, ``"first"`` takes the first machine with room, and
        ``"emptiest"`` the machines with the most free GPUs first, which is one reading of line 7.
    wait_for
        A job shares where that is better than to wait for its ``"partner"``, which is all that the theorem
        compares; or, of these starts, where it is better too than to wait for the first ``"gpus"`` that are
        free, whichever job leaves them (`heuristics.policies.castor.patient.Patient`).

    Raises
    ------
    InvalidInput
        An option is out of its range.

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
    """Make the judge of Algorithm 2, which ranks partners by the mean completion time of the pair."""
    pairs = Pairs()

    def judge(state: State, job: int, partner: int, gpus: tuple[int, ...], /) -> Match | None:
        offered = pairs.of(state, job, partner, gpus)[: 1 if batches == "whole" else None]
        choice = choose_sub_batch(offered, memory_left=memory_left(state, gpus), rule=rule, ties=ties)
        return Match(choice.mean_jct, choice.name) if choice.shares else None

    return judge
