"""Ties of priorities, whatever the order of the calculation."""

from fractions import Fraction

from gsopt.simulation.parts.ties import settled


def test_rounding_separates_no_priorities() -> None:
    """Sums of the same numbers in another order tie; numbers that differ by more do not."""
    assert settled(0.1 + 0.2 + 0.3) == settled(0.3 + 0.2 + 0.1)
    assert settled(1.0) < settled(1.0001)


def test_exact_priorities_stay_as_they_are() -> None:
    """Fractions and whole numbers have no rounding, and lose no digit."""
    fine = Fraction(1, 3) + Fraction(1, 10**30)
    assert settled(fine) == fine
    assert settled(10**30 + 1) == 10**30 + 1
