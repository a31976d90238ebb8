"""Pictures of forecasts show the numbers that they are of."""

from typing import Any

import numpy as np

from heuristics.policies.ones.progress import Calibration, ProgressPredictor
from heuristics.policies.ones.progress.plots import coverage, progress_band, reached
from tests.gsopt.simulation.plots.samples import legend
from tests.heuristics.policies.ones.progress.logs import log_of


def _lines(axes: Any) -> dict[str, list[float]]:
    return {line.get_label(): [float(value) for value in line.get_ydata()] for line in axes.lines}


def test_the_band_of_a_job() -> None:
    """Observed progress rises to 1, the mean of the forecast is its mean, and the band lies about it."""
    predictor, log = ProgressPredictor(), log_of(20)
    for length in (15, 20, 25):
        predictor.complete(log_of(length))
    axes = progress_band(predictor, log)
    forecast = predictor.predict(log)
    (band,) = list[Any](axes.collections)
    heights = band.get_paths()[0].vertices[:, 1]

    assert np.allclose(_lines(axes)["observed"], np.arange(1, 21) / 20)
    assert np.allclose(_lines(axes)["mean of the forecast"], forecast.mean_progress)
    assert np.isclose(heights.min(), forecast.interval(0.9)[0].min())
    assert legend(axes) == ["90% interval", "mean of the forecast", "observed"]


def test_a_band_of_a_job_that_still_runs() -> None:
    """With a total, observed progress ends where the log does."""
    axes = progress_band(ProgressPredictor(), log_of(20)[:5], total=20_000)
    assert np.allclose(_lines(axes)["observed"], np.arange(1, 6) / 20)


def test_coverage_by_predictor() -> None:
    """There is a line for each predictor and the diagonal, each from 0 to all."""
    found = {"one": Calibration(np.linspace(0.005, 0.995, 100)), "sure": Calibration(np.array([0.001, 0.999]))}
    lines = _lines(coverage(found))

    assert list(lines) == ["calibrated", "one", "sure"]
    assert np.abs(np.array(lines["one"]) - np.linspace(0, 1, 101)).max() < 0.02
    assert lines["sure"][95] == 0
    assert lines["sure"][-1] == lines["one"][-1] == 1


def test_tenths_of_the_forecasts() -> None:
    """Bars are the shares of forecasts in each tenth."""
    axes = reached(Calibration(np.array([0.05, 0.06, 0.55, 1.0])))
    heights = [bar.get_height() for bar in list[Any](axes.patches)]
    assert heights == [0.5, 0, 0, 0, 0, 0.25, 0, 0, 0, 0.25]
