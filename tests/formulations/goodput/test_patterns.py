"""All that a node can hold."""

from itertools import combinations, product
from random import Random

import pytest

from formulations.goodput.patterns import Kind, Pattern, Stay
from tests.effort import cases


def _enumerated(kind: Kind, sizes: list[int], *, parts: bool) -> set[Pattern]:
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
    for seed in range(cases(100)):
        random = Random(seed)
        gpus = random.randint(0, 5)
        stays = tuple(
            Stay(job, random.randint(1, 3), random.random() < 0.5) for job in range(random.randint(0, 3))
        )
        sizes = sorted(random.sample(range(1, 6), random.randint(0, 3)))
        kind = Kind(gpus, stays, nodes=(0,))
        patterns = list(kind.patterns(sizes, parts=parts))
        assert len(set(patterns)) == len(patterns), seed
        assert set(patterns) == _enumerated(kind, sizes, parts=parts), seed
