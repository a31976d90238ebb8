"""Received: what claims of jobs come to, and what a new beginning keeps."""

from heuristics.policies.gavel.received import Received


def test_a_claim_falls_with_the_time_had() -> None:
    """Of two jobs with equal shares and half a round of credit, one that had a round claims a third as much."""
    received = Received(180.0)
    for job in (0, 1):
        received.enter((job,), ["x"])
    received.add((0,), "x", 360.0)
    assert received.claim((1,), "x", 0.5).priority == 2.0
    assert received.claim((0,), "x", 0.5).priority == 0.66666667


def test_time_of_a_job_that_left_counts_among_that_of_all() -> None:
    """Claims of the others rise by it, all alike."""
    received = Received(180.0)
    received.enter((0,), ["x"])
    received.enter((1,), ["x"])
    received.leave(1)
    received.add((1,), "x", 180.0)
    assert received.claim((0,), "x", 1.0).priority == 3.0


def test_a_new_beginning_keeps_what_was_missed() -> None:
    """A job that had 100 s of the 300 s that it was to have begins with its credit, and misses 200 s."""
    received = Received(180.0)
    received.enter((0,), ["x", "y"])
    received.add((0,), "x", 100.0)
    received.reset({(0,): {"x": 0.5}}, 600.0)
    assert received.claim((0,), "x", 0.5) == (0.5, 200.0, 0.5)
    assert received.claim((0,), "y", 0.0).deficit == 0.0


def test_claims_that_differ_by_rounding_tie() -> None:
    """Tenths of a second that were added up are no more than as many seconds at once."""
    received = Received(0.3)
    for job in (0, 1):
        received.enter((job,), ["x"])
    for _ in range(3):
        received.add((0,), "x", 0.1)
    received.add((1,), "x", 0.3)
    assert received.claim((0,), "x", 0.7) == received.claim((1,), "x", 0.7 + 1e-16)
    received.reset({(0,): {"x": 0.3}, (1,): {"x": 0.1 + 0.2}}, 1.0)
    assert received.claim((0,), "x", 0.5) == received.claim((1,), "x", 0.5)
