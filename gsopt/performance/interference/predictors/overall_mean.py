"""Overall mean: the same slowdown for every pair."""

from math import exp
from statistics import fmean

from gsopt.performance.interference.prediction import Prediction
from gsopt.performance.interference.samples import Samples
from gsopt.performance.interference.table import PairTable


def overall_mean(table: PairTable, /) -> Prediction:
    """Predict the table's geometric mean slowdown for every pair, a baseline that ignores the jobs.

    Schedulers that assume one interference ratio for all pairs make the same kind of prediction.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> a, b = (Profile(name=name, features={}) for name in "ab")
    >>> table = PairTable(profiles=[a, b], slowdowns={"a": {"b": 1.0}, "b": {"a": 4.0}})
    >>> [round(slowdown, 6) for slowdown in overall_mean(table).slowdowns([(a, b), (b, b)])]
    [2.0, 2.0]
    """
    mean = exp(fmean(Samples(table).logs))
    return Prediction(lambda pairs: [mean for _ in pairs])
