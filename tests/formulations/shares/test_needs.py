"""Needs of a level, and the level that prices leave possible."""

from fractions import Fraction

import pytest

from formulations.shares.needs import alone, needs, reach
from gsopt.core.problem import Sense
from tests.effort import cases
from tests.exactness import shares as oracle
from tests.strategies.shares import alike, tiny


def test_whoever_has_what_it_needs_has_the_level() -> None:
    """With throughputs as needed, every job is exactly at the level, whatever counts."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        if problem.criterion == "fifo":
            continue
        level = Fraction(alone(problem)) * (
            Fraction(2, 3) if problem.sense is Sense.MAXIMIZE else Fraction(3, 2)
        )
        for place, (job, need) in enumerate(zip(problem.jobs, needs(problem, level), strict=True)):
            assert problem.level(place, job, Fraction(need)) == level, seed


def test_nothing_is_better_than_alone() -> None:
    """Of jobs that have all GPUs to themselves the worst is no better off with others."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        best = oracle.optimum(problem)
        least = best[1] if isinstance(best, tuple) else best
        assert not problem.sense.better(least, alone(problem)), seed


def test_the_root_is_approached_from_below() -> None:
    """The needs 1 / (2 r - 1) and 1 / (2 r) cost 1 at the root of 4 r r - 6 r + 1, just above the level."""
    problem = alike({"steps": 100.0, "age": 100.0}, {"steps": 100.0}, criterion="finish_time")
    level = Fraction(reach(problem, [1, 1], 1, alone(problem)))
    assert float(level) == pytest.approx((6 + 20**0.5) / 8, rel=1e-15)
    assert 4 * level * level - 6 * level + 1 <= 0


def test_prices_of_nothing_say_nothing() -> None:
    """Without a price the known level is kept."""
    for criterion in ("max_min", "finish_time", "makespan"):
        problem = alike({}, {}, criterion=criterion)
        assert reach(problem, [0, 0], 1, 7) == 7
