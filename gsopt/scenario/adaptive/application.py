"""Application: measurements of a model on one or more GPU types, which determine the true speed of its jobs."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import Field, field_validator, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import Frozen, Many, Name, RuleBroken, refuse_falls
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measured_type import MeasuredType, Placements
from gsopt.scenario.adaptive.measurements import Spread
from gsopt.scenario.adaptive.steps import StepTimes, Times
from gsopt.scenario.adaptive.validation import Validation

Array = np.ndarray[Any, Any]


class Application(Frozen):
    """The measurements of one model, which determine the true speed of its jobs.

    **Step times.** A shape lists a job's number of GPUs on each of its nodes. On a measured shape, step times
    are interpolated between the measured local batch sizes. All rotations of a shape are equivalent, because
    the nodes form a ring. For other shapes, only the numbers of nodes and GPUs matter. Their step times are
    interpolated linearly in these two numbers and the local batch size, based on the means over measured
    placements and on the measurements in `spread`. If there are more nodes than were measured, the largest
    measured number is used.

    **Training.** Quantities that depend on the batch size are interpolated between two measured training runs:
    those with the next smaller and the next larger batch size.

    **GPU types.** A model may have separate measurements on some GPU types (`gpu_types`). Its jobs then run on
    one type at a time, at the speed measured on that type; on any other type, `placements` apply. The
    training runs and the limits on the total batch size are the same on all types. Without `gpu_types`, all
    GPUs are alike.

    Source: Pollux (OSDI 2021), section 5.3.1, and the authors' simulator, which assumes at most 16 nodes and
    rejects anything beyond the measurements. For several GPU types: Sia (SOSP 2023) and its authors' simulator.
    """

    name: Name
    placements: Placements  # step times by placement
    spread: Many[Spread] = ()  # step times by numbers of nodes and GPUs
    validations: Annotated[Many[Validation], Field(min_length=1)]  # complete training runs, by batch
    limits: Limits  # the batches that a job may have
    epochs: Annotated[int, Field(ge=1)]  # number in a complete training run, with any batch size
    slowdown: Annotated[float, Field(ge=1, le=1e6)] = 1.0  # of real runs, relative to the measurements
    gpu_types: Mapping[Name, MeasuredType] = Field(default_factory=dict)  # measurements by GPU type

    @field_validator("validations", mode="after")
    @classmethod
    def _batches_rise(cls, validations: tuple[Validation, ...]) -> tuple[Validation, ...]:
        refuse_falls("validations[{}].batch", [each.batch for each in validations])
        return validations

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

    # GPU types

    def kind(self, gpu_type: str) -> str:
        """Return the given GPU type if the application distinguishes types, and an empty string otherwise."""
        return gpu_type if self.gpu_types else ""

    def on(self, gpu_type: str) -> "Application":
        """Return the application as measured on a GPU type, or unchanged if there are no such measurements."""
        return self._by_type.get(gpu_type, self)

    @cached_property
    def _by_type(self) -> Mapping[str, "Application"]:
        return {
            name: self.model_copy(
                update={
                    "placements": measured.placements,
                    "spread": measured.spread,
                    "limits": self.limits.model_copy(
                        update={"least_local": measured.least_local, "most_local": measured.most_local}
                    ),
                    "gpu_types": {},
                }
            )
            for name, measured in self.gpu_types.items()
        }

    # Step times

    def step_time(self, shape: Sequence[int], local_batch: int) -> Times | None:
        """Return the durations of a step and of the gradient exchange in it, in seconds.

        The result is None beyond the measurements.
        """
        return self._steps.times(shape, [local_batch])[0]

    def step_times(self, shape: Sequence[int], local_batches: Sequence[int]) -> list[Times | None]:
        """Return the results of `step_time` for several local batch sizes."""
        return self._steps.times(shape, local_batches)

    def shapes(self, gpus: int, largest: int | None = None) -> list[tuple[int, ...]]:
        """Return shapes with the given number of GPUs, one for each group of shapes with the same step times.

        The step times of some of these shapes may be unknown. In shapes that were not measured, a node has at
        most `largest` GPUs or, if `largest` is None, at most as many as the largest measured node.
        """
        return self._steps.shapes(gpus, largest)

    def most_local(self, shape: Sequence[int]) -> int:
        """Return the largest local batch size measured on a shape, or 0 if there is none.

        If the shape itself was not measured, the measurements in `spread` on at least as many nodes and GPUs
        count.

        In Sia's simulator, this is the largest batch size that fits into the GPUs' memory.
        """
        return self._steps.most_local(shape)

    @cached_property
    def single_speed(self) -> float:
        """Samples per second on a single GPU with its largest measured batch size; 1 if none was measured."""
        single = (each.points[-1] for each in self.placements if tuple(each.shape) == (1,))
        return next((local / seconds for local, seconds, _ in single), 1.0)

    @cached_property
    def _steps(self) -> StepTimes:
        return StepTimes(self.placements, self.spread)

    # Training

    @property
    def work(self) -> float:
        """The progress of a complete training run, in iterations with the initial batch size."""
        return self.progress_at(self.epochs)

    def progress_at(self, epoch: int) -> float:
        """Return the progress after the given number of epochs: the minimum over all measured training runs."""
        return self._progress[epoch]

    @cached_property
    def _progress(self) -> tuple[float, ...]:
        ends = zip(*(each.epochs[: self.epochs] for each in self.validations), strict=True)
        return (0.0, *(min(epoch.progress for epoch in end) for end in ends))

    def is_validated(self, batch: int) -> bool:
        """Check whether a batch size lies between the smallest and the largest of all measured runs."""
        return self._batches[0] <= batch <= self._batches[-1]

    def completion_epoch(self, batch: int) -> int:
        """Return the index of the last epoch, counted from 0; it is the same for every valid batch size."""
        self._around(batch)
        return self.epochs - 1

    def iterations(self, batch: int, epoch: int) -> float:
        """Return the number of iterations done by the end of an epoch (counted from 0) at a batch size."""
        low, high = self._around(batch)
        return _interpolation(low, high, batch)(low.epochs[epoch].iterations, high.epochs[epoch].iterations)

    def gradient(self, batch: int, epoch: int) -> Gradient:
        """Return the gradient statistics in an epoch (counted from 0) of training with the given batch size."""
        low, high = self._around(batch)
        mix, one, other = _interpolation(low, high, batch), low.epochs[epoch], high.epochs[epoch]
        return Gradient(mix(one.sqr, other.sqr), mix(one.var, other.var))

    def gradients(self, batches: Sequence[int]) -> tuple[Array, Array]:
        """Return the gradient statistics, `sqr` and `var`, by batch size (rows) and epoch (columns)."""
        around = [self._around(batch) for batch in batches]
        low, high = ([self._batches.index(each.batch) for each in side] for side in zip(*around, strict=True))
        below = np.array([batch - least.batch for batch, (least, _) in zip(batches, around, strict=True)])
        above = np.array([most.batch - batch for batch, (_, most) in zip(batches, around, strict=True)])
        whole = below + above
        measured = (whole == 0)[:, None]
        mixed = (
            (below[:, None] * each[high] + above[:, None] * each[low]) / np.maximum(whole, 1)[:, None]
            for each in self._statistics
        )
        sqr, var = (
            np.where(measured, each[low], mix) for each, mix in zip(self._statistics, mixed, strict=True)
        )
        return sqr, var

    @cached_property
    def _statistics(self) -> tuple[Array, Array]:
        """Gradient statistics `sqr` and `var`, by training run (rows) and epoch (columns)."""
        epochs = [each.epochs[: self.epochs] for each in self.validations]
        sqr, var = (
            np.array([[getattr(epoch, name) for epoch in own] for own in epochs]) for name in ("sqr", "var")
        )
        return sqr, var

    def _around(self, batch: int) -> tuple[Validation, Validation]:
        """Return the runs with the next smaller and next larger batch size, or an exact match twice."""
        after = bisect_left(self._batches, batch)
        if after < len(self._batches) and self._batches[after] == batch:
            return self.validations[after], self.validations[after]
        if after in {0, len(self._batches)}:
            rule = f"must be between {self._batches[0]} and {self._batches[-1]}, as validated of {self.name}"
            raise InvalidInput("batch", shorten(batch), rule)
        return self.validations[after - 1], self.validations[after]

    @cached_property
    def _batches(self) -> tuple[int, ...]:
        return tuple(each.batch for each in self.validations)


def _interpolation(low: Validation, high: Validation, batch: int) -> Callable[[float, float], float]:
    """Return a function that interpolates values between a run with a smaller and one with a larger batch."""
    if low is high:
        return lambda least, _: least
    below, above, whole = batch - low.batch, high.batch - batch, high.batch - low.batch
    return lambda least, most: (below * most + above * least) / whole
