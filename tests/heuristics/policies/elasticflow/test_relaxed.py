"""Relaxed: an upper bound on what can be admitted."""

from random import Random

import pytest

from heuristics.policies.elasticflow import relaxed
from heuristics.policies.elasticflow.plan import keeps_all
from heuristics.policies.elasticflow.profile import Request
from heuristics.policies.elasticflow.relaxed import could_keep_all
from tests.effort import cases
from tests.heuristics.policies.elasticflow.requests import LENGTH, drawn


def test_what_the_rule_keeps_the_relaxation_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever minimum satisfactory shares admit could be kept in any parts too, by the programme alone."""
    monkeypatch.setattr(relaxed, "keeps_all", lambda *_: False)
    for seed in range(cases(500)):
        requests = drawn(Random(seed))
        assert not keeps_all(requests, 8, LENGTH) or could_keep_all(requests, 8, LENGTH), seed


def test_the_rule_refuses_what_could_be_kept() -> None:
    """By deadline the early job takes one GPU throughout; half of the time on both leaves the other enough."""
    early = Request(0, 110.0, (1, 2), (1.0, 1.0 + 1e-9), 2)
    late = Request(1, 230.0, (2,), (2.0,), 3)
    assert not keeps_all([early, late], 2, LENGTH)
    assert could_keep_all([early, late], 2, LENGTH)


def test_edges() -> None:
    """Nobody at all can be kept; a deadline that has passed cannot."""
    assert could_keep_all([], 1, LENGTH)
    assert not could_keep_all([Request(0, 1.0, (1,), (1.0,), 0)], 1, LENGTH)
    assert could_keep_all([Request(0, 60.0, (1,), (1.0,), 1)], 1, LENGTH)
    assert not could_keep_all([Request(0, 61.0, (1,), (1.0,), 1)], 1, LENGTH)
