"""The likelihood, against scipy's distribution and against differences."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta as beta_distribution

from heuristics.policies.ones.progress import LinkFunction, ObservationRows, negative_log_likelihood
from heuristics.policies.ones.progress.observation import Floats
from tests.heuristics.policies.ones.progress.logs import draw_rows, true_beta


def _row(epochs: float, progress: float) -> ObservationRows:
    return ObservationRows(features=np.array([[1.0, 1.0, epochs, 0.0, 0.0]]), progress=np.array([progress]))


@given(epochs=st.floats(0, 1e4), progress=st.floats(1e-9, 1 - 1e-9), beta=st.floats(1, 1e6))
def test_equals_the_density_of_scipy(epochs: float, progress: float, beta: float) -> None:
    """The cost of a row is minus the logarithm of the density."""
    costs, _ = negative_log_likelihood(np.array([beta]), _row(epochs, progress))
    expected = -beta_distribution.logpdf(progress, max(epochs, 1), beta)
    assert np.isclose(costs[0], expected, rtol=1e-6, atol=1e-6)


def _numeric(rows: ObservationRows, beta: Floats, step: Floats) -> Floats:
    high, low = (negative_log_likelihood(beta + sign * step, rows)[0] for sign in (1, -1))
    result: Floats = (high - low) / (2 * step)
    return result


def test_the_derivative_is_that_of_the_cost() -> None:
    """Central differences give the analytic derivative by beta."""
    rows = draw_rows(np.random.default_rng(3), 200)
    beta = true_beta(rows.features) * np.random.default_rng(4).uniform(0.5, 2, 200)
    _, slopes = negative_log_likelihood(beta, rows)

    assert np.allclose(slopes, _numeric(rows, beta, 1e-4 * beta), rtol=1e-5, atol=1e-6)


def test_the_cost_is_convex_in_beta() -> None:
    """The derivative by beta grows."""
    rows = draw_rows(np.random.default_rng(5), 50)
    slopes = [negative_log_likelihood(np.full(50, beta), rows)[1] for beta in (1.0, 2.0, 5.0, 50.0, 1e4)]
    assert all((after > before).all() for before, after in pairwise(slopes))


@pytest.mark.parametrize("link", LinkFunction)
def test_links_are_at_least_1_and_their_slopes_are_theirs(link: LinkFunction) -> None:
    """Beta is at least 1 for every u, and differences give the slope, away from the kink."""
    linear = np.array([-1e9, -800.0, -3.0, 0.5, 1.5, 30.0, 800.0, 1e9])
    step = 1e-6 * np.maximum(np.abs(linear), 1)
    numeric = (link.beta(linear + step) - link.beta(linear - step)) / (2 * step)

    assert (link.beta(linear) >= 1).all()
    assert np.allclose(link.slope(linear), numeric, atol=1e-6)


@given(beta=st.floats(1 + 1e-6, 1e9), link=st.sampled_from(LinkFunction))
def test_the_inverse_of_a_link(beta: float, link: LinkFunction) -> None:
    """The u that is given for a beta has it."""
    assert np.isclose(link.beta(np.array([link.inverse(beta)]))[0], beta)


def test_a_threshold_lets_go_below_1() -> None:
    """No row with u < 1 pulls, and one at the kink can leave it upwards."""
    assert LinkFunction.THRESHOLD.slope(np.array([-5.0, 0.0, 0.999, 1.0, 2.0])).tolist() == [0, 0, 0, 1, 1]
