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

    The attributes are those of `gsopt.scenario.adaptive.trainee.Trainee`.
    """

    __slots__ = ("_trainee",)

    def __init__(self, trainee: Trainee) -> None:
        self._trainee = trainee

    @property
    def application(self) -> Application:
        """The true measurements of its model, which real schedulers know only from profiling."""
        return self._trainee.application

    @property
    def course(self) -> Course:
        """The true course of its training: its work, and its speed on any GPUs with any batch."""
        return self._trainee.course

    @property
    def model(self) -> ThroughputModel | None:
        """Throughput model that the job has fitted to its own steps, or None before the first one."""
        return self._trainee.model

    @property
    def gradient(self) -> Gradient | None:
        """Last measured gradient statistics, or None before it first works."""
        return self._trainee.gradient

    @property
    def most_gpus(self) -> int:
        """Largest number of GPUs on which it has worked."""
        return self._trainee.most_gpus

    @property
    def restarts(self) -> int:
        """Number of placements after the first one."""
        return self._trainee.restarts

    @property
    def epoch(self) -> int:
        """The current epoch, counted from 0."""
        return self._trainee.epoch

    @property
    def share(self) -> float:
        """Completed share of its work."""
        return self._trainee.share

    @property
    def batch(self) -> Batch | None:
        """The division of its batch, or None if it has no GPUs."""
        return self._trainee.batch

    @property
    def batch_size(self) -> int | None:
        """Batch size over all GPUs that it was given, or None if it chooses its batch."""
        return self._trainee.batch_size

    def goodput(self, nodes: Any, gpus: Any) -> BatchChoice | None:
        """Return the expected goodput on numbers of nodes and GPUs, or None before the job first works."""
        return self._trainee.goodput(nodes, gpus)

    def rate(self, shape: Sequence[int], batch: int | None = None) -> float:
        """Return the true speed with GPUs to itself, as a share of its work per second."""
        return self._trainee.rate(tuple(shape), batch)
