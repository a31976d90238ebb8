"""Parts of a decision: who is in which, what each has, and how long each may take."""

from collections import Counter

import pytest

from gsopt.core.budget import Budget
from gsopt.core.method import NoSolution
from gsopt.problems.shares import Shares, TimeShares
from heuristics.common.partition import check_partition, dealt, divided, solutions
from tests.processes import PATIENCE
from tests.refusals import refused
from tests.strategies.shares import alike


@pytest.mark.parametrize("parts", [0, -1, 1.5, "2", True, None])
def test_parts_are_counted(parts: object) -> None:
    """There is a whole number of parts, at least one."""
    with refused("must be an integer, at least 1", start="parts: "):
        check_partition(parts, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [0.5, "a", True, None])
def test_seeds_are_integers(seed: object) -> None:
    """What is no integer is no seed."""
    with refused("must be an integer", start="seed: "):
        check_partition(2, seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 8, 10**12])
def test_parts_are_even_and_ordered(parts: int) -> None:
    """Each item is in one part, in its order, and no part has two more than another."""
    hands = dealt([[item] for item in range(7)], parts, seed=5)
    assert sorted(item for hand in hands for item in hand) == list(range(7))
    assert all(hand and hand == sorted(hand) for hand in hands)
    assert max(map(len, hands)) - min(map(len, hands)) <= 1
    assert len(hands) == min(parts, 7)


def test_no_items_are_no_parts() -> None:
    """Without items there is nothing to deal."""
    assert dealt([], 3, seed=0) == []


def test_items_of_a_group_part_ways() -> None:
    """Two of three parts have an item of a pair, and each part one of a group of three."""
    groups = [[("a", 0), ("a", 1)], [("b", 0)], [("c", 0), ("c", 1), ("c", 2)]]
    for seed in range(20):
        for hand in dealt(groups, 3, seed):
            assert max(Counter(name for name, _ in hand).values()) == 1


def test_every_part_is_as_likely() -> None:
    """Any two of four items are together in a third of all partitions in two parts, wherever they stand."""
    together = Counter[frozenset[int]]()
    for seed in range(3000):
        together.update(frozenset(hand) for hand in dealt([[item] for item in range(4)], 2, seed))
    assert len(together) == 6
    assert all(abs(times - 1000) < 120 for times in together.values())


def test_parts_of_single_draws_differ_in_size() -> None:
    """Drawn by itself each item is in either part half of the time, whatever the part of another."""
    sizes, together = Counter[int](), 0
    for seed in range(2000):
        hands = dealt([[item] for item in range(4)], 2, seed, even=False)
        assert sorted(item for hand in hands for item in hand) == [0, 1, 2, 3]
        assert all(hand and hand == sorted(hand) for hand in hands)
        sizes[max(map(len, hands))] += 1
        together += any({0, 1} <= set(hand) for hand in hands)
    wanted = {2: 750, 3: 1000, 4: 250}  # of 16 ways 6, 8 and 2
    assert all(abs(sizes[size] - times) < 110 for size, times in wanted.items())
    assert abs(together - 1000) < 110


def test_gpus_are_rounded_down() -> None:
    """Of five GPUs two parts have two each, and of one GPU none."""
    assert divided({"v100": 5, "k80": 1}, 2) == {"v100": 2, "k80": 0}


def test_time_that_is_left_is_shared() -> None:
    """The first of three may use a third, the last all that is left, and no limit remains none."""
    told: list[float | None] = []

    def method(_: Shares, *, budget: Budget) -> NoSolution:
        told.append(budget.time_limit)
        return NoSolution("none")

    problems = [alike({})] * 3
    assert list(solutions(problems, method, Budget(time_limit=PATIENCE))) == [None] * 3
    assert [round(PATIENCE / (limit or 0)) for limit in told] == [3, 2, 1]
    assert list(solutions(problems, method, Budget())) == [None] * 3
    assert told[3:] == [None] * 3


def test_methods_without_a_budget_are_called_without() -> None:
    """A plain function of the problem solves the parts too."""
    plain = TimeShares(shares={})
    assert list(solutions([alike({})], lambda _: plain, Budget())) == [plain]
