"""Partners that are drawn."""

from collections import Counter

from gsopt.problems.colocation import Colocation, Pending, Running
from heuristics.colocation import random_pairs


def test_every_pairing_is_drawn() -> None:
    """Over many seeds each of three partners is drawn about as often as the others, and one seed draws one."""
    problem = Colocation(
        running=[Running(name=name, gpus=1, seconds=9) for name in "abc"],
        pending=[Pending(name="p", gpus=1, seconds=5)],
    )
    drawn: Counter[str] = Counter()
    for seed in range(300):
        solution = random_pairs(problem, seed=seed).solution
        assert solution is not None
        assert solution == random_pairs(problem, seed=seed).solution
        drawn[solution.shares["p"].running] += 1
    assert set(drawn) == {"a", "b", "c"}
    assert min(drawn.values()) > 70


def test_whoever_has_room_is_used() -> None:
    """No job waits while a partner that has room is left alone."""
    problem = Colocation(
        running=[Running(name=f"r{k}", gpus=k, seconds=9) for k in (1, 2, 3)],
        pending=[Pending(name=f"p{k}", gpus=1, seconds=5) for k in (1, 2, 3)],
    )
    for seed in range(20):
        solution = random_pairs(problem, seed=seed).solution
        assert solution is not None
        assert len(solution.shares) == 3
