"""BSBF: sharing partners chosen by the mean completion time of the pair, shortest job first."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require_one_of
from gsopt.core.method import heuristic
from gsopt.performance.colocation import Choice, Rule, SubBatch, choose_sub_batch
from gsopt.performance.colocation.sub_batches import Ties
from gsopt.problems.colocation import Colocation, ColocationSolution, Share
from heuristics.colocation.queue import Key, shortest_first

#: Which partner is best: the one with the least mean completion time, or the one that saves most over waiting.
Prefers = Literal["mean_jct", "saved"]


@heuristic
def bsbf(
    problem: Colocation,
    *,
    rule: Rule = "end_points",
    ties: Ties = "larger",
    key: Key = "seconds",
    prefers: Prefers = "mean_jct",
    budget: Budget = UNLIMITED,
) -> ColocationSolution:
    """Let each pending job choose the best remaining partner, shortest job first.

    A pending job that should share with none of the remaining running jobs keeps waiting.

    Source: Castor, Algorithms 1 and 2 (SJF-BSBF).

    Complexity: O(R P M) for R running and P pending jobs with M modes each.

    Parameters
    ----------
    problem
        The problem.
    rule
        How a pair decides whether to share: by ``end_points`` or, as printed, by ``sign`` or ``cases`` (see
        `gsopt.performance.colocation.Pair.shares`).
    ties
        Which of two equally good sub-batches is chosen: the ``larger`` or, as printed, the ``smaller`` one.
    key
        ``seconds`` sorts jobs by expected time, as in Algorithm 1; ``gpus`` by number of GPUs, as in the text.
    prefers
        Which partner is best: the one with the lowest mean completion time of the pair (``mean_jct``, as in
        line 14 of Algorithm 1), or the one that saves the most time (``saved``). The first one if tied.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        An option has an unknown value.

    Notes
    -----
    Departures: a job shares with a single running job, whereas the paper collects the GPUs of several. The
    printed algorithm loops over GPUs, and this one over running jobs.
    `gsopt.performance.colocation.choose_sub_batch` lists the errors of Algorithm 2.

    Examples
    --------
    >>> from instances.colocation import full_cluster
    >>> round(float(bsbf(full_cluster(running=12, pending=12, seed=1)).objective))
    11041
    """
    require_one_of("prefers", prefers, get_args(Prefers))
    left = dict.fromkeys(range(len(problem.running)))
    shares: dict[str, Share] = {}
    for job in shortest_first(problem, key):
        if budget.passed:
            break
        choices = [
            (_rank(choice, offered, prefers), place, choice.name)
            for place in left
            if (offered := problem.offered(problem.running[place], job))
            and (choice := choose_sub_batch(offered, rule=rule, ties=ties)).shares
        ]
        if choices:
            _, place, mode = min(choices)
            shares[job.name] = Share(running=problem.running[place].name, mode=mode)
            del left[place]
    return ColocationSolution(shares=shares)


def _rank(choice: Choice, offered: Sequence[SubBatch], prefers: Prefers) -> Any:
    """Return the sort key of a partner, where lower is better."""
    if prefers == "mean_jct":
        return choice.mean_jct
    return 2 * choice.mean_jct - offered[0].pair.sequential_sum
