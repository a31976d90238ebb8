"""Certificate: a file of prices of GPU time, which prove a lower bound on the mean job completion time."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gsopt.core.numbers.grid import floor_digits
from gsopt.core.problem import Frozen, Many, Name, RuleBroken, refuse_falls

Whole = Annotated[int, Field(ge=0, lt=2**256)]
Positive = Annotated[int, Field(ge=1, lt=2**256)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]

#: Largest number of parts, and of steps, of a training, so that a check takes minutes at most.
_MOST_PARTS, MOST_STEPS = 10_000, 1_000_000


class Surcharge(Frozen):
    """Surcharges on the prices of GPU-seconds, for individual jobs in consecutive cells.

    Attributes
    ----------
    begin, end
        Index of the first cell, and of the cell after the last one.
    jobs, prices
        The jobs, and the surcharge of each, in the unit of the certificate's `prices`. A job is given by the
        index, from 0, of its line among the sorted lines of jobs in `ProofData.digest`. The indices ascend.

    Examples
    --------
    >>> Surcharge(begin=0, end=2, jobs=[4, 7], prices=[1, 3]).prices
    (1, 3)
    """

    begin: Whole
    end: Whole
    jobs: Annotated[Many[Whole], Field(min_length=1)]
    prices: Many[Positive]

    @model_validator(mode="after")
    def _jobs_have_one_price_each(self) -> "Surcharge":
        refuse_falls("jobs[{}]", self.jobs)
        if len(self.prices) != len(self.jobs):
            rule = f"must be one for each of the {len(self.jobs)} jobs"
            raise RuleBroken("prices", f"{len(self.prices)} prices", rule)
        return self


class Certificate(Frozen):
    """Prices that prove a lower bound on the mean job completion time of every schedule of a scenario.

    Time is divided into cells, each with its own prices.

    Attributes
    ----------
    kind
        The quantity that is bounded, and the method of proof.
    jobs
        Number of jobs.
    digest
        SHA-256 of the data on which the proof depends (`ProofData.digest`).
    ticks
        Number of ticks per second. All times are integer numbers of ticks; those of adaptive jobs are rounded
        down.
    edges
        Start times of the cells, in ticks after the first release date. The last cell has no end.
    unit
        The integer in `prices` that represents a price of 1: one second of completion time per GPU-second.
    prices
        Prices of a GPU-second in each cell except the last, in which GPUs cost nothing.
    total_jct
        Lower bound on the sum of job completion times, in seconds, written as a fraction.
    round_length
        Seconds between decisions if the bound holds only for schedules in rounds; otherwise None.
    type_prices
        Surcharges on `prices` for GPUs of a type on which adaptive jobs may run, keyed by type.
    parts, steps
        Numbers of parts of each epoch, and of time steps in each cell except the last. There is one entry for
        each group of adaptive jobs that differ only in their release dates.
    surcharges
        Surcharges for rigid jobs that do not all fit on the cluster together.

    Examples
    --------
    >>> free = {"kind": "mean JCT by prices of GPU time", "ticks": 1, "edges": [0], "unit": 1, "prices": []}
    >>> Certificate(**free, jobs=2, digest=64 * "0", total_jct="7/2").mean_jct
    1.75
    """

    kind: Literal["mean JCT by prices of GPU time"]
    jobs: Positive
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    ticks: Positive
    edges: Annotated[Many[Whole], Field(min_length=1, max_length=100_000)]
    unit: Positive
    prices: Many[Whole]
    total_jct: Annotated[str, Field(pattern=r"^-?[0-9]{1,400}(/[1-9][0-9]{0,399})?$")]
    round_length: Annotated[float, Field(gt=0, le=1e9)] | None = None
    type_prices: Mapping[Name, Many[Whole]] = Field(default_factory=dict)
    parts: Many[Many[Number]] = ()
    steps: Many[Many[Number]] = ()
    surcharges: Many[Surcharge] = ()

    @model_validator(mode="after")
    def _cells_follow_each_other(self) -> "Certificate":
        if self.edges[0] != 0:
            raise RuleBroken("edges[0]", self.edges[0], "must be 0")
        refuse_falls("edges[{}]", self.edges)
        rows = {
            "prices": self.prices,
            **{f"type_prices[{name!r}]": row for name, row in self.type_prices.items()},
        }
        for field, row in rows.items():
            if len(row) != len(self.edges) - 1:
                rule = f"must be one for each of the {len(self.edges) - 1} cells that end"
                raise RuleBroken(field, f"{len(row)} prices", rule)
        for index, each in enumerate(self.surcharges):
            if not each.begin < each.end <= len(self.prices):
                rule = f"must be above {each.begin}, and at most the {len(self.prices)} cells that end"
                raise RuleBroken(f"surcharges[{index}].end", each.end, rule)
        return self

    @model_validator(mode="after")
    def _check_takes_minutes(self) -> "Certificate":
        for field, most in (("parts", _MOST_PARTS), ("steps", MOST_STEPS)):
            for index, row in enumerate(getattr(self, field)):
                if sum(row) > most:
                    raise RuleBroken(f"{field}[{index}]", f"{sum(row)} {field}", f"must be at most {most:,}")
        return self

    @property
    def mean_jct(self) -> float:
        """Lower bound on the mean job completion time in seconds, rounded down to nine significant digits."""
        return _mean(self.total_jct, self.jobs)


@dataclass(frozen=True)
class Proof:
    """The statement that a certificate proves.

    Attributes
    ----------
    jobs, gpus, changes
        Number of jobs, largest number of available GPUs, and how often the number of available GPUs changes.
    total_jct
        Lower bound on the sum of job completion times, in seconds.
    round_length
        Seconds between decisions if only schedules in rounds are meant; None if all schedules are.

    Examples
    --------
    >>> print(Proof(jobs=1000, gpus=64, changes=0, total_jct=Fraction(2_000_000, 3)))
    no schedule of these 1,000 jobs on 64 GPUs has a mean JCT below 666.666666 s
    """

    jobs: int
    gpus: int
    changes: int
    total_jct: Fraction
    round_length: float | None = None

    @property
    def mean_jct(self) -> float:
        """Lower bound on the mean job completion time in seconds, rounded down to nine significant digits."""
        return _mean(self.total_jct, self.jobs)

    def __str__(self) -> str:
        jobs = f"these {self.jobs:,} jobs" if self.jobs > 1 else "this job"
        gpus = f"{'at most ' if self.changes else ''}{self.gpus:,} GPU{'s' if self.gpus > 1 else ''}"
        rounds = "" if self.round_length is None else f" that decides every {self.round_length:g} s"
        return f"no schedule of {jobs} on {gpus}{rounds} has a mean JCT below {self.mean_jct:,} s"


def _mean(total: Fraction | str, jobs: int) -> float:
    return float(floor_digits(Fraction(total) / jobs, 9))
