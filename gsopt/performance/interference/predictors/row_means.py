"""Row means: slowdowns predicted from a job's mean sensitivity and its partner's mean aggressiveness."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import exp, log
from statistics import fmean

from gsopt.performance.interference.prediction import Prediction
from gsopt.performance.interference.samples import Samples
from gsopt.performance.interference.table import PairTable, Profile


def row_means(table: PairTable, /) -> Prediction:
    """Predict slowdowns from the geometric means of a job's row and of its partner's column.

    A predicted slowdown is the mean of the table multiplied by two factors: how much worse than average the job
    fares with all its partners, and how much worse than average all jobs fare with its partner. A factor for
    which no pair was measured is 1. This predictor needs no features.

    This baseline is not in Castor.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> a, b, c = (Profile(name=name, features={}) for name in "abc")
    >>> pairs = {"a": {"a": 4.0, "b": 2.0}, "b": {"a": 2.0}}
    >>> prediction = row_means(PairTable(profiles=[a, b, c], slowdowns=pairs))
    >>> [round(slowdown, 3) for slowdown in prediction.slowdowns([(a, a), (b, b), (c, c)])]
    [3.175, 1.587, 2.52]
    """
    overall = fmean(Samples(table).logs)
    suffers, hurts = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for one, row in table.slowdowns.items():
        for other, slowdown in row.items():
            suffers[one].append(log(slowdown) - overall)
            hurts[other].append(log(slowdown) - overall)
    rows, columns = _means(suffers.items()), _means(hurts.items())

    def estimate(pairs: Sequence[tuple[Profile, Profile]]) -> list[float]:
        return [exp(overall + rows.get(one.name, 0) + columns.get(other.name, 0)) for one, other in pairs]

    return Prediction(estimate)


def _means(groups: Iterable[tuple[str, list[float]]]) -> dict[str, float]:
    return {name: fmean(values) for name, values in groups}
