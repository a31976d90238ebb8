"""Learned: the speeds of jobs of one kind, learned from jobs that have run before."""

from collections.abc import Collection, Iterable, Sequence
from math import exp, inf, isclose, log
from statistics import median
from typing import Any

import numpy as np

from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import ThroughputModel
from heuristics.policies.marginal.time_left import Epochs

Array = np.ndarray[Any, Any]

#: Number of equal parts into which the work of a training run is divided.
_PARTS = 100

#: Weight of the median error on all numbers of GPUs in the correction for one, as a number of measurements.
_COMMON = 20

#: Smallest relative change for which a gradient or a speed replaces an earlier one.
_CHANGED = 0.02


def part_of(share: float) -> int:
    """Return the part of a training run, counted from 0, that a job is in after the given share of its work."""
    return min(int(share * _PARTS), _PARTS - 1)


class Learned:
    """The gradients and speeds that jobs of one kind have shown in each part (hundredth) of their work.

    A throughput model and the gradients predict the speed in each part. On each number of GPUs, predictions are
    corrected by their median error. While there are few measurements on a number of GPUs, the median error on
    all numbers counts more.

    Parameters
    ----------
    application
        The application that the jobs train.
    counts
        The numbers of GPUs on which the jobs may run.
    nodes
        The number of nodes for each number of GPUs.
    node
        Number of GPUs of the largest node.
    """

    def __init__(
        self, application: Application, counts: Sequence[int], nodes: Sequence[int], node: int
    ) -> None:
        self._application, self._counts, self._nodes, self._node = application, counts, nodes, node
        self._gradients: dict[int, Gradient] = {}  # by part
        self._speeds: dict[int, dict[int, float]] = {}  # share of the work per second, by GPUs and part
        self._model: ThroughputModel | None = None
        self._predicted: Array | None = None  # speeds by the model, by part and number of GPUs
        self._table: Epochs | None = None

    def note_gradient(self, share: float, gradient: Gradient) -> None:
        """Record the gradient that a job has measured after a share of its work."""
        before = self._gradients.get(part_of(share))
        if before is None or not isclose(_noise(gradient), _noise(before), rel_tol=_CHANGED):
            self._gradients[part_of(share)] = gradient
            self._predicted = None

    def note_speed(self, count: int, before: float, after: float, seconds: float) -> None:
        """Record that a job on `count` GPUs took `seconds` to get from one share of its work to another."""
        if count not in self._counts or after <= before:
            return
        own, speed = self._speeds.setdefault(count, {}), (after - before) / seconds
        for part in range(part_of(before), part_of(after) + 1):
            if not isclose(speed, own.get(part, 0.0), rel_tol=_CHANGED):
                own[part] = speed
                self._table = None

    @property
    def untried(self) -> Collection[int]:
        """The allowed numbers of GPUs on which no job's speed has been measured."""
        return [count for count in self._counts if count not in self._speeds]

    def table(self, model: ThroughputModel) -> Epochs | None:
        """Return the expected seconds of each part by number of GPUs, or None before there is a gradient."""
        if not self._gradients:
            return None
        if self._predicted is None or model is not self._model:
            gradients = [self._gradients[part] for part in _nearest(self._gradients)]
            rates = model.goodputs(self._nodes, self._counts, gradients, self._application.limits)
            self._predicted = rates / (self._application.work * self._application.limits.initial_batch)
            self._model, self._table = model, None
        if self._table is None:
            runs = self._predicted.min(axis=0) > 0
            speeds = (self._predicted * self._corrections(self._predicted))[:, runs]
            work = np.full(_PARTS, 1 / _PARTS)
            counts = [count for count, each in zip(self._counts, runs, strict=True) if each]
            self._table = Epochs(np.arange(_PARTS) / _PARTS, work, work[:, None] / speeds, counts, self._node)
        return self._table

    def _corrections(self, predicted: Array) -> Array:
        """Return the factors by which jobs are faster than predicted, by number of GPUs."""
        logs: list[list[float]] = []
        for count, column in zip(self._counts, predicted.T.tolist(), strict=True):
            own = self._speeds.get(count, {}) if min(column) > 0 else {}
            logs.append([log(speed / column[part]) for part, speed in own.items()])
        measured = [each for own in logs for each in own]
        if not measured:
            return np.ones(len(logs))
        common = median(measured)
        return np.array(
            [exp((len(own) * median(own or [0.0]) + _COMMON * common) / (len(own) + _COMMON)) for own in logs]
        )


def _noise(gradient: Gradient) -> float:
    return gradient.var / gradient.sqr if gradient.sqr > 0 else inf


def _nearest(known: Iterable[int]) -> list[int]:
    """Return the nearest known part of each part; ties go to the earlier one."""
    parts, places = np.arange(_PARTS), np.array(sorted(known))
    after = np.searchsorted(places, parts).clip(max=len(places) - 1)
    before = (after - 1).clip(min=0)
    is_before = abs(parts - places[before]) <= abs(places[after] - parts)
    found: list[int] = np.where(is_before, places[before], places[after]).tolist()
    return found
