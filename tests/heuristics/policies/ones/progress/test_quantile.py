"""Quantiles of Beta distributions."""

import numpy as np
import pytest
from scipy.special import betainc

from heuristics.policies.ones.progress.quantile import beta_quantile


@pytest.mark.parametrize("beta", [132_578_328.0, 2e8])
def test_where_scipy_is_wrong(beta: float) -> None:
    """Shapes of which scipy has a quantile twice too large have the right one, others keep theirs."""
    found = beta_quantile([1000.0, 1.0], [beta, 1.0], 0.5)
    assert betainc(1000.0, beta, found[0]) == pytest.approx(0.5)
    assert found[1] == 0.5


def test_shapes_and_ends() -> None:
    """The shape is that of what is asked for, and nothing or everything is passed at the ends."""
    assert np.shape(beta_quantile(2.0, [[3.0], [4.0]], 0.2)) == (2, 1)
    assert (float(beta_quantile(2.0, 3.0, 0.0)), float(beta_quantile(2.0, 3.0, 1.0))) == (0.0, 1.0)
