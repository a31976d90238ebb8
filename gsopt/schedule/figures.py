"""Figures: what a schedule is worth; each figure once, with its label, its unit and how it is computed.

The judge and the simulator each fill a `Record` of what ran, from the segments and from the simulator's own
books. What is computed from it is defined here only, and what is printed of it, in comparisons, studies and
plots, reads `FIGURES`. A new figure is a property of the record and a line of that table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import ceil, fsum
from statistics import median
from typing import Any, Self

from gsopt.core.numbers.clock import Clock
from gsopt.core.problem import Sense
from gsopt.core.result import plain, refuse_contradiction, relative_gap


class FigureKind(StrEnum):
    """What a figure's numbers are, and so how they are written."""

    SECONDS = "seconds"
    SHARE = "share"  # of 1, written in per cent
    RATIO = "ratio"  # to what would be normal
    COUNT = "count"


@dataclass(frozen=True)
class Figure:
    """A figure by name.

    Attributes
    ----------
    key
        Its name in data: the property of `Record`, the column of a study, the field of JSON.
    label
        Its name in tables and on axes; no two figures share one.
    kind
        What its numbers are.
    unit
        Their unit; empty for shares, ratios and counts of what the label says.
    rank
        Place among the figures that are shown where nobody asks for certain ones: a narrow table leaves out
        those of the highest rank first, and 1 never. One of rank 0 is shown when it is asked for.
    """

    key: str
    label: str
    kind: FigureKind
    unit: str = ""
    rank: int = 0

    @property
    def title(self) -> str:
        """The label and the unit, as on an axis."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


#: Every figure of a schedule, in the order of tables.
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
    Figure("lower_bound", "bound on mean JCT", FigureKind.SECONDS, "s", rank=7),
    Figure("gap", "gap", FigureKind.SHARE, rank=1),
)


#: The most GPUs that a small job demands; more make it a large one. Source: Castor, section 9.4.
SMALL = 8

#: Seconds as which a shorter duration counts in a slowdown, which moments would dominate otherwise.
_SHORTEST = 10


@dataclass(frozen=True, kw_only=True)
class Record:
    """What ran, as far as figures need it, and the figures. Times are in seconds.

    Means and the like are over the completed jobs, and None when there are none.

    Attributes
    ----------
    policy
        What made the schedule; empty when unknown.
    release_dates, durations
        Of every job by number.
    completion_times
        Of every job by number; None for a job that does not complete.
    clock, ends
        A clock that begins no later than the first job, and the completion times on it, where they have all
        their digits; those on the clock of the workload when empty.
    queueing
        Seconds between release and completion without GPUs, of the completed jobs by number.
    communication
        Seconds in which the GPUs of a job wait for its network tier, of the completed jobs by number; empty
        when nobody counted them.
    epochs
        Samples processed over those of the data set, of the completed jobs with a training by number.
    fairness
        Job completion time over that under the fair share capped at what each job can use (finish-time
        fairness), likewise; 1 when they differ by no more than rounding explains.
    gps_fairness
        The same against generalized processor sharing, which knows no caps.
    demands
        GPUs that every job demands, by number; empty when nobody told them.
    deadlines
        When the user of every job wants it complete, by number, None where that does not matter; empty when
        nobody told them.
    gpu_seconds
        GPU time in use, a shared GPU counted once.
    shared_gpu_seconds
        The part of it in which several jobs hold a GPU.
    used, there
        GPU time in use, and GPU time that is there, from the first release date to the last completion.
    preemptions
        How often a job lost its GPUs before its completion.
    resizes
        How often a job went on with another number of GPUs without a pause.
    bound
        Proven bound on the mean job completion time of every schedule; None unless all jobs completed.
    proof
        What proves the bound, in a word; empty without one.
    """

    policy: str = ""
    release_dates: tuple[Any, ...]
    durations: tuple[Any, ...]
    completion_times: tuple[Any, ...]
    queueing: tuple[Any, ...]
    fairness: tuple[Any, ...]
    gps_fairness: tuple[Any, ...]
    gpu_seconds: Any
    used: Any
    there: Any
    preemptions: int
    resizes: int
    clock: Clock = field(default_factory=Clock)
    ends: tuple[Any, ...] = ()
    communication: tuple[Any, ...] = ()
    epochs: tuple[Any, ...] = ()
    demands: tuple[int, ...] = ()
    deadlines: tuple[float | None, ...] = ()
    shared_gpu_seconds: Any = 0
    bound: Any = None
    proof: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return every figure by key, as plain JSON types."""
        return {each.key: plain(getattr(self, each.key)) for each in FIGURES}

    def held_against(self, bound: Any, resolution: float, *, proof: str = "") -> Self:
        """Return the record with a proven bound, which then exceeds the mean by no rounding either.

        Nothing is bound unless all jobs completed. `proof` says what proves it, in a word.

        Raises
        ------
        Contradiction
            The mean job completion time is below the bound, by more than a resolution.
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
        """Numbers of the completed jobs."""
        return [job for job, time in enumerate(self.completion_times) if time is not None]

    @cached_property
    def jct(self) -> tuple[Any, ...]:
        """Job completion times: completion minus release date, of the completed jobs by number."""
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

    @cached_property
    def mean_jct(self) -> Any:
        """Mean job completion time."""
        return _mean(self.jct)

    @property
    def median_jct(self) -> Any:
        """Median job completion time; the mean of the two in the middle where these are two."""
        return _median(self.jct)

    @property
    def p95_jct(self) -> Any:
        """Smallest job completion time that 95 % of the jobs do not exceed."""
        return percentile(self.jct, 95)

    @property
    def p99_jct(self) -> Any:
        """Smallest job completion time that 99 % of the jobs do not exceed."""
        return percentile(self.jct, 99)

    @property
    def makespan(self) -> Any:
        """From the first release date to the last completion."""
        last = max((end for end in self._ends if end is not None), default=None)
        return None if last is None else last - type(last)(self.clock.since(self.release_dates[0]))

    @property
    def mean_queueing(self) -> Any:
        """Mean time without GPUs."""
        return _mean(self.queueing)

    @property
    def median_queueing(self) -> Any:
        """Median time without GPUs; the mean of the two in the middle where these are two."""
        return _median(self.queueing)

    @property
    def p95_queueing(self) -> Any:
        """Smallest time without GPUs that 95 % of the jobs do not exceed."""
        return percentile(self.queueing, 95)

    @property
    def p99_queueing(self) -> Any:
        """Smallest time without GPUs that 99 % of the jobs do not exceed."""
        return percentile(self.queueing, 99)

    @property
    def mean_execution(self) -> Any:
        """Mean time with GPUs."""
        return _mean([span - waited for span, waited in zip(self.jct, self.queueing, strict=True)])

    @property
    def mean_jct_small(self) -> Any:
        """Mean job completion time of the jobs that demand at most `SMALL` GPUs; None without any."""
        return _mean(self._of_size(self.jct, large=False))

    @property
    def mean_jct_large(self) -> Any:
        """Mean job completion time of the jobs that demand more than `SMALL` GPUs; None without any."""
        return _mean(self._of_size(self.jct, large=True))

    @property
    def mean_queueing_small(self) -> Any:
        """Mean time without GPUs of the jobs that demand at most `SMALL` GPUs; None without any."""
        return _mean(self._of_size(self.queueing, large=False))

    @property
    def mean_queueing_large(self) -> Any:
        """Mean time without GPUs of the jobs that demand more than `SMALL` GPUs; None without any."""
        return _mean(self._of_size(self.queueing, large=True))

    def _of_size(self, values: Sequence[Any], *, large: bool) -> list[Any]:
        """Return the values, which are of the completed jobs, of those of a size."""
        if not self.demands:
            return []
        pairs = zip(values, self.done, strict=True)
        return [value for value, job in pairs if (self.demands[job] > SMALL) is large]

    @property
    def mean_communication(self) -> Any:
        """Mean time in which GPUs wait for the network: exposed communication, by the penalty of the tier."""
        return _mean(self.communication)

    @property
    def mean_epochs(self) -> Any:
        """Mean number of times that a job with a training has passed over its data set; None without any."""
        return _mean(self.epochs)

    @property
    def mean_slowdown(self) -> Any:
        """Mean bounded slowdown: job completion time over duration, which counts as 10 s where it is shorter.

        No job counts as less than 1, as one does that is sped up or is shorter than the bound. Source:
        Feitelson and Rudolph, "Metrics and benchmarking for parallel job scheduling", 1998.
        """
        lengths = (max(self.durations[job], _SHORTEST) for job in self.done)
        pairs = zip(self.jct, lengths, strict=True)
        return _mean([max(span / type(span)(length), type(span)(1)) for span, length in pairs])

    @property
    def deadlines_kept(self) -> float | None:
        """Share of the jobs with a deadline that are complete by then; None without any.

        What a scheduler admits because it plans to keep its deadline may complete too late all the same, by
        overheads that it does not plan.
        """
        pairs = zip(self._ends, self.deadlines, strict=False)
        kept = [end is not None and end <= self.clock.since(due) for end, due in pairs if due is not None]
        return sum(kept) / len(kept) if kept else None

    @property
    def utilisation(self) -> Any:
        """GPU time in use over GPU time that is there, until the last completion."""
        return self.used / self.there if self.there else None

    @property
    def sharing(self) -> Any:
        """GPU time in which several jobs hold a GPU over GPU time in use; None where none is."""
        return self.shared_gpu_seconds / self.gpu_seconds if self.gpu_seconds else None

    @property
    def unfair_fraction(self) -> float | None:
        """Share of the jobs that complete later than under the fair share."""
        return _share_above_one(self.fairness)

    @property
    def worst_fairness(self) -> Any:
        """Largest finish-time fairness ratio."""
        return max(self.fairness, default=None)

    @property
    def gps_unfair_fraction(self) -> float | None:
        """Share of the jobs that complete later than under generalized processor sharing."""
        return _share_above_one(self.gps_fairness)

    @property
    def gps_worst_fairness(self) -> Any:
        """Largest ratio of job completion times to those under generalized processor sharing."""
        return max(self.gps_fairness, default=None)

    @property
    def preemptions_per_job(self) -> float | None:
        """Preemptions over jobs; None when no job completed."""
        return self.preemptions / self.jobs if self.jct else None

    @property
    def gpu_hours(self) -> Any:
        """GPU time in use, in hours."""
        return self.gpu_seconds / 3600

    @property
    def lower_bound(self) -> Any:
        """The proven bound on the mean job completion time."""
        return self.bound

    @property
    def gap(self) -> float | None:
        """How much longer the mean job completion time is than the bound, relative to the bound."""
        return relative_gap(self.mean_jct, self.lower_bound)


def figure_of(key: str, others: Iterable[Figure] = ()) -> Figure | None:
    """Return a figure of a schedule, or of some others, by its key; None when there is none."""
    return next((each for each in (*FIGURES, *others) if each.key == key), None)


def title_of(key: str) -> str:
    """Name a measure for a reader: a figure by its label and unit, any other as it is."""
    known = figure_of(key)
    return key if known is None else known.title


def _mean(values: Sequence[Any]) -> Any:
    if not values:
        return None
    if all(isinstance(value, Fraction) for value in values):
        return sum(values) / len(values)
    return fsum(values) / len(values)


def _median(values: Sequence[Any]) -> Any:
    return median(values) if values else None


def percentile(values: Sequence[Any], percent: int) -> Any:
    """Return the smallest value that a percentage of the values do not exceed; None when there are none."""
    return sorted(values)[ceil(len(values) * percent / 100) - 1] if values else None


def _share_above_one(ratios: Sequence[Any]) -> float | None:
    return sum(ratio > 1 for ratio in ratios) / len(ratios) if ratios else None
