"""Boosted trees."""

from gsopt.performance.interference.predictors import boosted_trees
from tests.gsopt.performance.interference.tables import EIGHT


def test_more_trees_come_closer() -> None:
    """More trees have smaller errors on what was seen; at a small rate they stay near the mean."""
    pairs = [(one, other) for one in EIGHT.profiles for other in EIGHT.profiles]
    measured = [EIGHT.slowdowns[one.name][other.name] for one, other in pairs]
    errors = [
        sum(abs(value - true) for value, true in zip(found, measured, strict=True))
        for found in (boosted_trees(EIGHT, trees=trees).slowdowns(pairs) for trees in (1, 10, 100))
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 10
    prediction = boosted_trees(EIGHT, trees=1, rate=1e-6)
    pairs = [(one, other) for one in EIGHT.profiles for other in EIGHT.profiles]
    found = prediction.slowdowns(pairs)
    assert max(found) - min(found) < 1e-5
