"""Auctions: the largest product of values and the payments, against all divisions."""

from itertools import product
from math import prod
from random import Random

import pytest

from heuristics.policies.gavel.auction import Award, auction
from tests.effort import cases


def largest(bids: list[dict[int, float]], gpus: int) -> float:
    """Find the largest product of values among all divisions."""
    return max(
        prod(bid[count] for bid, count in zip(bids, counts, strict=True))
        for counts in product(*bids)
        if sum(counts) <= gpus
    )


@pytest.mark.parametrize("seed", range(cases(500)))
def test_as_all_divisions_say(seed: int) -> None:
    """The product is the largest, and each part is what the others have over what they could have."""
    random = Random(seed)
    gpus = random.randint(0, 6)
    bids = [
        {0: 1.0}
        | {random.randint(1, 7): random.choice([1.0, 1.5, 2.0, random.uniform(0.5, 9)]) for _ in range(3)}
        for _ in range(random.randint(1, 4))
    ]
    awards = auction(bids, gpus)
    values = [bid[award.gpus] for bid, award in zip(bids, awards, strict=True)]

    assert sum(award.gpus for award in awards) <= gpus
    assert prod(values) == pytest.approx(largest(bids, gpus))
    for place, award in enumerate(awards):
        others = bids[:place] + bids[place + 1 :]
        assert award.part <= 1
        assert award.part == pytest.approx(prod(values) / values[place] / largest(others, gpus))


@pytest.mark.parametrize("seed", range(cases(200)))
def test_of_equal_bids_the_first_win(seed: int) -> None:
    """Later bidders have the fewest GPUs, in whichever order the logarithms of equal products are added."""
    random = Random(seed)
    bidders = random.randint(2, 8)
    gpus = random.randint(1, bidders - 1)
    awards = auction([{0: random.uniform(0.01, 1.0), 1: random.uniform(1.0, 9.0)}] * bidders, gpus)
    assert [award.gpus for award in awards] == [1] * gpus + [0] * (bidders - gpus)


def test_numbers_that_are_worth_nothing_more_are_not_taken() -> None:
    """Of equally good numbers a bidder has the fewest, in whichever order it bids them."""
    assert auction([{2: 3.0, 1: 3.0, 0: 3.0}], 2) == [Award(0, 1.0)]


def test_nobody_bids() -> None:
    """Without bidders, or without GPUs, nothing is won and nothing paid."""
    assert auction([], 4) == []
    assert auction([{0: 0.5, 1: 2.0}], 0) == [Award(0, 1.0)]


def test_rounding_takes_no_gpu() -> None:
    """What is left of two GPUs is one where it is half of them but for rounding, and two where it is more."""
    assert Award(2, 0.5000000000000002).kept([1, 2]) == 1
    assert Award(2, 0.5001).kept([1, 2]) == 2
