"""Sub-batches: the parts in which a new job computes its batch, so that it fits beside a running one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.performance.colocation.pair import Pair, Rule, quotient

#: Which of two sub-batches with the same mean completion time is chosen.
Ties = Literal["larger", "smaller"]


@dataclass(frozen=True, slots=True)
class SubBatch:
    """A sub-batch of a new job, beside a running one.

    Attributes
    ----------
    name
        Its name; a mode of the job.
    pair
        The two jobs, the new one with this sub-batch.
    memory
        Bytes that the new job needs on each GPU; None when unknown, which always fits.

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
    """The best choice for a pair.

    Attributes
    ----------
    shares
        Whether the new job shares now.
    name
        Its sub-batch; the whole batch where it does not share.
    mean_jct
        Mean completion time of the two.

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
    """Choose the sub-batch with the least mean completion time of the pair, or to wait.

    Every sub-batch that fits is tried, including the whole batch and single samples. One that does not share
    counts as waiting, with the whole batch, so that all of them are equal where waiting is best.

    Source: Castor, Algorithm 2, which as printed returns within its loop, so that it only tries the whole
    batch; ends before it has tried one sample, so that a job with a batch of 1 never shares; stores a ``t``
    that it never computes; and ignores the memory.

    Parameters
    ----------
    offered
        The sub-batches, the whole batch first and then smaller and smaller ones.
    memory_left
        Bytes that the running job leaves on each of its GPUs; None for no limit.
    rule
        As of `Pair.shares`.
    ties
        Of equal ones the larger sub-batch, which is faster for the new job itself; or the smaller one, as in
        line 7 of the algorithm.

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
    """Return the sub-batches of a batch by halving, from the whole to one sample, with the number of each.

    Their gradients are added up, so the batch stays the same: its iteration takes
    `gsopt.scenario.speed.IterationTime.seconds` with that many steps.

    Source: Castor, section 5.2.3 and Algorithm 2, lines 5 and 12; halves are rounded up.

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
