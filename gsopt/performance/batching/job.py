"""Job: the training speed of a job, its remaining work, and the limits on its batch size."""

from fractions import Fraction
from random import Random
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.grid import Exact, decimal, whole
from gsopt.core.problem import Frozen, Gpus, Name, RuleBroken
from gsopt.performance.batching.throughput import BatchSize, Throughput
from gsopt.scenario.job import LEAST

#: How remaining samples are estimated from a distribution: by their mean, or by their number at mean progress.
Estimate = Literal["mean", "mean_progress"]

#: Number of samples over all epochs of a job.
Samples = Annotated[float, Field(ge=0, le=1e15)]

#: Parameter of a Beta distribution; at least 1 in ONES.
_Shape = Annotated[float, Field(ge=1, le=1e9)]


class Progress(Frozen):
    """A Beta distribution of a job's progress rho, the fraction of its samples that have been processed.

    If Y samples have been processed, Y (1 / rho - 1) samples remain. The mean of this number is Y beta / (alpha
    - 1), which is infinite for alpha = 1, as for a job in its first epoch. At the mean of rho, Y beta / alpha
    samples remain, which is always finite.

    Source: ONES, Equations 6 and 7. `processed` must be positive, because according to Equation 7, a job that
    has processed no samples would have none left. For such a job, set `processed` to alpha times the number
    of samples in an epoch.

    Examples
    --------
    >>> progress = Progress(alpha=3, beta=6, processed=30_000)
    >>> progress.left(), progress.left("mean_progress"), round(progress.draw(Random(1)))
    (90000, 60000, 196622)
    """

    alpha: _Shape
    beta: _Shape
    processed: Annotated[float, Field(ge=LEAST, le=1e15)]

    def left(self, estimate: Estimate = "mean") -> Exact:
        """Return an estimate of the number of remaining samples, without rounding.

        The estimate ``"mean"`` is the mean of this number, and ``"mean_progress"`` is the number that remains
        at the mean of rho. ``"mean"`` raises `InvalidInput` for alpha = 1, because the mean is infinite.
        """
        if estimate == "mean" and self.alpha == 1:
            rule = "must be above 1, as the mean is infinite otherwise, or estimate must be mean_progress"
            raise InvalidInput("alpha", shorten(self.alpha), rule)
        shape = decimal(self.alpha) - (1 if estimate == "mean" else 0)
        return whole(Fraction(decimal(self.processed)) * decimal(self.beta) / shape)

    def draw(self, random: Random) -> float:
        """Draw a number of remaining samples from the distribution (ONES, Algorithm 1, line 2)."""
        progress = 0.0
        while not 0 < progress < 1:  # it may be rounded to an end
            progress = random.betavariate(self.alpha, self.beta)
        return self.processed * (1 / progress - 1)


class BatchingJob(Frozen):
    """A job whose batch size and number of GPUs are to be decided.

    Attributes
    ----------
    batch_limit
        Largest batch size R, in total over all GPUs. This limit grows and shrinks during training.
    local_limit
        Largest batch size on one GPU, given its memory.
    throughput
        Samples per second, by batch size and number of GPUs.
    remaining
        Number of samples that remain to be processed; None if `progress` is given.
    progress
        Distribution of the progress; None if `remaining` is given.
    min_gpus
        Smallest number of GPUs on which the job may run.
    weight
        Priority of the job, as used by `gsopt.problems.batching.Batching`.
    new
        Whether the job has just arrived and has not run yet.
    previous_gpus, previous_batch
        Current number of GPUs (0 if the job waits), and current batch size (None to ignore it).

    Examples
    --------
    >>> from gsopt.performance.batching import StepTime
    >>> model = StepTime(fixed=0.05, per_sample=0.001)
    >>> job = BatchingJob(name="a", batch_limit=600, local_limit=256, throughput=model, remaining=1e6)
    >>> job.largest(1), job.largest(3), job.left()
    (256, 600, 1000000)
    """

    name: Name
    batch_limit: BatchSize
    local_limit: BatchSize
    throughput: Throughput
    remaining: Samples | None = None
    progress: Progress | None = None
    min_gpus: Gpus = 1
    weight: Annotated[float, Field(ge=LEAST, le=1e9)] = 1.0
    new: bool = False
    previous_gpus: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    previous_batch: BatchSize | None = None

    @model_validator(mode="after")
    def _what_is_left_is_given_once(self) -> "BatchingJob":
        if self.remaining is None and self.progress is None:
            raise RuleBroken("remaining", None, "must be given, or progress")
        if self.remaining is not None and self.progress is not None:
            raise RuleBroken("remaining", self.remaining, "must not be given together with progress")
        return self

    @model_validator(mode="after")
    def _what_is_left_can_be_counted(self) -> "BatchingJob":
        if self.remaining is not None and 0 < self.remaining < LEAST:
            raise RuleBroken("remaining", self.remaining, f"must be 0, or at least {LEAST:g}")
        return self

    @model_validator(mode="after")
    def _new_jobs_have_not_run(self) -> "BatchingJob":
        if self.new and self.previous_gpus:
            raise RuleBroken("previous_gpus", self.previous_gpus, "must be 0 for a new job")
        if self.previous_batch is not None and not self.previous_gpus:
            raise RuleBroken("previous_batch", self.previous_batch, "must not be given for a job that waited")
        return self

    @model_validator(mode="after")
    def _every_gpu_had_samples(self) -> "BatchingJob":
        if self.previous_batch is not None and self.previous_batch < self.previous_gpus:
            rule = f"must be at least the {self.previous_gpus} GPUs"
            raise RuleBroken("previous_batch", self.previous_batch, rule)
        return self

    def left(self, estimate: Estimate = "mean") -> Exact:
        """Return the given or estimated number of remaining samples, without rounding."""
        if self.progress is not None:
            return self.progress.left(estimate)
        return decimal(self.remaining or 0)

    def largest(self, gpus: int) -> int:
        """Return the largest batch size within `batch_limit` and `local_limit` on `gpus` GPUs."""
        return min(self.batch_limit, gpus * self.local_limit)

    def allows(self, batch_size: int, gpus: int) -> bool:
        """Check whether limits and throughput allow a batch size, with at least one sample on every GPU."""
        return gpus <= batch_size <= self.largest(gpus) and self.throughput.knows(batch_size, gpus)

    def fastest(self, gpus: int) -> int | None:
        """Return the batch size with the highest throughput on `gpus` GPUs; None if no batch size is possible.

        Only batch sizes within the limits are considered. If several have the same throughput, the largest one
        is returned.
        """
        return self.throughput.fastest(gpus, self.largest(gpus)) if gpus > 0 else None

    def runs_on(self, gpus: int) -> bool:
        """Check whether any batch size is possible on the given number of GPUs, regardless of `min_gpus`."""
        return gpus > 0 and self.throughput.offers(gpus, self.largest(gpus))

    def changes(self, batch_size: int, gpus: int) -> bool:
        """Check whether a decision starts or stops the job, or changes its number of GPUs or its batch size."""
        if gpus != self.previous_gpus:
            return True
        return gpus > 0 and self.previous_batch not in (None, batch_size)
