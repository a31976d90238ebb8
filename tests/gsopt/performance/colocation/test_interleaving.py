"""Interleaving: the shortest cycle of a group, and what it means for pairs."""

from itertools import combinations, product
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.colocation.interleaving import cycle, grouped, interleaved, pipelined
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


def test_pipelined_cycles_by_hand() -> None:
    """Two jobs alternate input and the rest, four fill all parts, and one takes the sum of its stages."""
    assert pipelined([(3, 2, 1)]) == 6
    assert pipelined([(3, 2, 1), (3, 2, 1)]) == 6
    assert pipelined([(4, 1, 1), (0, 1, 1)]) == 6
    assert pipelined([(8, 1, 1)] * 4) == 16  # the input of each takes two parts of the four
    assert pipelined([(0, 1, 0)] * 4) == 4


@pytest.mark.parametrize("seed", range(cases(50)))
def test_no_job_is_faster_in_a_pipeline(seed: int) -> None:
    """A cycle is as long as all uses of the GPU and all of the network, and scales with the stages."""
    random = Random(seed)
    stages = [tuple(random.randint(0, 9) for _ in range(3)) for _ in range(random.randint(2, 4))]
    seconds = pipelined(stages)
    assert seconds >= max(sum(own[stage] for own in stages) for stage in (1, 2))
    assert pipelined([tuple(3 * each for each in own) for own in stages]) == 3 * seconds


def test_groups_are_those_of_all_sizes() -> None:
    """Pairs are as interleaved, a cycle of three counts for each of them, and crowding makes both longer."""
    stages = {"disk": (3.0, 1.0, 0.0), "gpu": (1.0, 3.0, 0.0), "net": (0.0, 0.0, 4.0)}
    found = grouped(stages, dict.fromkeys(stages, 4.0), most=3)
    pairs = interleaved(stages)
    assert all(found[one][other] == pairs[one][other] for one in stages for other in stages)
    together = cycle([*stages.values()]) / 4
    assert found["net"]["disk + gpu"] == found["gpu"]["disk + net"] == together
    longer = grouped(stages, dict.fromkeys(stages, 4.0), most=3, crowding=[1.5, 2.0])
    assert longer["net"]["disk + gpu"] == 2 * together
    assert longer["gpu"]["disk"] == 1.5 * pairs["gpu"]["disk"]


def test_stages_of_a_pipeline_are_three_of_four_jobs_at_most() -> None:
    """Other numbers are refused."""
    for stages in ([], [(1, 1, 1)] * 5, [(1, 1)]):
        with pytest.raises(InvalidInput, match="stages"):
            pipelined(stages)
