"""Time limits."""

from formulations.deadline import Deadline


def test_what_is_left_shrinks() -> None:
    """Less and less is left of a limit, never less than nothing."""
    deadline = Deadline(1000.0)
    first, second = deadline.left(), deadline.left()

    assert first is not None
    assert second is not None
    assert 0 < second <= first <= 1000
    assert Deadline(1.0, begin=deadline.begin - 5).left() == 0.0
    assert Deadline(1.0, begin=deadline.begin - 5).passed
    assert not deadline.passed


def test_no_more_than_asked_for() -> None:
    """At most the asked seconds are given, with and without a limit."""
    assert Deadline(1000.0).left(most=5.0) == 5.0
    assert Deadline(None).left(most=5.0) == 5.0
    assert Deadline(None).left() is None
    assert Deadline(0.0).left(most=5.0) == 0.0
