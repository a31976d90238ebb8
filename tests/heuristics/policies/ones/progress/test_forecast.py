"""Forecasts, against what is drawn and against closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import QUANTILE
from gsopt.performance.batching import Progress
from heuristics.policies.ones.progress import Forecast

SHAPES = st.floats(1, 1e9)


def test_the_mean_is_that_of_the_inverse() -> None:
    """E[1 / rho - 1] is beta / (alpha - 1), for alpha above 1."""
    forecast = Forecast.of([2.5, 10, 40], [7, 3, 80], 1)
    draws = np.mean([forecast.draw(np.random.default_rng(seed)) for seed in range(4000)], axis=0)

    assert np.allclose(forecast.left("mean"), [7 / 1.5, 3 / 9, 80 / 39])
    assert np.allclose(draws, forecast.left("mean"), rtol=0.1)


@given(alpha=st.floats(1.5, 1e6), beta=SHAPES, processed=st.floats(1, 1e9))
def test_agrees_with_the_exact_numbers_of_one_job(alpha: float, beta: float, processed: float) -> None:
    """A job's `Progress`, in fractions, has the same mean, and as much left at the mean progress."""
    forecast = Forecast.of(alpha, beta, processed)
    exact = Progress(alpha=alpha, beta=beta, processed=processed)
    assert np.isclose(forecast.left("mean"), float(exact.left("mean")))
    assert np.isclose(forecast.left("mean_progress"), float(exact.left("mean_progress")))


def test_the_mean_is_infinite_in_the_first_epoch() -> None:
    """At alpha = 1 no average settles; the median and the samples left at the mean progress are finite."""
    forecast = Forecast.of(1, [5, 50], 1000)

    assert np.isinf(forecast.left("mean")).all()
    assert forecast.left("mean_progress").tolist() == [5000, 50_000]
    # rho has the distribution function 1 - (1 - rho)^beta
    medians = [1 - 0.5 ** (1 / beta) for beta in (5, 50)]
    assert np.allclose(forecast.left(), [1000 * (1 / median - 1) for median in medians])


@given(alpha=SHAPES, beta=SHAPES, processed=st.floats(1, 1e9))
def test_half_of_what_is_left_is_the_median(alpha: float, beta: float, processed: float) -> None:
    """Equation 7 maps quantiles of the progress to those of the samples left, the other way round."""
    forecast = Forecast.of(alpha, beta, processed)
    low, high = forecast.interval(0.9)
    few, many = forecast.left_quantile(0.05), forecast.left_quantile(0.95)

    assert 0 < low <= forecast.mean_progress <= 1 or alpha < beta  # a long tail may have its mean outside
    assert 0 <= few <= forecast.left() <= many
    assert np.isclose(forecast.left(), forecast.left_quantile(0.5))
    assert np.isclose(processed / (processed + many), low, rtol=1e-6)
    assert np.isclose(processed / (processed + few), high, rtol=1e-6)


@given(alpha=SHAPES, beta=SHAPES, probability=st.floats(0.01, 0.99))
def test_a_quantile_is_reached_with_its_probability(alpha: float, beta: float, probability: float) -> None:
    """The distribution function passes the probability within a millionth of the quantile."""
    forecast = Forecast.of(alpha, beta, 1)
    quantile = forecast.quantile(probability)
    below, above = quantile * (1 - QUANTILE), np.minimum(quantile * (1 + QUANTILE), 1)

    assert forecast.reached(below) <= probability <= forecast.reached(above)


def test_draws_follow_the_distribution() -> None:
    """The progress that draws of samples left mean is uniform under the distribution function."""
    number = 20_000
    forecast = Forecast.of(np.full(number, 3.0), 7, 500)
    left = forecast.draw(np.random.default_rng(1))
    reached = np.sort(forecast.reached(500 / (500 + left)))

    assert np.abs(reached - np.arange(number) / number).max() < 1.63 / np.sqrt(number)  # Kolmogorov, 1 %


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1e9), (1e9, 1), (1e9, 1e9), (1, 1)])
def test_draws_are_positive_and_finite(alpha: float, beta: float) -> None:
    """At the ends of what may be, draws are numbers above 0."""
    draws = Forecast.of(np.full(1000, alpha), beta, 1e15).draw(np.random.default_rng(0))
    assert (draws > 0).all()
    assert np.isfinite(draws).all()


def test_the_same_seed_draws_the_same() -> None:
    """Draws depend on the generator only."""
    forecast = Forecast.of([1, 2], [3, 4], 5)
    one, other = (forecast.draw(np.random.default_rng(7)) for _ in range(2))
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0.5, 1, 1), "alpha: 0.5: must be at least 1"),
        ((1, 0, 1), "beta: 0.0: must be at least 1"),
        ((1, 1, 0), "processed: 0.0: must be more than 0"),
        ((1, float("inf"), 1), "beta: inf: must be at least 1, and finite"),
    ],
)
def test_bad_parameters_are_refused(values: tuple[float, float, float], message: str) -> None:
    """Both parameters are at least 1, and something was processed."""
    with pytest.raises(InvalidInput, match=message):
        Forecast.of(*values)


def test_a_probability_is_at_most_1() -> None:
    """Quantiles and levels are probabilities."""
    forecast = Forecast.of(1, 1, 1)
    for call in (forecast.quantile, forecast.left_quantile, forecast.interval):
        with pytest.raises(InvalidInput, match="probability: 90: must be at least 0 and at most 1"):
            call(90)
