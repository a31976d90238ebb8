"""The choice of a sub-batch, and how it differs from the algorithm as it is printed."""

from fractions import Fraction
from random import Random

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.colocation import Choice, Pair, SubBatch, choose_sub_batch, halvings
from gsopt.scenario.speed import IterationTime


def offered(
    seconds: tuple[int, ...], *, remaining: int = 10, slowdown: Fraction | int = 1, memory: tuple[int, ...] = ()
) -> list[SubBatch]:
    """Return sub-batches with some solo seconds, the whole batch first, and some memory each."""
    return [
        SubBatch(
            name=f"b{index}",
            pair=Pair(remaining, each, slowdown, slowdown, seconds_whole=seconds[0]),
            memory=memory[index] if memory else None,
        )
        for index, each in enumerate(seconds)
    ]


def test_smaller_sub_batches_are_tried_too() -> None:
    """Where the whole batch does not fit, the largest one that does is taken: the loop does not end at once."""
    found = choose_sub_batch(offered((4, 5, 7), memory=(9, 6, 4)), memory_left=6)
    assert found == Choice(shares=True, name="b1", mean_jct=Fraction(15, 2))


def test_single_samples_are_tried_too() -> None:
    """One sample is the last sub-batch, and the only one of a batch of 1."""
    assert choose_sub_batch(offered((4, 9), memory=(9, 3)), memory_left=3).name == "b1"
    assert choose_sub_batch(offered((4,))).shares
    assert halvings(1) == ((1, 1),)
    assert halvings(64)[-1] == (1, 64)


def test_memory_decides_to_the_byte() -> None:
    """A sub-batch that needs exactly the memory left fits, one byte more does not; unknown memory fits."""
    known = offered((4,), memory=(8 * 2**30,))
    assert choose_sub_batch(known, memory_left=8 * 2**30).shares
    assert not choose_sub_batch(known, memory_left=8 * 2**30 - 1).shares
    assert choose_sub_batch(offered((4,)), memory_left=0).shares


def test_choices_by_hand() -> None:
    """Without a better sub-batch the job waits with the whole one, and of equal ones the larger is kept."""
    found = choose_sub_batch(offered((4, 5, 6), remaining=4, slowdown=5))
    assert found == Choice(shares=False, name="b0", mean_jct=6)
    found = choose_sub_batch(offered((4, 5), memory=(9, 8)), memory_left=7)
    assert found == Choice(shares=False, name="b0", mean_jct=12)
    equal = offered((4, 4, 5))
    assert choose_sub_batch(equal).name == "b0"
    assert choose_sub_batch(equal, ties="smaller").name == "b1"
    good = offered((1,), remaining=4, slowdown=2)
    assert choose_sub_batch(good) == Choice(shares=True, name="b0", mean_jct=Fraction(7, 2))
    assert choose_sub_batch(good, rule="sign") == Choice(shares=False, name="b0", mean_jct=Fraction(9, 2))


def test_no_choice_is_better() -> None:
    """On random sub-batches the choice has the least mean of all that fit, and of waiting."""
    random = Random(7)
    shared = 0
    for _ in range(300):
        seconds = tuple(sorted(random.randint(1, 40) for _ in range(4)))
        memory = tuple(sorted((random.randint(1, 20) for _ in range(4)), reverse=True))
        each = offered(seconds, slowdown=Fraction(random.randint(4, 9), 4), memory=memory)
        left = random.randint(0, 20)
        found = choose_sub_batch(each, memory_left=left)
        sums = [each[0].pair.sequential_sum]
        sums += [one.pair.shared_sum for one in each if one.memory is not None and one.memory <= left]
        assert 2 * found.mean_jct == min(sums)
        shared += found.shares
    assert 50 < shared < 250


def test_for_one_slowdown_the_largest_sub_batch_is_fastest() -> None:
    """An iteration takes the longer the more sub-batches it has, whatever overlaps (Eq. 3)."""
    random = Random(3)
    for _ in range(100):
        model = IterationTime(
            compute=random.uniform(0, 1),
            per_sample=random.uniform(0, 0.1),
            latency=random.uniform(0, 1),
            overlap=random.uniform(1, 10),
        )
        times = [model.seconds(64, message=1, steps=steps) for _, steps in halvings(64)]
        assert times == sorted(times)


@pytest.mark.parametrize("batch", range(1, 40))
def test_sub_batches_hold_the_batch(batch: int) -> None:
    """As many sub-batches as are said hold the whole batch, one fewer would not; they fall to one sample."""
    found = halvings(batch)
    sizes = [size for size, _ in found]
    assert all(size * (steps - 1) < batch <= size * steps for size, steps in found)
    assert (sizes[0], sizes[-1]) == (batch, 1)
    assert sizes == sorted(set(sizes), reverse=True)


def test_what_is_none_is_refused() -> None:
    """No sub-batches, an unknown option or half a sample are refused in one line."""
    with pytest.raises(InvalidInput, match="offered: \\[\\]: must hold the whole batch"):
        choose_sub_batch([])
    with pytest.raises(InvalidInput, match="ties: 'any': must be one of larger, smaller"):
        choose_sub_batch(offered((4,)), ties="any")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="batch: 0: must be a whole number"):
        halvings(0)
