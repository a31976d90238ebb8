"""Logs of made-up jobs whose progress follows the model, for tests of the predictor."""

import numpy as np

from heuristics.policies.ones.progress import EpochReport, ObservationRows
from heuristics.policies.ones.progress.observation import Floats

#: beta = max(TRUTH[0] x + TRUTH[1], 1) for features in the units of the paper.
SLOPES = np.array([2.5e-4, 2.0, -5e-6, -40.0, -25.0])
INTERCEPT = 60.0


def draw_features(generator: np.random.Generator, number: int) -> Floats:
    """Draw features as jobs of ONES have them: 3,600 to 40,000 samples in an epoch, 1 to 80 epochs done."""
    samples = generator.uniform(3600, 40_000, number)
    epochs = generator.integers(1, 80, number)
    loss = generator.uniform(0.5, 7, number)
    improvement, accuracy = generator.uniform(0, 1, (2, number))
    return np.column_stack([samples, loss, samples * epochs, improvement, accuracy])


def true_beta(features: Floats) -> Floats:
    """Return the beta by which progress is drawn."""
    result: Floats = np.maximum(features @ SLOPES + INTERCEPT, 1)
    return result


def draw_rows(generator: np.random.Generator, number: int) -> ObservationRows:
    """Draw rows that follow the model."""
    features = draw_features(generator, number)
    alpha = np.maximum(features[:, 2] / features[:, 0], 1)
    progress = generator.beta(alpha, true_beta(features))
    return ObservationRows(features=features, progress=np.clip(progress, 1e-12, 1 - 1e-12))


def log_of(epochs: int, *, samples: float = 1000.0, loss: float = 2.0) -> list[EpochReport]:
    """Return the log of a job whose loss falls evenly, to a tenth."""
    return [
        EpochReport(
            epoch_samples=samples,
            initial_loss=loss,
            processed=samples * number,
            loss=loss * (1 - 0.9 * number / epochs),
            accuracy=0.9 * number / epochs,
        )
        for number in range(1, epochs + 1)
    ]
