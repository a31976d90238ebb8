"""Tests of drawing servers at random."""

from collections import Counter

from heuristics.reclaiming import random_choice
from tests.strategies.reclaiming import figure_5


def test_every_server_is_drawn_about_equally_often() -> None:
    """Over many seeds each of the six servers of Figure 5 is returned in about a third of the draws."""
    drawn: Counter[str] = Counter()
    for seed in range(600):
        solution = random_choice(figure_5(), seed=seed).solution
        assert solution is not None
        drawn.update(solution.servers)

    assert set(drawn) == {"s1", "s2", "s3", "s4", "s5", "s6"}
    assert all(150 <= count <= 250 for count in drawn.values())


def test_the_seed_decides() -> None:
    """One seed always draws the same servers, and several seeds do not."""
    draws = [random_choice(figure_5(), seed=seed).solution for seed in range(10)]

    assert draws == [random_choice(figure_5(), seed=seed).solution for seed in range(10)]
    assert any(draw != draws[0] for draw in draws)
