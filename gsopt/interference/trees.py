"""Trees: what regression trees of scikit-learn learn from a table of pairs."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from gsopt.errors import InvalidInput
from gsopt.interference.prediction import Prediction
from gsopt.interference.samples import Samples
from gsopt.interference.table import PairTable, Profile


def require_scikit_learn(predictor: str) -> None:
    """Refuse a predictor that needs scikit-learn where it is not installed.

    Raises
    ------
    InvalidInput
        It is not installed; the message names the remedy.
    """
    if find_spec("sklearn") is None:
        raise InvalidInput("", "predictor", predictor, 'needs scikit-learn: pip install "gsopt[predict]"')


def fitted(table: PairTable, model: Any) -> Prediction:
    """Fit a model of scikit-learn to the logarithms of the slowdowns."""
    import numpy as np

    samples = Samples(table)
    model.fit(samples.rows, samples.logs)

    def estimate(pairs: Sequence[tuple[Profile, Profile]]) -> list[float]:
        return [float(value) for value in np.exp(model.predict(samples.vectors(pairs)))] if pairs else []

    importance = zip(samples.features, map(float, model.feature_importances_), strict=True)
    return Prediction(estimate, dict(importance))
