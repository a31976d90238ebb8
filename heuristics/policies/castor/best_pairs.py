"""Best pairs: a joint decision on which waiting jobs share GPUs with which running jobs."""

from gsopt.performance.colocation import choose_sub_batch
from gsopt.simulation import Decider, State
from gsopt.simulation.parts.accumulation import Pairs, memory_left
from gsopt.simulation.parts.options import Placement, Size, placer_of, size_key
from gsopt.simulation.parts.partners import Judge, Match
from heuristics.policies.castor.pairing import Pairing


def best_pairs(
    state: State, *, order: Size = "time", several: bool = False, placement: Placement = "best"
) -> Decider:
    """Start the shortest jobs that fit, and pair the other jobs with running jobs to save the most time.

    At every event, the jobs that do not fit on free GPUs are matched jointly with running jobs, whereas
    `heuristics.policies.castor.sjf_bsbf` goes from job to job. The value of a pair is the reduction in the sum
    of its completion times if it shares now, compared with waiting for the running job. The matching maximizes
    the total value, and leaves out pairs without a positive value. If the `share_limit` of the run is 1, no
    jobs share GPUs.

    Source: the pairs and their sub-batches are those of Castor, Theorem 1 and Algorithm 2 (see `sjf_bsbf`). The
    maximum-weight matching is gsopt's own. Key for free GPUs: remaining time. Ties: lower job number; among
    matchings with the same total, an arbitrary but reproducible one. Not preemptive; decides at arrivals and
    completions; knows durations and interference. O(n^3) for each matching of n waiting and running jobs, plus
    O(waiting jobs times running jobs times sub-batches) to evaluate the pairs.

    Parameters
    ----------
    order, placement
        As in `sjf_bsbf`, for jobs that fit on free GPUs.
    several
        Whether jobs that still wait after the matching may share with several partners and also use free GPUs.
        Otherwise, a job that shares takes all its GPUs from one running job.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.speed import Speed
    >>> sizes = [("a", 0, 8), ("b", 0, 9), ("c", 1, 2), ("d", 1, 3)]
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1, model=n) for n, r, d in sizes]
    >>> slow = {"b": {"d": 9.0}, "d": {"b": 9.0}}
    >>> given = {"speed": Speed(interference=slow), "cluster": Cluster.uniform(machines=1, gpus=2)}
    >>> simulate(Workload(jobs=jobs), best_pairs, share_limit=2, **given).completion_times
    (8.0, 9.0, 3.0, 4.0)
    """
    judge, placer = _saving(several=several), placer_of(placement)
    return Pairing(state, size_key(state, order), judge, several=several, placer=placer)


def _saving(*, several: bool) -> Judge:
    """Return a judge that ranks pairs by the time that they save, most first."""
    pairs = Pairs()

    def judge(state: State, job: int, partner: int, gpus: tuple[int, ...], /) -> Match | None:
        if not several and len(gpus) < state.jobs[job].gpus:
            return None
        offered = pairs.of(state, job, partner, gpus)
        choice = choose_sub_batch(offered, memory_left=memory_left(state, gpus))
        saved = next(each.pair.saved for each in offered if each.name == choice.name)
        return Match(-saved, choice.name) if choice.shares and saved > 0 else None

    return judge
