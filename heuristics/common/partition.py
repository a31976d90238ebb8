"""Partition: functions that split a decision into parts with equal numbers of GPUs and solve each part."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from gsopt.core.budget import Budget
from gsopt.core.errors import number_of, require
from gsopt.core.method import MethodLike, accepts, run
from gsopt.core.problem import Problem

Item = TypeVar("Item")


def check_partition(parts: int, seed: int) -> None:
    """Raise `InvalidInput` unless there is at least one part and the seed is an integer."""
    is_count = isinstance(parts, int) and number_of(parts) >= 1
    require(is_count, "parts", parts, "must be an integer, at least 1")
    is_seed = isinstance(seed, int) and not isinstance(seed, bool)
    require(is_seed, "seed", seed, "must be an integer")


def dealt(groups: Sequence[Sequence[Item]], parts: int, seed: int, *, even: bool = True) -> list[list[Item]]:
    """Distribute the items of all groups over parts at random.

    If `even`, the groups are shuffled, and their items are dealt to the parts in rotation. Therefore, the sizes
    of the parts differ by at most one, and the items of a group go to as many parts as possible. Otherwise, the
    part of each item is drawn independently. Within a part, items keep the order in which they were given.
    Empty parts are left out.
    """
    random = Random(seed)
    order = list(range(len(groups)))
    if even:
        random.shuffle(order)
    hands: dict[int, list[tuple[int, int, Item]]] = {}
    every = ((place, index, item) for place in order for index, item in enumerate(groups[place]))
    for turn, each in enumerate(every):
        hands.setdefault(turn % parts if even else random.randrange(parts), []).append(each)
    return [[item for *_, item in sorted(hand, key=lambda each: each[:2])] for _, hand in sorted(hands.items())]


def divided(gpus: Mapping[str, int], parts: int) -> dict[str, int]:
    """Return the number of GPUs of each type in one part: their total divided by `parts`, rounded down."""
    return {kind: count // parts for kind, count in gpus.items()}


def solutions(problems: Iterable[Problem[Any]], method: MethodLike, budget: Budget) -> Iterator[Any]:
    """Solve problems one by one, and yield the solution of each, or None if there is none.

    Each problem may use an equal share of the remaining time.
    """
    every = list(problems)
    for solved, problem in enumerate(every):
        left = budget.left()
        own = Budget() if left is None else Budget(time_limit=left / (len(every) - solved))
        yield run(method, problem, **({"budget": own} if accepts(method, "budget") else {})).solution
