"""Division: epoch parts and time steps with which a certificate proves a high bound for adaptive jobs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise

import numpy as np

from gsopt.core.budget import UNLIMITED
from gsopt.core.errors import InvalidInput, require
from gsopt.core.numbers.compiled import is_installed
from gsopt.schedule.bounds.prices.cost_to_go import cost_to_go
from gsopt.schedule.certificate import MOST_STEPS, Certificate
from gsopt.schedule.verify_adaptive import prices_by_type, training_cost
from gsopt.schedule.verify_epochs import Training

#: A division: the number of parts of each epoch, and the number of steps of each cell.
Division = tuple[tuple[int, ...], tuple[int, ...]]

#: Numbers of parts of a course that are tried, with and without compiled kernels. What is proven depends on how
#: well parts, steps and speeds suit each other, so more parts may prove less.
_PARTS, _PARTS_IN_PYTHON = (24, 32, 40, 56, 80, 100, 120, 140, 160, 200, 240, 320), (80,)

#: Largest number of steps that do not end at the edge of a cell; and the number of parts times steps from which
#: on no more parts are tried, as a check takes a second for a million.
_STEPS, _ENOUGH = 40_000, 4_000_000


def best_division(training: Training, known: Certificate) -> Division:
    """Try several numbers of parts, and return the parts and steps that prove the highest cost of the jobs.

    Without numba, only one number of parts is tried. The result lists the number of parts of each epoch, and
    the number of steps of each cell.

    Parameters
    ----------
    training
        Adaptive jobs that differ only in their release dates.
    known
        A certificate with the time cells and the prices; its parts and steps are ignored.
    """
    prices, tried = prices_by_type(known), dict[Division, float]()
    for number in _PARTS if is_installed() else _PARTS_IN_PYTHON:
        parts = _parts(training, number)
        cost, steps = _followed(training, known, prices, parts)
        tried[parts, steps] = cost
        if sum(parts) * sum(steps) > _ENOUGH:
            break
    for parts, steps in sorted(tried, key=tried.__getitem__, reverse=True):
        with suppress(InvalidInput):  # steps are too long: a cost falls below 0
            training_cost(training, known, prices, parts, steps, UNLIMITED)
            return parts, steps
    return _safe_division(training, known)


def _safe_division(training: Training, known: Certificate) -> Division:
    """Return whole epochs, and steps so short that no cost falls below 0."""
    shortest = min(int(least * known.ticks) for ways in training.epochs for _, least in ways)
    steps = tuple(-(-(end - begin) // max(shortest, 1)) for begin, end in pairwise(known.edges))
    rule = "must have epochs that are not that much shorter than the schedule, for a certificate"
    require(sum(steps) <= MOST_STEPS, "applications", f"an epoch of {shortest / known.ticks:g} s", rule)
    return (1,) * len(training.epochs), steps


def _parts(training: Training, number: int) -> tuple[int, ...]:
    """Divide the epochs of a training into about `number` parts that take equally long on the fastest GPUs."""
    least = [float(min(seconds for _, seconds in ways)) for ways in training.epochs]
    return tuple(max(1, round(number * seconds / sum(least))) for seconds in least)


def _followed(
    training: Training, known: Certificate, prices: Mapping[str, Sequence[int]], parts: Sequence[int]
) -> tuple[float, tuple[int, ...]]:
    """Return the cost of a training in floats, and the steps in which it was computed.

    In a step, a job passes about one part at most if it runs only where that pays off.
    """
    rows = {kind: row for row, kind in enumerate(prices)}
    ways = [
        [(rows.get(kind, 0), gpus, number / float(seconds)) for (kind, gpus), seconds in own]
        for own, number in zip(training.epochs, parts, strict=True)
        for _ in range(number)
    ]
    kinds, gpus, rates = (np.array(column) for column in zip(*chain.from_iterable(ways), strict=True))
    paid = np.array([[price / known.unit for price in prices[kind]] for kind in rows])
    edges = np.array([edge / known.ticks for edge in known.edges])
    times = np.empty(_STEPS + len(edges))
    cell, cost = np.zeros(len(times), dtype=np.int64), np.empty((len(times), len(ways) + 1))
    given = np.cumsum([0, *map(len, ways)]), kinds, gpus.astype(float), rates
    last, _ = cost_to_go(edges, paid, 1.0, *given, _STEPS, times, cell, cost)
    starts = [float(start) for _, start in training.starts]
    total = np.interp(starts, times[last::-1], cost[last::-1, 0]).sum()
    found = np.bincount(cell[1 : last + 1], minlength=len(edges) - 1).tolist()
    lengths = (end - begin for begin, end in pairwise(known.edges))
    return float(total), tuple(max(1, min(steps, length)) for steps, length in zip(found, lengths, strict=True))
