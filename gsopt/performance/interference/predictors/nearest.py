"""Nearest: interpolation between the most similar measured pairs."""

from collections.abc import Sequence
from typing import Any

from gsopt.core.errors import require
from gsopt.performance.interference.prediction import Prediction
from gsopt.performance.interference.samples import Samples
from gsopt.performance.interference.table import PairTable, Profile


def nearest(table: PairTable, /, *, neighbours: int = 4) -> Prediction:
    """Predict by interpolation between the measured pairs with the most similar features.

    The prediction is a geometric mean of their slowdowns, weighted by the inverse distance in the features of
    both jobs. For this distance, each feature is put on a logarithmic scale and divided by its standard
    deviation. If some of the chosen pairs have exactly the features of the pair to predict, only these are
    used. Ties go to the pair that is first in the table. Predictions stay within the measured range.

    Source: Castor, section 6, which interpolates along measured curves. The weights are those of Shepard
    (1968).

    Parameters
    ----------
    table
        The table to learn from.
    neighbours
        Number of measured slowdowns between which to interpolate. A pair has one in each direction.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> a, b, c = (Profile(name=name, features={"load": load}) for name, load in (("a", 0), ("b", 1), ("c", 1)))
    >>> table = PairTable(profiles=[a, b, c], slowdowns={"a": {"b": 1.5}, "b": {"a": 3.0}})
    >>> [round(slowdown, 6) for slowdown in nearest(table).slowdowns([(a, c), (c, a)])]
    [1.5, 3.0]
    """
    import numpy as np

    require(neighbours >= 1, "neighbours", neighbours, "must be at least 1")
    samples = Samples(table)
    known, logs = np.array(samples.rows), np.array(samples.logs)
    spread = known.std(axis=0)
    spread[spread == 0] = 1

    def estimate(pairs: Sequence[tuple[Profile, Profile]]) -> list[float]:
        return [float(np.exp(_between(vector))) for vector in np.array(samples.vectors(pairs))]

    def _between(vector: Any) -> Any:
        distances = np.sqrt((((known - vector) / spread) ** 2).sum(axis=1))
        closest = np.argsort(distances, kind="stable")[:neighbours]
        same = closest[distances[closest] == 0]
        if len(same):
            return logs[same].mean()
        return np.average(logs[closest], weights=1 / distances[closest])

    return Prediction(estimate)
