"""TimeLedger: what claims of jobs come to, and what a new beginning keeps."""

from heuristics.policies.gavel.ledger import TimeLedger


def test_a_claim_falls_with_the_time_had() -> None:
    """Of two jobs with equal shares and half a round of credit, one that had a round claims a third as much."""
    ledger = TimeLedger(180.0)
    for job in (0, 1):
        ledger.enter((job,), ["x"])
    ledger.add((0,), "x", 360.0)
    assert ledger.claim((1,), "x", 0.5).priority == 2.0
    assert ledger.claim((0,), "x", 0.5).priority == 0.66666667


def test_time_of_a_job_that_left_counts_among_that_of_all() -> None:
    """Claims of the others rise by it, all alike."""
    ledger = TimeLedger(180.0)
    ledger.enter((0,), ["x"])
    ledger.enter((1,), ["x"])
    ledger.leave(1)
    ledger.add((1,), "x", 180.0)
    assert ledger.claim((0,), "x", 1.0).priority == 3.0


def test_a_new_beginning_keeps_what_was_missed() -> None:
    """A job that had 100 s of the 300 s that it was to have begins with its credit, and misses 200 s."""
    ledger = TimeLedger(180.0)
    ledger.enter((0,), ["x", "y"])
    ledger.add((0,), "x", 100.0)
    ledger.reset({(0,): {"x": 0.5}}, 600.0)
    assert ledger.claim((0,), "x", 0.5) == (0.5, 200.0, 0.5)
    assert ledger.claim((0,), "y", 0.0).deficit == 0.0


def test_claims_that_differ_by_rounding_tie() -> None:
    """Tenths of a second that were added up are no more than as many seconds at once."""
    ledger = TimeLedger(0.3)
    for job in (0, 1):
        ledger.enter((job,), ["x"])
    for _ in range(3):
        ledger.add((0,), "x", 0.1)
    ledger.add((1,), "x", 0.3)
    assert ledger.claim((0,), "x", 0.7) == ledger.claim((1,), "x", 0.7 + 1e-16)
    ledger.reset({(0,): {"x": 0.3}, (1,): {"x": 0.1 + 0.2}}, 1.0)
    assert ledger.claim((0,), "x", 0.5) == ledger.claim((1,), "x", 0.5)
