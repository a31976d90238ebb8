"""View: the part of an adaptive job that a policy can see."""

from collections.abc import Sequence
from typing import Any

from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import BatchChoice, ThroughputModel
from gsopt.scenario.adaptive.trainee import Trainee


class TraineeView:
    """A read-only view of an adaptive job: what the job knows about itself, and the true measurements.

    The attributes have the same meaning as in `gsopt.scenario.adaptive.trainee.Trainee`.
    """

    __slots__ = ("_trainee",)

    def __init__(self, trainee: Trainee) -> None:
        self._trainee = trainee

    @property
    def application(self) -> Application:
        """The true measurements of the job's model, which real schedulers know only from profiling."""
        return self._trainee.application

    @property
    def course(self) -> Course:
        """The true course of the job's training: its work, and its speed on any set of GPUs, with any batch."""
        return self._trainee.course

    @property
    def model(self) -> ThroughputModel | None:
        """Throughput model fitted to all measurements, as if all GPUs were alike; None before the first one."""
        return self._trainee.model

    def model_on(self, gpu_type: str) -> ThroughputModel | None:
        """Return the throughput model fitted to the measurements on a type, or None if there are none."""
        return self._trainee.model_on(gpu_type)

    @property
    def gradient(self) -> Gradient | None:
        """The most recently measured gradient statistics, or None before the job first works."""
        return self._trainee.gradient

    @property
    def gpu_type(self) -> str:
        """Type of the job's current or last GPUs; empty if it never had any, or if types do not matter."""
        return self._trainee.gpu_type

    @property
    def worked_on(self) -> tuple[str, ...]:
        """GPU types on which the job has worked, in order of first use; named ``""`` if types do not matter."""
        return self._trainee.worked_on

    @property
    def most_gpus(self) -> int:
        """Largest number of GPUs on which the job has worked, or 0 before it first works."""
        return self._trainee.most_gpus

    @property
    def restarts(self) -> int:
        """Number of placements after the first one."""
        return self._trainee.restarts

    @property
    def epoch(self) -> int:
        """Number of completed epochs."""
        return self._trainee.epoch

    @property
    def share(self) -> float:
        """Completed fraction of the job's work."""
        return self._trainee.share

    @property
    def batch(self) -> Batch | None:
        """The division of the job's batch, or None if the job has no GPUs."""
        return self._trainee.batch

    @property
    def batch_size(self) -> int | None:
        """Batch size assigned to the job, summed over its GPUs, or None if the job chooses its own."""
        return self._trainee.batch_size

    def goodput(self, nodes: Any, gpus: Any, gpu_type: str | None = None) -> BatchChoice | None:
        """Return the best expected goodput and its batch, or None if the job has never worked on the GPU type.

        `nodes` and `gpus` are numbers, or arrays of numbers. If `gpu_type` is None, types are treated alike.
        """
        return self._trainee.goodput(nodes, gpus, gpu_type)

    def rate(self, shape: Sequence[int], batch: int | None = None, gpu_type: str = "") -> float:
        """Return the true speed on a shape in the current epoch, as a fraction of the job's work per second.

        Slowdowns due to partners or slower GPU types are not included. `batch` is the batch size over all GPUs;
        None stands for the one that the job would choose.
        """
        return self._trainee.rate(tuple(shape), batch, gpu_type)
