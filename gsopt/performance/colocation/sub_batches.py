"""Sub-batches: the parts in which a new job processes its batch to fit into memory next to a running job."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.performance.colocation.pair import Pair, Rule, quotient

#: Which of two sub-batches with the same mean completion time is chosen.
Ties = Literal["larger", "smaller"]


@dataclass(frozen=True, slots=True)
class SubBatch:
    """A possible sub-batch of a new job that shares GPUs with a running job.

    To save memory, a job can process its batch in several sub-batches and accumulate their gradients.

    Attributes
    ----------
    name
        Name of the sub-batch, such as that of the job's mode (`gsopt.scenario.job.Mode`) that uses it.
    pair
        The two jobs, where the new job uses this sub-batch.
    memory
        Bytes of memory that the new job needs on each GPU. If None, the number is unknown, and the sub-batch
        is assumed to fit.

    Examples
    --------
    >>> SubBatch("half", Pair(remaining=4, seconds=2, slowdown_running=1, slowdown_new=1), memory=6).memory
    6
    """

    name: str
    pair: Pair
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision for a pair of jobs: whether to share and, if so, with which sub-batch.

    Attributes
    ----------
    shares
        Whether the new job starts to share now.
    name
        Name of the new job's sub-batch; that of the whole batch if the job does not share.
    mean_jct
        Mean of the two jobs' completion times, in seconds from now.

    Examples
    --------
    >>> Choice(shares=True, name="half", mean_jct=3.5).name
    'half'
    """

    shares: bool
    name: str
    mean_jct: Any


def choose_sub_batch(
    offered: Sequence[SubBatch],
    *,
    memory_left: int | None = None,
    rule: Rule = "end_points",
    ties: Ties = "larger",
) -> Choice:
    """Choose the sub-batch with the smallest mean completion time of the pair, or choose to wait.

    Every offered sub-batch that fits into the memory is tried. If `rule` rejects sharing with a sub-batch,
    waiting takes its place; the new job then runs with the whole batch. If none fits, the choice is to wait.

    Source: Castor, Algorithm 2. As printed, it tries only the whole batch, or nothing if that is a single
    sample, and it ignores memory.

    Parameters
    ----------
    offered
        The sub-batches in descending order of size, starting with the whole batch.
    memory_left
        Bytes of memory that the running job leaves free on each of its GPUs; None for no limit.
    rule
        As in `Pair.shares`.
    ties
        Which of equally good sub-batches is chosen: the ``larger`` one, or the ``smaller`` one, as in line 7 of
        the algorithm.

    Raises
    ------
    InvalidInput
        Nothing is offered, or an option is unknown.

    Examples
    --------
    >>> whole = Pair(remaining=8, seconds=4, slowdown_running=1.5, slowdown_new=1.5)
    >>> half = Pair(remaining=8, seconds=5, slowdown_running=1.5, slowdown_new=1.5, seconds_whole=4)
    >>> offered = [SubBatch("whole", whole, memory=10), SubBatch("half", half, memory=6)]
    >>> choose_sub_batch(offered)
    Choice(shares=True, name='whole', mean_jct=8.0)
    >>> choose_sub_batch(offered, memory_left=8)
    Choice(shares=True, name='half', mean_jct=9.0)
    >>> choose_sub_batch(offered, memory_left=4)
    Choice(shares=False, name='whole', mean_jct=Fraction(10, 1))
    """
    require(bool(offered), "offered", offered, "must hold the whole batch")
    require_one_of("ties", ties, get_args(Ties))
    waiting = Choice(shares=False, name=offered[0].name, mean_jct=quotient(offered[0].pair.sequential_sum, 2))
    found = [
        Choice(shares=True, name=each.name, mean_jct=quotient(each.pair.shared_sum, 2))
        if each.pair.shares(rule)
        else waiting
        for each in (offered if ties == "larger" else reversed(offered))
        if memory_left is None or each.memory is None or each.memory <= memory_left
    ]
    return min(found, key=lambda choice: choice.mean_jct, default=waiting)  # the first of equal ones


def halvings(batch: int) -> tuple[tuple[int, int], ...]:
    """Return the sizes from the whole batch down to one sample, each with the number of sub-batches needed.

    Each size is half of the previous one, rounded up. The last sub-batch of a batch may be smaller than the
    others. Gradients are accumulated over the sub-batches, so the batch size stays the same. An iteration takes
    `gsopt.scenario.speed.IterationTime.seconds` with as many steps as there are sub-batches.

    Source: Castor, section 5.2.3 and Algorithm 2, lines 5 and 12.

    Examples
    --------
    >>> halvings(10)
    ((10, 1), (5, 2), (3, 4), (2, 5), (1, 10))
    """
    is_valid = isinstance(batch, int) and batch >= 1
    require(is_valid, "batch", batch, "must be a whole number of at least 1")
    sizes = [batch]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 2))
    return tuple((size, -(-batch // size)) for size in sizes)
