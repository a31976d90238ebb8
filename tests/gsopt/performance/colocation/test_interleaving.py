"""Interleaving: the shortest cycle of a group, and what it means for pairs."""

from itertools import combinations, product
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.colocation.interleaving import cycle, interleaved
from tests.effort import cases


def shortest(stages: list[tuple[int, ...]]) -> int:
    """Try every way in which jobs may follow each other, each with a resource of its own at any time."""
    resources = range(len(stages[0]))
    found = []
    for begins in product(resources, repeat=len(stages)):
        if len(set(begins)) == len(stages):
            parts = [
                [own[(begin + part) % len(own)] for own, begin in zip(stages, begins, strict=True)]
                for part in resources
            ]
            found.append(sum(map(max, parts)))
    return min(found)


@pytest.mark.parametrize("seed", range(cases(100)))
def test_shortest_cycle(seed: int) -> None:
    """The cycle is the shortest of all orders, at least as long as any job, resource or pair needs."""
    random = Random(seed)
    resources = random.randint(1, 4)
    stages = [
        tuple(random.choice([0, 1, 1, 5, random.randint(0, 9)]) for _ in range(resources))
        for _ in range(random.randint(1, resources))
    ]
    seconds = cycle(stages)
    assert seconds == shortest(stages)
    assert seconds >= max(map(sum, stages))
    assert seconds >= max(map(sum, zip(*stages, strict=True)))
    for pair in combinations(stages, 2):
        assert seconds >= cycle(pair)


def test_by_hand() -> None:
    """Jobs of different resources share, those of one wait, and one without seconds has no speed."""
    assert cycle([(1, 0, 0), (0, 1, 0), (0, 0, 1)]) == 1
    assert cycle([(1, 1, 1), (1, 1, 1), (1, 1, 1)]) == 3
    assert cycle([(3, 0, 0), (3, 0, 0)]) == 6
    assert cycle([(2, 1, 1), (1, 2, 1)]) == 4
    assert cycle([(1, 0, 1), (0, 4, 0)]) == 5  # never the same resource at once
    table = interleaved({"a": (1.0, 0.0, 1.0), "b": (0.0, 4.0, 0.0)})
    assert table == {"a": {"a": 1.5, "b": 2.5}, "b": {"a": 1.25, "b": 2.0}}
    with pytest.raises(InvalidInput, match=r"^stages\['a'\]: "):
        interleaved({"a": (0.0, 0.0)})


@pytest.mark.parametrize(
    ("stages", "field"),
    [
        ([], "stages"),
        ([(1,), (1,)], "stages"),
        ([(1, 2), (1,)], r"stages\[1\]"),
        ([(1, -1)], r"stages\[0\]"),
        ([()], "stages"),
    ],
)
def test_bad_stages(stages: Any, field: str) -> None:
    """Groups that are too large, and seconds that are none, are refused in one line."""
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        cycle(stages)
