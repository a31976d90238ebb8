"""All that a node can hold."""

from itertools import combinations, product
from random import Random

import pytest

from formulations.goodput.patterns import NodeKind, Pattern, Stay


def _enumerated(kind: NodeKind, sizes: list[int], *, parts: bool) -> set[Pattern]:
    """Try every subset of stays and every number of jobs of each size."""
    found = set()
    for number in range(len(kind.stays) + 1):
        for stays in combinations(kind.stays, number):
            wide = sum(stay.is_wide for stay in stays)
            for counts in product(range(kind.gpus + 1), repeat=len(sizes)):
                held = tuple(size for size, count in zip(sizes, counts, strict=True) for _ in range(count))
                left = kind.gpus - sum(stay.gpus for stay in stays) - sum(held)
                is_open = parts and not wide
                if left >= 0 and wide <= 1 and (is_open or all(size > left for size in sizes)):
                    found.add(Pattern(stays, held, left if is_open else 0))
    return found


@pytest.mark.parametrize("parts", [False, True])
def test_patterns_are_all_that_fit(parts: bool) -> None:
    """Patterns are those that counting finds, each once."""
    for seed in range(100):
        random = Random(seed)
        gpus = random.randint(0, 5)
        stays = tuple(
            Stay(job, random.randint(1, 3), random.random() < 0.5) for job in range(random.randint(0, 3))
        )
        sizes = sorted(random.sample(range(1, 6), random.randint(0, 3)))
        kind = NodeKind(gpus, stays, nodes=(0,))
        patterns = list(kind.patterns(sizes, parts=parts))
        assert len(set(patterns)) == len(patterns), seed
        assert set(patterns) == _enumerated(kind, sizes, parts=parts), seed


def test_parts_of_two_jobs_do_not_stay_together() -> None:
    """Of two jobs on several nodes at most one keeps its part of a node, though there is room for both."""
    kind = NodeKind(4, (Stay(0, 2, is_wide=True), Stay(1, 2, is_wide=True)), nodes=(0,))
    assert [len(pattern.stays) for pattern in kind.patterns([], parts=False)] == [0, 1, 1]
