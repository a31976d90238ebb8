"""Progress: ONES' predictions of how far the training of jobs has come, learned from completed jobs.

A `ProgressPredictor` learns from the logs of completed jobs (an `EpochReport` at the end of each epoch) and
returns a `Forecast` for running jobs: Beta distributions of the progress, and thus distributions of the
remaining samples. `fit_regression` is the underlying regression, and `calibrate` measures how well forecasts
are calibrated.

Examples
--------
>>> seen = EpochReport(epoch_samples=1000, initial_loss=2.3, processed=3000, loss=1.5, accuracy=0.4)
>>> ProgressPredictor().predict([seen]).left("mean")
array([15000.])
"""

from heuristics.policies.ones.progress.calibration import Calibration, calibrate
from heuristics.policies.ones.progress.forecast import Centre, Forecast
from heuristics.policies.ones.progress.history import ObservationHistory, Sampling
from heuristics.policies.ones.progress.likelihood import LinkFunction, negative_log_likelihood
from heuristics.policies.ones.progress.observation import (
    FEATURES,
    EpochReport,
    ObservationRows,
    features_of,
    rows_of,
)
from heuristics.policies.ones.progress.predictor import Learning, ProgressPredictor
from heuristics.policies.ones.progress.regression import Regression, SearchStart, fit_regression

__all__ = [
    "FEATURES",
    "Calibration",
    "Centre",
    "EpochReport",
    "Forecast",
    "Learning",
    "LinkFunction",
    "ObservationHistory",
    "ObservationRows",
    "ProgressPredictor",
    "Regression",
    "Sampling",
    "SearchStart",
    "calibrate",
    "features_of",
    "fit_regression",
    "negative_log_likelihood",
    "rows_of",
]
