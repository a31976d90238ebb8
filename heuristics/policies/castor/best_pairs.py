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

    `heuristics.policies.castor.sjf_bsbf` goes from job to job, and chooses the partner with which the mean
    completion time of the two is smallest. Here, at every event, all waiting jobs that do not fit on free GPUs
    are matched jointly with running jobs. The value of a pair is the amount by which sharing, with the best
    sub-batch (see `sjf_bsbf`), reduces the sum of the two completion times, compared with waiting for the
    running job to complete. Only pairs with a positive value are considered, and the sum of the values of the
    chosen pairs is maximized. If the `share_limit` of the run is 1, no jobs share GPUs.

    Source: the pairs are those of Castor, Theorem 1 and Algorithm 2. The joint decision, a maximum-weight
    matching, is gsopt's own. Key for free GPUs: remaining time. Ties: lower job number; among matchings with
    the same sum, an arbitrary but reproducible one. Not preemptive; decides at arrivals and completions; knows
    durations and interference. O(n^3) for each matching of n waiting and running jobs, plus O(waiting jobs
    times running jobs times sub-batches) to evaluate the pairs.

    Departure from Castor's policy: unless `several` is set, a job that starts on shared GPUs shares all of them
    with a single running job, which must have at least that many GPUs to itself. The running job may share only
    some of its GPUs, and may get further partners on the others.

    Parameters
    ----------
    order, placement
        As in `sjf_bsbf`, for jobs that fit on free GPUs.
    several
        Whether jobs that still wait after the pairs have started may share GPUs with several partners and also
        use free GPUs.

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
