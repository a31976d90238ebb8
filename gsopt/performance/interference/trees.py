"""Trees: predictions with scikit-learn's regression trees."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from gsopt.core.errors import InvalidInput, require
from gsopt.performance.interference.prediction import Prediction
from gsopt.performance.interference.samples import Samples
from gsopt.performance.interference.table import PairTable, Profile

#: Number of seeds that scikit-learn accepts.
_SEEDS = 2**32


def require_scikit_learn(predictor: str) -> None:
    """Raise `InvalidInput` if scikit-learn is not installed."""
    if find_spec("sklearn") is None:
        raise InvalidInput("predictor", predictor, "needs scikit-learn: pip install scikit-learn")


def require_options(seed: int, *, rate: float = 1.0, **counts: int | None) -> None:
    """Raise `InvalidInput` if an option of a tree predictor is out of range."""
    for name, count in counts.items():
        require(count is None or count >= 1, name, count, "must be at least 1")
    require(0 < rate <= 1, "rate", rate, "must be above 0 and at most 1")
    require(0 <= seed < _SEEDS, "seed", seed, "must be at least 0 and less than 2**32")


def fitted(table: PairTable, model: Any) -> Prediction:
    """Fit a scikit-learn model to the logarithms of the slowdowns, and return a `Prediction` of slowdowns."""
    import numpy as np

    samples = Samples(table)
    model.fit(samples.rows, samples.logs)

    def estimate(pairs: Sequence[tuple[Profile, Profile]]) -> list[float]:
        return [float(value) for value in np.exp(model.predict(samples.vectors(pairs)))] if pairs else []

    importance = zip(samples.features, map(float, model.feature_importances_), strict=True)
    return Prediction(estimate, dict(importance))
