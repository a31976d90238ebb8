"""Application: what was measured of one model on one type of GPU: the truth about its jobs."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import Frozen, Many, Name, RuleBroken
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.placement import Placement, Spread
from gsopt.scenario.adaptive.steps import StepTimes, Times, least_rotation
from gsopt.scenario.adaptive.validation import Validation


class Application(Frozen):
    """The measured truth about one model on one type of GPU.

    **Step times.** On a shape that was measured they are interpolated between the local batches measured there.
    A shape counts like each of its rotations, as the nodes form a ring. Any other shape is only its numbers of
    nodes and GPUs: its times are linear in these and the local batch, between the means of all placements with
    the same numbers and what was measured by numbers alone. More nodes than any measured count like the most.

    **Training.** What depends on the batch is interpolated between trainings with a smaller and a larger one.

    Source: Pollux (OSDI 2021), section 5.3.1, and the authors' simulator, which refuses what lies outside the
    measurements and takes 16 for the most nodes, as they are on its GPUs.

    Attributes
    ----------
    name
        Name of the model.
    placements
        Steps by placement.
    spread
        Steps by numbers of nodes and GPUs.
    validations
        Whole trainings, by batch.
    limits
        The batches that a job may have.
    epochs
        Epochs until a training is complete, whatever its batch.
    slowdown
        How many times slower real runs are than the measurements say.
    """

    name: Name
    placements: Annotated[Many[Placement], Field(min_length=1)]
    spread: Many[Spread] = ()
    validations: Annotated[Many[Validation], Field(min_length=1)]
    limits: Limits
    epochs: Annotated[int, Field(ge=1)]
    slowdown: Annotated[float, Field(ge=1, le=1e6)] = 1.0

    @field_validator("validations", mode="after")
    @classmethod
    def _batches_rise(cls, validations: tuple[Validation, ...]) -> tuple[Validation, ...]:
        for index in range(1, len(validations)):
            if validations[index].batch <= validations[index - 1].batch:
                raise RuleBroken(f"validations[{index}].batch", validations[index].batch, "must rise")
        return validations

    @field_validator("placements", mode="after")
    @classmethod
    def _shapes_differ(cls, placements: tuple[Placement, ...]) -> tuple[Placement, ...]:
        seen: set[tuple[int, ...]] = set()
        for index, placement in enumerate(placements):
            ring = least_rotation(placement.shape)
            if ring in seen:
                rule = "must differ from every other, and from its rotations"
                raise RuleBroken(f"placements[{index}].shape", list(placement.shape[:9]), rule)
            seen.add(ring)
        return placements

    @model_validator(mode="after")
    def _trainings_are_long_enough(self) -> "Application":
        shortest = min(len(each.epochs) for each in self.validations)
        if self.epochs > shortest:
            raise RuleBroken("epochs", self.epochs, f"must be at most the {shortest} of the shortest training")
        return self

    @model_validator(mode="after")
    def _limits_were_validated(self) -> "Application":
        least, most = self.validations[0].batch, self.validations[-1].batch
        for field in ("initial_batch", "most_batch"):
            value = getattr(self.limits, field)
            if not least <= value <= most:
                raise RuleBroken(f"limits.{field}", value, f"must be between {least} and {most}, as validated")
        return self

    # Step times

    def step_time(self, shape: Sequence[int], local_batch: int) -> Times | None:
        """Return the seconds of a step, and those of its exchange; None outside of what was measured.

        Parameters
        ----------
        shape
            GPUs on each node; nodes without any do not count.
        local_batch
            Samples of each GPU.
        """
        return self._steps.times(shape, [local_batch])[0]

    def step_times(self, shape: Sequence[int], local_batches: Sequence[int]) -> list[Times | None]:
        """Return what `step_time` gives, for several local batches."""
        return self._steps.times(shape, local_batches)

    def shapes(self, gpus: int, largest: int | None = None) -> list[tuple[int, ...]]:
        """Return placements of so many GPUs, one of each kind whose step times differ.

        Some may be placements on which nothing is known of any step.

        Parameters
        ----------
        gpus
            Number of GPUs.
        largest
            Most GPUs of a node on which nothing was measured; as many as in any measured placement when None.
        """
        return self._steps.shapes(gpus, largest)

    def most_local(self, shape: Sequence[int]) -> int:
        """Return the largest local batch measured on a shape, or on at least as many nodes and GPUs; 0 if none.

        It is what fits into the memory of the GPUs in Sia's simulator.
        """
        return self._steps.most_local(shape)

    @cached_property
    def _steps(self) -> StepTimes:
        return StepTimes(self.placements, self.spread)

    # Training

    @property
    def work(self) -> float:
        """Progress of a whole training."""
        return self.progress_at(self.epochs)

    def progress_at(self, epoch: int) -> float:
        """Return the progress when so many epochs are done: the least of all trainings."""
        return self._progress[epoch]

    @cached_property
    def _progress(self) -> tuple[float, ...]:
        ends = zip(*(each.epochs[: self.epochs] for each in self.validations), strict=True)
        return (0.0, *(min(epoch.progress for epoch in end) for end in ends))

    def completion_epoch(self, batch: int) -> int:
        """Return the last epoch of a training, counted from 0; it is the same for every batch.

        Raises
        ------
        InvalidInput
            The batch is smaller or larger than all that were validated.
        """
        self._around(batch)
        return self.epochs - 1

    def iterations(self, batch: int, epoch: int) -> float:
        """Return the iterations with a batch until the end of an epoch, counted from 0.

        Raises
        ------
        InvalidInput
            The batch is smaller or larger than all that were validated.
        """
        low, high = self._around(batch)
        return _weighing(low, high, batch)(low.epochs[epoch].iterations, high.epochs[epoch].iterations)

    def gradient(self, batch: int, epoch: int) -> Gradient:
        """Return the statistics of the gradients of a batch during an epoch, counted from 0.

        Raises
        ------
        InvalidInput
            The batch is smaller or larger than all that were validated.
        """
        low, high = self._around(batch)
        first, last = low.epochs[epoch], high.epochs[epoch]
        share = _weighing(low, high, batch)
        return Gradient(share(first.sqr, last.sqr), share(first.var, last.var))

    def gradients(self, batch: int) -> list[Gradient]:
        """Return what `gradient` gives, for every epoch."""
        low, high = self._around(batch)
        share, pairs = _weighing(low, high, batch), zip(low.epochs, high.epochs, strict=False)
        return [
            Gradient(share(first.sqr, last.sqr), share(first.var, last.var))
            for first, last in islice(pairs, self.epochs)
        ]

    def _around(self, batch: int) -> tuple[Validation, Validation]:
        """Return the trainings with the next smaller and the next larger batch; twice the one with an equal."""
        after = bisect_left(self._batches, batch)
        if after < len(self._batches) and self._batches[after] == batch:
            return self.validations[after], self.validations[after]
        if after in {0, len(self._batches)}:
            rule = f"must be between {self._batches[0]} and {self._batches[-1]}, as validated of {self.name}"
            raise InvalidInput("", "batch", shorten(batch), rule)
        return self.validations[after - 1], self.validations[after]

    @cached_property
    def _batches(self) -> tuple[int, ...]:
        return tuple(each.batch for each in self.validations)


def _weighing(low: Validation, high: Validation, batch: int) -> Callable[[float, float], float]:
    """Interpolate values of trainings with a smaller and a larger batch."""
    if low is high:
        return lambda least, _: least
    below, above, whole = batch - low.batch, high.batch - batch, high.batch - low.batch
    return lambda least, most: (below * most + above * least) / whole
