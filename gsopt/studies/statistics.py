"""Statistics: functions that summarize the values of a figure."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from math import exp, fsum, log
from statistics import median, stdev

from gsopt.core.errors import InvalidInput, shorten
from gsopt.schedule.figures import percentile

_PERCENTILE = re.compile(r"p(\d{1,2}(\.\d+)?)")


def statistic(name: str) -> Callable[[Sequence[float]], float | None]:
    """Return the function that computes the statistic of the given name.

    The function returns None if the statistic is not defined for the values. The names are ``mean``,
    ``median``, ``min``, ``max``, ``total``, ``deviation`` (the sample standard deviation), ``geomean``, and
    percentiles such as ``p99``, the smallest value that at least 99 % of the values do not exceed. Any other
    name raises `InvalidInput`.
    """
    if name in _STATISTICS:
        return lambda values: _STATISTICS[name](values) if values else None
    matched = _PERCENTILE.fullmatch(name)
    if matched is None:
        rule = f"must be a percentile such as p99, or one of {', '.join(_STATISTICS)}"
        raise InvalidInput("statistic", shorten(name), rule)
    return partial(percentile, percent=float(matched[1]))


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _geometric_mean(values: Sequence[float]) -> float | None:
    return exp(fsum(map(log, values)) / len(values)) if min(values) > 0 else None


def _deviation(values: Sequence[float]) -> float | None:
    return stdev(values) if len(values) > 1 else None


_STATISTICS: dict[str, Callable[[Sequence[float]], float | None]] = {
    "mean": _mean,
    "median": median,
    "min": min,
    "max": max,
    "total": fsum,
    "deviation": _deviation,
    "geomean": _geometric_mean,
}
