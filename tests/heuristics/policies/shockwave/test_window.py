"""Window: what plans are worth, by the definition."""

from random import Random

import pytest

from tests.effort import cases
from tests.heuristics.policies.shockwave.drawn import drawn, plans, value


def test_worth_and_load_are_as_defined() -> None:
    """Whatever the plan, both figures are those of the definition, and its longest time is a level."""
    random = Random(1)
    for _ in range(cases(40)):
        window = drawn(random, most_rounds=2)
        for plan in plans(window):
            counts, wanted = plan.sum(axis=1), value(window, plan)
            assert wanted is None or window.worth(counts) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
            assert window.load(plan).max() <= window.gpus
            assert window.longest(counts) in window.levels


def test_least_rounds_of_a_level() -> None:
    """No job has more left than the level with them, one does with a round less, and too many are None."""
    random = Random(2)
    for _ in range(cases(80)):
        window = drawn(random)
        for level in window.levels.tolist():
            least = window.least(level)
            if least is None:
                assert any(
                    c.least > window.rounds or c.left - 60 * window.rounds > level for c in window.claims
                )
                continue
            assert window.longest(least) <= level
            for claim, number in zip(window.claims, least.tolist(), strict=True):
                assert number == claim.least or claim.left - 60 * (number - 1) > level
