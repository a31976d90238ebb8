"""Figures: the measures of a schedule, each with a label, a unit and a computation.

The judge fills a `Record` from the segments, and the simulator fills one from its ledger. All figures are
computed here, and comparisons, studies and plots show the figures listed in `FIGURES`. To add a figure, add a
property to the record and an entry to that list.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, fsum
from statistics import median
from typing import Any, Self

from gsopt.core.numbers.clock import Clock
from gsopt.core.numbers.tolerances import CONTINUOUS
from gsopt.core.problem import Sense
from gsopt.core.result import plain, refuse_contradiction, relative_gap


class FigureKind(StrEnum):
    """The kind of quantity that a figure measures, which determines how its values are formatted."""

    SECONDS = "seconds"
    SHARE = "share"  # a fraction, written in per cent
    RATIO = "ratio"  # a quotient without a unit
    COUNT = "count"


@dataclass(frozen=True)
class Figure:
    """The description of a figure: its key, label, kind and unit, and whether it is shown by default."""

    key: str  # name of the property of `Record`, of the column in a study and of the field in JSON
    label: str  # name in tables and on axes; unique
    kind: FigureKind
    unit: str = ""  # empty for shares, ratios and counts of what the label says
    # Rank among the figures shown by default: a narrow table leaves out the highest ranks first, but never rank
    # 1. Figures with rank 0 are shown only on request.
    rank: int = 0

    @property
    def title(self) -> str:
        """The label, followed by the unit (if there is one) in brackets, as on a plot axis."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


#: All figures of a schedule, in the order in which tables show them.
FIGURES = (
    Figure("jobs", "jobs", FigureKind.COUNT),
    Figure("completed", "completed", FigureKind.COUNT),
    Figure("mean_jct", "mean JCT", FigureKind.SECONDS, "s", rank=1),
    Figure("median_jct", "median JCT", FigureKind.SECONDS, "s"),
    Figure("p95_jct", "p95 JCT", FigureKind.SECONDS, "s"),
    Figure("p99_jct", "p99 JCT", FigureKind.SECONDS, "s", rank=2),
    Figure("makespan", "makespan", FigureKind.SECONDS, "s", rank=5),
    Figure("mean_queueing", "mean queueing", FigureKind.SECONDS, "s"),
    Figure("median_queueing", "median queueing", FigureKind.SECONDS, "s"),
    Figure("p95_queueing", "p95 queueing", FigureKind.SECONDS, "s"),
    Figure("p99_queueing", "p99 queueing", FigureKind.SECONDS, "s"),
    Figure("mean_execution", "mean execution", FigureKind.SECONDS, "s"),
    Figure("mean_jct_small", "mean JCT, small jobs", FigureKind.SECONDS, "s"),
    Figure("mean_jct_large", "mean JCT, large jobs", FigureKind.SECONDS, "s"),
    Figure("mean_jct_highest", "mean JCT, highest priority", FigureKind.SECONDS, "s"),
    Figure("mean_jct_others", "mean JCT, other priorities", FigureKind.SECONDS, "s"),
    Figure("mean_queueing_small", "mean queueing, small jobs", FigureKind.SECONDS, "s"),
    Figure("mean_queueing_large", "mean queueing, large jobs", FigureKind.SECONDS, "s"),
    Figure("mean_communication", "mean communication", FigureKind.SECONDS, "s"),
    Figure("mean_epochs", "mean epochs", FigureKind.RATIO),
    Figure("mean_slowdown", "mean bounded slowdown", FigureKind.RATIO),
    Figure("deadlines_kept", "deadlines kept", FigureKind.SHARE),
    Figure("utilisation", "GPUs in use", FigureKind.SHARE, rank=3),
    Figure("sharing", "GPU time shared", FigureKind.SHARE),
    Figure("unfair_fraction", "unfair jobs", FigureKind.SHARE, rank=3),
    Figure("worst_fairness", "worst fairness", FigureKind.RATIO, rank=6),
    Figure("gps_unfair_fraction", "unfair jobs (GPS)", FigureKind.SHARE),
    Figure("gps_worst_fairness", "worst fairness (GPS)", FigureKind.RATIO),
    Figure("preemptions", "preemptions", FigureKind.COUNT),
    Figure("preemptions_per_job", "preemptions per job", FigureKind.RATIO, rank=4),
    Figure("resizes", "resizes", FigureKind.COUNT),
    Figure("gpu_hours", "GPU time", FigureKind.COUNT, "h"),
    Figure("lost_gpu_hours", "lost GPU time", FigureKind.COUNT, "h"),
    Figure("lower_bound", "bound on mean JCT", FigureKind.SECONDS, "s", rank=7),
    Figure("gap", "gap", FigureKind.SHARE, rank=1),
)


#: Largest number of GPUs of a small job; jobs with more GPUs are large. Source: Castor, section 9.4.
SMALL = 8

#: Minimum duration in a bounded slowdown, in seconds. Shorter jobs count as this long, so that they do not
#: dominate the mean.
_SHORTEST = 10


def _mean(values: Sequence[Any]) -> Any:
    if not values:
        return None
    if all(isinstance(value, Fraction) for value in values):
        return sum(values) / len(values)
    return fsum(values) / len(values)


def _median(values: Sequence[Any]) -> Any:
    return median(values) if values else None


def percentile(values: Sequence[Any], percent: float) -> Any:
    """Return the smallest value that at least `percent` % of the values do not exceed (nearest rank).

    `percent` is from 0 to 100. The result is None if there are no values.
    """
    return sorted(values)[max(ceil(len(values) * percent / 100) - 1, 0)] if values else None


def _of(name: str, figure: Callable[[Sequence[Any]], Any]) -> property:
    """Return a property of a record that computes a figure from the values of another property."""
    return property(lambda record: figure(getattr(record, name)))


def _summary(name: str) -> tuple[property, property, property, property]:
    """Return properties for the mean, the median, and the 95th and 99th percentiles of a property's values."""
    p95, p99 = (_of(name, partial(percentile, percent=percent)) for percent in (95, 99))
    return _of(name, _mean), _of(name, _median), p95, p99


def _means_by_size(name: str) -> tuple[property, property]:
    """Return properties for the means over the small and over the large jobs, each None if there are none."""

    def mean(*, large: bool) -> property:
        def of(record: Any) -> Any:
            if not record.demands:
                return None
            pairs = zip(getattr(record, name), record.done, strict=True)
            return _mean([value for value, job in pairs if (record.demands[job] > SMALL) is large])

        return property(of)

    return mean(large=False), mean(large=True)


def _mean_jct(*, highest: bool) -> property:
    """Return a property for the mean JCT of the jobs with the highest priority, or of all other jobs.

    The mean is None if all jobs have the same priority.
    """

    def of(record: Any) -> Any:
        top = max(record.priorities, default=0)
        if top == min(record.priorities, default=0):
            return None
        pairs = zip(record.jct, record.done, strict=True)
        return _mean([span for span, job in pairs if (record.priorities[job] == top) is highest])

    return property(of)


def _unfairness(name: str) -> tuple[property, property]:
    """Return properties for the fraction of jobs with a fairness ratio above 1, and for the largest ratio."""

    def share(ratios: Sequence[Any]) -> float | None:
        return sum(ratio > 1 for ratio in ratios) / len(ratios) if ratios else None

    return _of(name, share), _of(name, partial(max, default=None))


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record of what ran, and the figures computed from it. Times are in seconds.

    Means and percentiles cover only completed jobs, and are None if no job completes.
    """

    policy: str = ""  # name of what made the schedule; empty if unknown
    # For every job, in order of number; the completion time is None if the job does not complete.
    release_dates: tuple[Any, ...]
    durations: tuple[Any, ...]
    completion_times: tuple[Any, ...]
    # For every completed job, in order of number, like communication and epochs: seconds without GPUs since the
    # release, and the job completion time divided by that under the fair share, with and without a cap at what
    # each job can use. The ratio is 1 if rounding explains the difference.
    queueing: tuple[Any, ...]
    fairness: tuple[Any, ...]
    gps_fairness: tuple[Any, ...]
    gpu_seconds: Any  # GPU time in use; a shared GPU counts once
    used: Any  # GPU time in use from the first release date to the last completion
    there: Any  # GPU time available in that span
    preemptions: int  # how often a job lost its GPUs before its completion
    resizes: int  # how often a job continued without a pause on another number of GPUs
    # A clock that begins no later than the first job, and the completion times on this clock, where they keep
    # all their digits. If there are none, `completion_times` are used.
    clock: Clock = field(default_factory=Clock)
    ends: tuple[Any, ...] = ()
    communication: tuple[Any, ...] = ()  # seconds in which the GPUs wait for the network; empty if not counted
    epochs: tuple[Any, ...] = ()  # passes over the data set, of the jobs with a training
    demands: tuple[int, ...] = ()  # GPUs that every job demands, by number; empty if unknown
    deadlines: tuple[float | None, ...] = ()  # of every job by number; empty if unknown
    priorities: tuple[int, ...] = ()  # of every job by number; empty if unknown
    shared_gpu_seconds: Any = 0  # the part of `gpu_seconds` in which several jobs hold a GPU
    lost_gpu_seconds: Any = 0  # work that jobs lose, times the GPUs that they demand
    bound: Any = None  # proven bound on the mean job completion time; None unless all jobs completed
    proof: str = ""  # what proves the bound, in one word

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain JSON types, keyed by `Figure.key`."""
        return {each.key: plain(getattr(self, each.key)) for each in FIGURES}

    def held_against(self, bound: Any, resolution: float, *, proof: str = "") -> Self:
        """Return a copy of the record that contains a proven bound on the mean job completion time.

        A bound that exceeds the mean by at most `resolution` is lowered to the mean. Raise `Contradiction` if
        it exceeds the mean by more. Unless all jobs completed, the bound is ignored.
        """
        if bound is None or self.mean_jct is None or self.completed < self.jobs:
            return self
        who = self.policy or "the schedule"
        refuse_contradiction(
            Sense.MINIMIZE, who, self.mean_jct, "the lower bound", bound, resolution=resolution
        )
        return replace(self, bound=min(bound, self.mean_jct), proof=proof)

    @property
    def done(self) -> list[int]:
        """The indices of the completed jobs."""
        return [job for job, time in enumerate(self.completion_times) if time is not None]

    @cached_property
    def jct(self) -> tuple[Any, ...]:
        """The job completion times (completion minus release date) of the completed jobs, in job order."""
        pairs = zip(self._ends, self.release_dates, strict=True)
        return tuple(end - type(end)(self.clock.since(date)) for end, date in pairs if end is not None)

    @property
    def _ends(self) -> tuple[Any, ...]:
        return self.ends or self.completion_times

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return len(self.completion_times)

    @property
    def completed(self) -> int:
        """Number of completed jobs."""
        return len(self.jct)

    mean_jct, median_jct, p95_jct, p99_jct = _summary("jct")
    mean_jct_small, mean_jct_large = _means_by_size("jct")
    mean_jct_highest, mean_jct_others = _mean_jct(highest=True), _mean_jct(highest=False)

    @property
    def makespan(self) -> Any:
        """The seconds from the first release date to the last completion; None if no job completes."""
        last = max((end for end in self._ends if end is not None), default=None)
        return None if last is None else last - type(last)(self.clock.since(self.release_dates[0]))

    mean_queueing, median_queueing, p95_queueing, p99_queueing = _summary("queueing")
    mean_queueing_small, mean_queueing_large = _means_by_size("queueing")

    @property
    def mean_execution(self) -> Any:
        """The mean time for which a job holds GPUs, in seconds."""
        return _mean([span - waited for span, waited in zip(self.jct, self.queueing, strict=True)])

    @property
    def mean_communication(self) -> Any:
        """The mean time in seconds for which a job's GPUs wait for the network, given their tier's penalty."""
        return _mean(self.communication)

    @property
    def mean_epochs(self) -> Any:
        """Mean number of passes over the data set, for jobs with a `training`; None if there are none."""
        return _mean(self.epochs)

    @property
    def mean_slowdown(self) -> Any:
        """The mean bounded slowdown of the completed jobs.

        The slowdown of a job is its job completion time divided by its duration, where a duration below 10 s
        counts as 10 s and a quotient below 1 as 1. Source: Feitelson and Rudolph, "Metrics and benchmarking
        for parallel job scheduling", 1998.
        """
        lengths = (max(self.durations[job], _SHORTEST) for job in self.done)
        pairs = zip(self.jct, lengths, strict=True)
        return _mean([max(span / type(span)(length), type(span)(1)) for span, length in pairs])

    @property
    def deadlines_kept(self) -> float | None:
        """Fraction of the jobs with deadlines that complete in time, or None if no job has a deadline."""
        pairs = zip(self._ends, self.deadlines, strict=False)
        kept = [end is not None and end <= self.clock.since(due) for end, due in pairs if due is not None]
        return sum(kept) / len(kept) if kept else None

    @property
    def utilisation(self) -> Any:
        """GPU time in use divided by available GPU time, from the first release to the last completion.

        It is None if no job completes.
        """
        return self.used / self.there if self.there else None

    @property
    def sharing(self) -> Any:
        """Fraction of the GPU time in use during which jobs share the GPU; None if no GPU is ever in use."""
        return self.shared_gpu_seconds / self.gpu_seconds if self.gpu_seconds else None

    # Against the fair share capped at what each job can use, and against generalized processor sharing.
    unfair_fraction, worst_fairness = _unfairness("fairness")
    gps_unfair_fraction, gps_worst_fairness = _unfairness("gps_fairness")

    @property
    def preemptions_per_job(self) -> float | None:
        """Number of preemptions divided by the number of jobs, or None if no job completed."""
        return self.preemptions / self.jobs if self.jct else None

    @property
    def gpu_hours(self) -> Any:
        """GPU time in use, in GPU-hours."""
        return self.gpu_seconds / 3600

    @property
    def lost_gpu_hours(self) -> Any:
        """Work that jobs lose, multiplied by the number of GPUs that they demand, in GPU-hours."""
        return self.lost_gpu_seconds / 3600

    @property
    def lower_bound(self) -> Any:
        """Proven lower bound on the mean job completion time, in seconds, or None if there is none."""
        return self.bound

    @property
    def gap(self) -> float | None:
        """Relative gap between the mean job completion time and the bound, or None if there is no bound.

        It is 0 if rounding can explain it.
        """
        gap = relative_gap(self.mean_jct, self.lower_bound)
        return gap if gap is None or gap > CONTINUOUS else 0.0


def figure_of(key: str, others: Iterable[Figure] = ()) -> Figure | None:
    """Return the figure with the given key from `FIGURES` or `others`, or None if there is no such figure."""
    return next((each for each in (*FIGURES, *others) if each.key == key), None)


def title_of(key: str) -> str:
    """Return the title (label and unit) of the figure with the given key, or an unknown key unchanged."""
    known = figure_of(key)
    return key if known is None else known.title
