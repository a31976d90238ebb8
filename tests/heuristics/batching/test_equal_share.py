"""Equal shares up to the caps."""

import sys
from heapq import heappop
from random import Random
from typing import Any

import pytest

from gsopt.problems.batching import Batching
from heuristics.batching import equal_share
from heuristics.batching.menus import shortest_first, started
from tests.effort import cases
from tests.strategies.batching import THREE, gpus_of, linear


def test_seven_gpus_by_hand() -> None:
    """Two each are six, and the shorter of the two that may have more gets the seventh."""
    assert gpus_of(equal_share(Batching(gpus=7, jobs=THREE))) == {"long": 2, "short": 2, "middle": 3}


def test_fewer_gpus_than_jobs_go_to_the_shortest() -> None:
    """On two GPUs the two shortest jobs have one each."""
    assert gpus_of(equal_share(Batching(gpus=2, jobs=THREE))) == {"short": 1, "middle": 1}


def one_by_one(problem: Batching) -> list[int]:
    """Grant one step after the other, each to the job that has fewest: the rule as it is said."""
    counts, order = started(problem), shortest_first(problem)
    left, racing = problem.gpus - sum(counts), list(range(len(order)))
    while racing and left:
        rank = min(racing, key=lambda rank: (counts[order[rank]], rank))
        place = order[rank]
        has = counts[place]
        more = next((count - has for count in problem.counts[place] if count > has), left + 1)
        if more > left:
            racing.remove(rank)
        else:
            counts[place] += more
            left -= more
    return counts


def drawn(random: Random) -> Batching:
    """Draw jobs with caps, fewest GPUs and gaps of all sizes."""
    jobs = [
        linear(f"j{each}", random.randint(1, 30), random.randint(1, 9), min_gpus=random.choice((1, 1, 1, 2, 5)))
        for each in range(random.randint(0, 8))
    ]
    menu: Any = random.choice(("every", "every", "every", "doublings"))
    forced: Any = random.choice(("none", "all"))
    return Batching(gpus=random.randint(0, 90), jobs=jobs, menu=menu, forced=forced, use="any")


def test_steps_taken_together_are_those_taken_one_by_one() -> None:
    """Jobs rise together as far as they would one after the other."""
    for seed in range(cases(300)):
        problem = drawn(Random(seed))
        counts = gpus_of(equal_share(problem))
        assert [counts.get(job.name, 0) for job in problem.jobs] == one_by_one(problem), seed


def test_the_number_of_gpus_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs share a million GPUs in a few steps."""
    steps: list[object] = []

    def popped(queue: list[Any]) -> Any:
        steps.append(queue)
        return heappop(queue)

    monkeypatch.setattr(sys.modules["heuristics.batching.equal_share"], "heappop", popped)
    counts = gpus_of(equal_share(Batching(gpus=10**6, jobs=[linear("a", 10**6, 9), linear("b", 300_000, 9)])))
    assert counts == {"a": 700_000, "b": 300_000}
    assert len(steps) < 20
