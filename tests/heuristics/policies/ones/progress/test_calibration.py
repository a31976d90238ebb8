"""Calibration, by hand and on progress that follows the forecast."""

import numpy as np
import pytest

from gsopt.core.errors import InvalidInput
from heuristics.policies.ones.progress import (
    Calibration,
    Forecast,
    Learning,
    ProgressPredictor,
    calibrate,
    fit_regression,
)
from tests.heuristics.policies.ones.progress.logs import draw_rows, log_of


def test_coverage_and_distance_by_hand() -> None:
    """Central intervals of level q hold what lies between (1 - q) / 2 and (1 + q) / 2."""
    found = Calibration(np.array([0.05, 0.3, 0.5, 0.95]))

    assert found.coverage([0, 0.4, 0.41, 0.89, 0.91, 1]).tolist() == [0.25, 0.5, 0.5, 0.5, 1, 1]
    assert np.isclose(found.distance, 0.25)


def test_forecasts_of_the_model_itself_are_calibrated() -> None:
    """Fitted to rows of the model, forecasts of other rows of it hold the truth as often as they say."""
    generator = np.random.default_rng(0)
    fitted, others = fit_regression(draw_rows(generator, 500)), draw_rows(generator, 2000)
    forecast = Forecast.of(others.alpha, fitted.beta(others.features), 1)
    found = Calibration.of(forecast, others.progress)

    assert found.distance < 0.05
    assert abs(float(found.coverage(0.9)) - 0.9) < 0.03


@pytest.mark.parametrize(("factor", "low", "high"), [(10.0, 0.0, 0.7), (0.1, 0.97, 1.0)])
def test_too_sure_and_not_sure_enough(factor: float, low: float, high: float) -> None:
    """Forecasts that are narrower than what happens hold it too seldom, wider ones too often."""
    progress = np.random.default_rng(1).beta(20, 20, 1000)
    coverage = float(Calibration.of(Forecast.of(20 * factor, 20 * factor, 1), progress).coverage(0.9))

    assert low <= coverage <= high


def test_no_forecast_knows_its_job() -> None:
    """Each job is forecast by those before it; the first two by the prior."""
    logs = [log_of(length) for length in (4, 3, 6, 5)]
    found = calibrate(ProgressPredictor(Learning(prior=7.0)), logs)
    expected = Forecast.of([1, 2, 3], 7, 1).reached([0.25, 0.5, 0.75])
    left = Forecast.of([1, 2], 2, 1).reached([1 / 3, 2 / 3])  # the first had 3, 2 and 1 epochs left

    assert np.allclose(found.reached[:5], [*expected, *left])
    assert len(found.reached) == 3 + 2 + 5 + 4
    assert calibrate(ProgressPredictor(), logs, skip=3).reached.shape == (4,)
    assert calibrate(ProgressPredictor(), logs, totals=[None, None, None, 6000], skip=3).reached.shape == (5,)


def test_what_is_no_calibration_is_refused() -> None:
    """There is at least one forecast, and what it gives is a probability."""
    with pytest.raises(InvalidInput, match="reached: 0: must be at least one forecast"):
        calibrate(ProgressPredictor(), [])
    with pytest.raises(InvalidInput, match=r"reached: 1\.5: must be at least 0 and at most 1"):
        Calibration(np.array([1.5]))
