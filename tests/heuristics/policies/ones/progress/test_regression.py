"""The regression: what it recovers, where it fails, and what it bears."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import beta as beta_distribution

from gsopt.core.errors import InvalidInput
from heuristics.policies.ones.progress import LinkFunction, ObservationRows, Start, fit_regression
from heuristics.policies.ones.progress.observation import Floats
from heuristics.policies.ones.progress.regression import PenalisedCost
from tests.effort import cases
from tests.heuristics.policies.ones.progress.logs import (
    INTERCEPT,
    SLOPES,
    draw_features,
    draw_rows,
    true_beta,
)


def test_recovers_known_parameters() -> None:
    """From many rows of the model, A and b are found as far as their randomness allows."""
    rows = draw_rows(np.random.default_rng(0), 20_000)
    slopes, intercept = fit_regression(rows).coefficients

    assert np.allclose(slopes, SLOPES, rtol=0.1)
    assert np.isclose(intercept, INTERCEPT, rtol=0.05)


def _best_found(rows: ObservationRows, generator: np.random.Generator) -> float:
    """Return the lowest mean cost that a search without gradients finds from the truth: a second version."""
    centre, scale = rows.features.mean(axis=0), rows.features.std(axis=0)
    standardised = (rows.features - centre) / scale

    def cost(parameters: Floats) -> float:
        beta = np.maximum(standardised @ parameters[:5] + parameters[5], 1)
        return -float(np.mean(beta_distribution.logpdf(rows.progress, rows.alpha, beta)))

    truth = np.append(SLOPES * scale, INTERCEPT + SLOPES @ centre)
    starts = [truth, truth + generator.normal(0, 5, 6)]
    options: Any = {"maxfev": 1500, "xatol": 1e-3, "fatol": 1e-6}
    return min(float(minimize(cost, start, method="Nelder-Mead", options=options).fun) for start in starts)


def test_nothing_found_without_gradients_is_better() -> None:
    """The fit costs at most a hundredth of a nat more than what another search finds from the truth."""
    for seed in range(cases(5)):
        generator = np.random.default_rng(seed)
        rows = draw_rows(generator, 100)
        assert fit_regression(rows, ridge=0.0).cost <= _best_found(rows, generator) + 0.01


def test_from_zero_nothing_is_learnt() -> None:
    """With A = 0, b = 0 below the threshold all gradients are 0: every beta stays 1, nats above the fit."""
    for seed in range(cases(20)):
        rows = draw_rows(np.random.default_rng(seed), 100)
        dead, alive = fit_regression(rows, start=Start.ZERO), fit_regression(rows)

        assert dead.steps == 0
        assert (dead.beta(rows.features) == 1).all()
        assert dead.cost > alive.cost + 2


def test_the_smooth_link_learns_from_anywhere() -> None:
    """Softplus has no dead rows: from zero it gets as far as from the median, and near the threshold's fit."""
    for seed in range(cases(10)):
        rows = draw_rows(np.random.default_rng(seed), 200)
        printed = fit_regression(rows).cost
        for start in Start:
            assert fit_regression(rows, link=LinkFunction.SOFTPLUS, start=start).cost < printed + 0.05


def test_units_do_not_matter() -> None:
    """Features in other units give the same beta."""
    rows = draw_rows(np.random.default_rng(1), 200)
    units = np.array([1.0, 1e9, 1.0, 1e-9, 1e6])  # of all but those that alpha is made of
    other = ObservationRows(features=rows.features * units, progress=rows.progress)
    one, two = fit_regression(rows), fit_regression(other)

    assert np.allclose(one.beta(rows.features), two.beta(other.features), rtol=1e-3)


@pytest.mark.parametrize("number", [1, 2, 40])
def test_identical_rows_give_the_most_likely_beta(number: int) -> None:
    """Without any difference of features b alone is fitted, where the derivative by beta is 0."""
    rows = ObservationRows(features=np.full((number, 5), 3.7), progress=np.full(number, 0.01))
    # the density beta (1 - rho)^(beta - 1) at alpha = 1 is largest at beta = -1 / ln(1 - rho)
    expected = -1 / np.log1p(-0.01)
    fitted = fit_regression(rows)

    assert np.isclose(fitted.intercept, expected, rtol=1e-3)
    assert np.isclose(fitted.beta(rows.features[:1])[0], min(expected, rows.epochs_left.max()), rtol=1e-3)


def test_no_beta_is_beyond_what_was_seen() -> None:
    """Far from the rows, beta stays between 1 and the most epochs that a row had left."""
    rows = draw_rows(np.random.default_rng(2), 300)
    far = draw_features(np.random.default_rng(3), 300) * np.array([1e3, 1e3, 1e3, -50, 50])
    beta = fit_regression(rows).beta(far)

    assert beta.max() == rows.epochs_left.max()
    assert beta.min() == 1


SIZES = st.floats(1e-9, 1e9)
ROWS = st.lists(
    st.tuples(st.tuples(SIZES, SIZES, SIZES, st.floats(-1e9, 1), SIZES), st.floats(1e-12, 1 - 1e-12)),
    min_size=1,
    max_size=8,
)


@given(drawn=ROWS, link=st.sampled_from(LinkFunction), start=st.sampled_from(Start))
@settings(max_examples=40)
def test_extremes_are_borne(
    drawn: list[tuple[tuple[float, ...], float]], link: LinkFunction, start: Start
) -> None:
    """Features of 1e-9 to 1e9, progress close to 0 and 1: beta is finite and at least 1, without a warning."""
    rows = ObservationRows(
        features=np.array([features for features, _ in drawn]),
        progress=np.array([progress for _, progress in drawn]),
    )
    fitted = fit_regression(rows, link=link, start=start)

    assert np.isfinite(fitted.cost)
    assert np.isfinite(fitted.beta(rows.features)).all()
    assert (fitted.beta(rows.features) >= 1).all()


def test_the_truth_is_not_more_likely() -> None:
    """On the rows that it was fitted to, a fit costs no more than the parameters that made them."""
    for seed in range(cases(10)):
        rows = draw_rows(np.random.default_rng(seed), 300)
        densities = beta_distribution.logpdf(rows.progress, rows.alpha, true_beta(rows.features))
        assert fit_regression(rows).cost <= 1e-6 - float(np.mean(densities))


@pytest.mark.parametrize("link", LinkFunction)
def test_the_gradient_is_that_of_the_cost(link: LinkFunction) -> None:
    """Central differences give the analytic gradient, with the ridge in it."""
    generator = np.random.default_rng(6)
    rows = draw_rows(generator, 50)
    columns = np.column_stack([generator.normal(0, 5, (50, 2)), np.full(50, 20.0)])
    cost, parameters = PenalisedCost(rows, columns, link, ridge=0.3), np.array([0.4, -0.7, 1.1])
    steps = 1e-6 * np.eye(3)
    numeric = [(cost(parameters + step)[0] - cost(parameters - step)[0]) / 2e-6 for step in steps]

    assert np.allclose(cost(parameters)[1], numeric, rtol=1e-5)


def test_no_rows_are_refused() -> None:
    """There is nothing to fit to."""
    with pytest.raises(InvalidInput, match="rows: 0: must be at least one to fit to"):
        fit_regression(ObservationRows(features=np.empty((0, 5)), progress=np.empty(0)))
