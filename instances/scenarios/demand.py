"""Demand: the number of GPUs of an inference cluster that serve requests, over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, fsum, pi, sin
from pathlib import Path
from random import Random
from statistics import fmean

from gsopt.core.errors import require
from instances.arguments import at_least
from instances.traces.inference import DAY, duty_cycle_of_a_day, serving_gpus

#: Seconds between two values of the curve. Source: Aryl, Figure 1.
STEP = 300

#: Mean and peak share of GPUs that serve requests, and the ratio of a day's peak to its trough. Source: Aryl,
#: section 2.1 and Figure 1.
MEAN, PEAK, PEAK_TO_TROUGH = 0.65, 0.95, 2.2

#: How the curve is derived from public traces, and what is unknown about the curve in the paper, for printing.
ASSUMPTIONS = (
    "The inference demand of Aryl is private; only its mean, peak and peak-to-trough ratio are known.",
    "Shape of a day: mean GPU duty cycle of 143 pods of a public service over 22.8 hours, mean over 2 hours.",
    "The missing 1.2 hours of the night are a straight line; the day repeats.",
    "Level: GPUs of 7,386 public inference instances over 31 days, which grow by 3 % in the first 15 days.",
    "The day is raised to the power that gives the mean of 65 %, between a trough and a peak of 95 %.",
    "The trough is the peak over 2.2. Both are reached where the level is at its most, others in proportion.",
    "The hour of the day at which the trace of jobs begins is not known; the curve begins in the trough.",
    "Requests are served by as few servers as can hold them; all others may be lent.",
    "The inference scheduler knows its demand five minutes ahead, lends at once and reclaims when it must.",
    "After the last day the demand stays as it is.",
)

#: Limits of the power to which a day's shape is raised to give the mean, and halvings of the search for it.
_LEAST_POWER, _MOST_POWER, _HALVINGS = 1e-3, 1e3, 60

#: Largest relative drift of a made-up level, and the power of a sine that shapes a day; higher ones narrow the
#: peak.
_DRIFT, _PEAK_POWER = 0.02, 2


@dataclass(frozen=True)
class InferenceDemand:
    """The number of GPUs of an inference cluster that serve requests in each step, starting at time 0.

    Attributes
    ----------
    step
        Length of a step in seconds.
    busy
        Number of serving GPUs in each step.
    gpus
        Number of GPUs of the cluster.
    source
        Origin of the curve.
    """

    step: int
    busy: tuple[int, ...]
    gpus: int
    source: str = ""

    @property
    def mean(self) -> float:
        """Mean share of GPUs that serve requests."""
        return fmean(self.busy) / self.gpus

    @property
    def peak(self) -> float:
        """Largest share of GPUs that serve requests."""
        return max(self.busy) / self.gpus

    @property
    def peak_to_trough(self) -> float:
        """Ratio of a day's peak to its trough, averaged over the days; the last day may be incomplete."""
        steps = DAY // self.step
        days = (self.busy[begin : begin + steps] for begin in range(0, len(self.busy), steps))
        return fmean(max(day) / max(min(day), 1) for day in days)

    def most(self, begin: float, end: float) -> int:
        """Return the largest number of serving GPUs between two times.

        After the end of the curve, its last value applies.
        """
        first = min(int(begin // self.step), len(self.busy) - 1)
        return max(self.busy[first : max(ceil(end / self.step), first + 1)])


def public_demand(
    path: str | Path,
    *,
    days: float = 15.0,
    gpus: int = 4160,
    mean: float = MEAN,
    peak: float = PEAK,
    peak_to_trough: float = PEAK_TO_TROUGH,
    begin: float = 0.0,
) -> InferenceDemand:
    """Derive the demand of an inference cluster from two public traces and the figures that Aryl reports.

    `ASSUMPTIONS` explains how.

    Parameters
    ----------
    path
        The folder of all traces.
    days
        Length of the curve in days.
    gpus
        Number of GPUs of the cluster.
    mean, peak
        Mean share of serving GPUs over whole days, and the largest share.
    peak_to_trough
        Ratio of a day's peak to its trough.
    begin
        Number of hours from the trough of the day to the beginning of the curve.

    Raises
    ------
    InvalidInput
        A file cannot be read, or an argument is out of range.
    """
    _check(days, gpus, begin)
    number = _steps(days, begin)
    level = serving_gpus(path, [step * STEP for step in range(number)])
    shape = duty_cycle_of_a_day(path, step=STEP)
    trough = shape.index(min(shape))
    shape = shape[trough:] + shape[:trough]
    source = "duty cycle of GenTD26, instances of the disaggregated DLRM trace"
    return _curve(shape, level, gpus, days, begin, (mean, peak, peak_to_trough), source)


def made_up_demand(
    *,
    days: float = 15.0,
    gpus: int = 4160,
    mean: float = MEAN,
    peak: float = PEAK,
    peak_to_trough: float = PEAK_TO_TROUGH,
    begin: float = 0.0,
    seed: int = 0,
) -> InferenceDemand:
    """Generate a demand like that of `public_demand`, with a smooth daily pattern and random drift."""
    _check(days, gpus, begin)
    random = Random(seed)
    steps = DAY // STEP
    shape = [sin(pi * step / steps) ** _PEAK_POWER for step in range(steps)]
    drifts = [1 - random.uniform(0, _DRIFT) for _ in range(_steps(days, begin) // steps + 1)]
    level = [
        low + (high - low) * step / steps
        for low, high in zip(drifts, [*drifts[1:], drifts[-1]], strict=True)
        for step in range(steps)
    ]
    facts = (mean, peak, peak_to_trough)
    return _curve(shape, level, gpus, days, begin, facts, f"a made-up curve, seed {seed}")


def _check(days: float, gpus: int, begin: float) -> None:
    at_least(1, gpus=gpus)
    require(0 < days <= 31, "days", days, "must be more than 0 and at most 31, as many as the traces have")  # noqa: PLR2004
    require(0 <= begin <= 24, "begin", begin, "must be an hour between 0 and 24")  # noqa: PLR2004


def _steps(days: float, begin: float) -> int:
    """Return the number of steps in the whole days that cover the curve."""
    return ceil(days + begin / 24) * DAY // STEP


def _curve(
    shape: Sequence[float],
    level: Sequence[float],
    gpus: int,
    days: float,
    begin: float,
    facts: tuple[float, float, float],
    source: str,
) -> InferenceDemand:
    """Return a demand with a given mean, peak and peak-to-trough ratio over whole days."""
    mean, peak, ratio = facts
    require(0 < peak <= 1, "peak", peak, "must be more than 0 and at most 1")
    require(ratio >= 1, "peak_to_trough", ratio, "must be at least 1")
    low, high = min(shape), max(shape)
    unit = [(value - low) / (high - low) if high > low else 1.0 for value in shape]
    number = _steps(days, begin)
    most = max(level[:number])
    tops = [each / most * peak for each in level[:number]]
    weights = [fsum(tops[place :: len(unit)]) / number for place in range(len(unit))]

    def mean_of(power: float) -> float:
        raised: float = sum(weight * value**power for weight, value in zip(weights, unit, strict=True))
        return (sum(weights) + (ratio - 1) * raised) / ratio

    least, largest = mean_of(_MOST_POWER), mean_of(_LEAST_POWER)
    rule = f"must be between {least:.3f} and {largest:.3f}, given the peak and the trough"
    require(least <= mean <= largest, "mean", mean, rule)
    small, large = _LEAST_POWER, _MOST_POWER
    for _ in range(_HALVINGS):
        middle = (small * large) ** 0.5
        small, large = (middle, large) if mean_of(middle) > mean else (small, middle)
    first = round(begin * 3600 / STEP)
    last = first + max(1, ceil(days * DAY / STEP))
    shares = (
        tops[step] * (1 + (ratio - 1) * unit[step % len(unit)] ** small) / ratio for step in range(number)
    )
    return InferenceDemand(STEP, tuple(round(share * gpus) for share in shares)[first:last], gpus, source)
