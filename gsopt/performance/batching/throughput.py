"""Throughput: the samples per second that a job processes, by batch size and number of GPUs."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from pydantic import Discriminator, Field, Tag, model_validator

from gsopt.core.errors import InvalidInput, require
from gsopt.core.numbers.grid import Exact, decimal, whole
from gsopt.core.problem import Frozen, Gpus, Many, RuleBroken
from gsopt.performance.communication.wire import Wire
from gsopt.scenario.job import LEAST

#: Number of samples in a batch, over all GPUs of a job.
BatchSize = Annotated[int, Field(ge=1, le=1_000_000_000)]

#: Largest duration of a part of a step, in seconds.
_LONGEST = 1e9

#: Duration of a part of a step, in seconds.
_Part = Annotated[float, Field(ge=0, le=_LONGEST)]


class StepTime(Frozen):
    """The duration of a training step: a fixed part, a part per local sample, and a ring all-reduce.

    A step with a batch of B samples on c GPUs takes ``fixed + per_sample * b + 2 (c - 1) (h l + M / (c w))``
    seconds, for M bytes of gradients, wires of w bytes per second, and h hops of l seconds each to the next
    GPU. The batch is split among the GPUs as evenly as possible, and the largest local batch has b = ceil(B /
    c) samples. A single GPU does not communicate. Floats are read as decimals (0.1 is exactly 1/10), so that
    all results are exact fractions.

    The model is gsopt's own, whereas ONES measures throughput (section 3.2.1, Equation 5). The all-reduce is
    `gsopt.performance.communication.flat_ring`, and it does not overlap with computation.

    Attributes
    ----------
    fixed
        Part of the duration of a step, in seconds, that does not depend on the batch size.
    per_sample
        Additional seconds per sample of a local batch.
    message
        Size of the gradients on every GPU, in bytes.
    wire
        Wires between the GPUs, all of one tier; None if communication takes no time.

    Examples
    --------
    >>> model = StepTime(fixed=0.02, per_sample=0.001, message=1e8, wire=Wire(bandwidth=1e10, wiring="ring"))
    >>> float(model.seconds(65, 1)), float(model.seconds(65, 2))
    (0.085, 0.063)
    >>> float(model.on(Wire(bandwidth=1e9, wiring="ring")).seconds(65, 2))
    0.153
    """

    fixed: _Part
    per_sample: _Part
    message: Annotated[float, Field(ge=0, le=1e15)] = 0.0
    wire: Wire | None = None

    @model_validator(mode="after")
    def _takes_time(self) -> "StepTime":
        if self.fixed < LEAST and self.per_sample < LEAST:
            rule = f"must be at least {LEAST:g} where fixed is less"
            raise RuleBroken("per_sample", self.per_sample, rule)
        return self

    @model_validator(mode="after")
    def _gradients_arrive(self) -> "StepTime":
        if self.wire is not None and self.message > self.wire.bandwidth * _LONGEST:
            rule = f"must carry the {self.message:g} bytes of the message in at most {_LONGEST:g} seconds"
            raise RuleBroken("wire.bandwidth", self.wire.bandwidth, rule)
        return self

    def seconds(self, batch_size: int, gpus: int) -> Exact:
        """Return the duration of a step in seconds.

        Raise `InvalidInput` unless there is at least one GPU, and at least one sample per GPU.
        """
        if not 1 <= gpus <= batch_size:
            require(gpus >= 1, "gpus", gpus, "must be at least 1")
            require(False, "batch_size", batch_size, f"must be at least the {gpus} GPUs")
        local = -(-batch_size // gpus)
        return whole(decimal(self.fixed) + decimal(self.per_sample) * local + self.communication(gpus))

    def communication(self, gpus: int) -> Exact:
        """Return the duration of the all-reduce on the given number of GPUs, in seconds.

        Examples
        --------
        >>> ring = Wire(bandwidth=1e9, latency=0.5, wiring="ring")
        >>> StepTime(fixed=1, per_sample=0, message=8e9, wire=ring).communication(4)
        15
        """
        if self.wire is None or gpus == 1:
            return 0
        sent = Fraction(decimal(self.message)) / (gpus * decimal(self.wire.bandwidth))
        return whole(2 * (gpus - 1) * (self.wire.hops(gpus) * decimal(self.wire.latency) + sent))

    def samples_per_second(self, batch_size: int, gpus: int) -> Exact:
        """Return the throughput in samples per second.

        Raise `InvalidInput` unless there is at least one GPU, and at least one sample per GPU.
        """
        return whole(Fraction(batch_size) / self.seconds(batch_size, gpus))

    def knows(self, batch_size: int, gpus: int) -> bool:
        """Check whether the batch size is possible, that is, whether every GPU has at least one sample."""
        return 1 <= gpus <= batch_size

    def fastest(self, gpus: int, most: int) -> int | None:
        """Return the batch size of at most `most` samples with the highest throughput; None if none fits.

        This is either the largest batch size, or the largest one that can be split into equal local batches. If
        the fixed part is small, additional samples on only some GPUs may lengthen the step by more than they
        are worth. If both batch sizes have the same throughput, the larger one is returned.

        Examples
        --------
        >>> StepTime(fixed=0, per_sample=1).fastest(4, 7), StepTime(fixed=9, per_sample=1).fastest(4, 7)
        (4, 7)
        """
        if most < gpus:
            return None
        if most % gpus == 0:
            return most
        return max((most, most - most % gpus), key=lambda size: self.samples_per_second(size, gpus))

    def offers(self, gpus: int, most: int) -> bool:
        """Check whether there is a batch of at most `most` samples, with at least one on each GPU."""
        return most >= gpus

    def on(self, wire: Wire | None) -> "StepTime":
        """Return the same model with other wires, such as those of another tier."""
        return StepTime(fixed=self.fixed, per_sample=self.per_sample, message=self.message, wire=wire)


class Rate(Frozen):
    """A throughput that was measured at one batch size and one GPU count.

    Examples
    --------
    >>> Rate(batch_size=64, gpus=2, samples_per_second=410.5).gpus
    2
    """

    batch_size: BatchSize
    gpus: Gpus
    samples_per_second: Annotated[float, Field(ge=LEAST, le=1e15)]


class Tabulated(Frozen):
    """Measured throughputs. There is no interpolation, so a job can run only in measured configurations.

    Examples
    --------
    >>> table = Tabulated(rates=[Rate(batch_size=64, gpus=1, samples_per_second=250.5)])
    >>> table.samples_per_second(64, 1), table.knows(64, 2)
    (Fraction(501, 2), False)
    """

    rates: Many[Rate]

    @model_validator(mode="after")
    def _are_measured_once(self) -> "Tabulated":
        seen: set[tuple[int, int]] = set()
        for index, rate in enumerate(self.rates):
            if (rate.batch_size, rate.gpus) in seen:
                value = f"{rate.batch_size} samples on {rate.gpus} GPUs"
                raise RuleBroken(f"rates[{index}]", value, "must be given once")
            seen.add((rate.batch_size, rate.gpus))
        return self

    @model_validator(mode="after")
    def _gpus_have_samples(self) -> "Tabulated":
        for index, rate in enumerate(self.rates):
            if rate.batch_size < rate.gpus:
                rule = f"must be at least the {rate.gpus} GPUs"
                raise RuleBroken(f"rates[{index}].batch_size", rate.batch_size, rule)
        return self

    @cached_property
    def _table(self) -> dict[tuple[int, int], Exact]:
        return {(rate.batch_size, rate.gpus): decimal(rate.samples_per_second) for rate in self.rates}

    @cached_property
    def _sizes(self) -> dict[int, list[int]]:
        sizes: dict[int, list[int]] = {}
        for rate in self.rates:
            sizes.setdefault(rate.gpus, []).append(rate.batch_size)
        return sizes

    def samples_per_second(self, batch_size: int, gpus: int) -> Exact:
        """Return the measured throughput in samples per second, or raise `InvalidInput` if there is none."""
        if (batch_size, gpus) not in self._table:
            value = f"{batch_size} samples on {gpus} GPUs"
            raise InvalidInput("batch_size", value, "must be one of the measured pairs")
        return self._table[batch_size, gpus]

    def knows(self, batch_size: int, gpus: int) -> bool:
        """Check whether the throughput was measured at this batch size on this number of GPUs."""
        return (batch_size, gpus) in self._table

    def fastest(self, gpus: int, most: int) -> int | None:
        """Return the fastest measured batch size of at most `most` samples; None if there is none.

        If several batch sizes have the same throughput, the largest one is returned. Unlike in
        `StepTime`, any measured batch size may be the fastest.

        Examples
        --------
        >>> slow = [(64, 250.0), (128, 240.0)]
        >>> rates = [Rate(batch_size=size, gpus=1, samples_per_second=rate) for size, rate in slow]
        >>> Tabulated(rates=rates).fastest(1, 500), Tabulated(rates=rates).fastest(1, 50)
        (64, None)
        """
        return max(self._measured(gpus, most), key=lambda size: (self._table[size, gpus], size), default=None)

    def offers(self, gpus: int, most: int) -> bool:
        """Check whether any batch size of at most `most` samples was measured on the given number of GPUs."""
        return any(True for _ in self._measured(gpus, most))

    def _measured(self, gpus: int, most: int) -> Iterator[int]:
        return (size for size in self._sizes.get(gpus, ()) if size <= most)


def _kind(given: object) -> str:
    """Distinguish a table from a model by a field that models do not have."""
    is_table = "rates" in given if isinstance(given, dict) else isinstance(given, Tabulated)
    return "table" if is_table else "model"


#: A model or a table. Files need not state which it is, and error messages refer to the intended one.
Throughput = Annotated[
    Annotated[StepTime, Tag("model")] | Annotated[Tabulated, Tag("table")], Discriminator(_kind)
]
