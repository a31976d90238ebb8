"""Scores of models that share."""

from heuristics.policies.lucid.scores import score


def test_scores() -> None:
    """A job has 0 from 0.95 of its speed on, 1 from 0.85 on, and else 2."""
    assert [score(1 / speed) for speed in (1.0, 0.96, 0.94, 0.86, 0.84, 0.1)] == [0, 0, 1, 1, 2, 2]
