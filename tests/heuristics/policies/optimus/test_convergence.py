"""Convergence: curves that are of the fitted form, and curves that are not."""

import pytest

from heuristics.policies.optimus.convergence import samples_until


@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 1.0, 0.0), (0.01, 0.5, 0.0), (0.01, 0.25, 0.25)])
def test_curves_of_its_own_form(a: float, b: float, c: float) -> None:
    """Of a curve 1 / (a k + b) + c the samples until a loss are found, exactly where c is tried."""
    seen = [(float(k), 1 / (a * k + b) + c) for k in (0, 20, 50, 90)]
    target = 1 / (a * 200 + b) + c
    assert samples_until(seen, target) == pytest.approx(200, rel=0.02 if c else 1e-6)


def test_what_is_never_reached() -> None:
    """Where losses rise, or none at all is wanted, nothing can be told."""
    assert samples_until([(0.0, 1.0), (1.0, 0.5), (2.0, 0.3)], 0.0) is None
    assert samples_until([(0.0, 1.0), (1.0, 1.5), (2.0, 2.0)], 0.5) is None
