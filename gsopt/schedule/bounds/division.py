"""Division: the parts of epochs and steps of time with which a certificate proves the most of adaptive jobs."""

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise

import numpy as np

from gsopt.core.budget import UNLIMITED
from gsopt.core.errors import InvalidInput
from gsopt.schedule.bounds.prices.cost_to_go import cost_to_go
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify_adaptive import prices_by_type, training_cost
from gsopt.schedule.verify_epochs import Training

#: Numbers of parts of a course that are tried. More parts than these prove hardly more.
_PARTS = (40, 80, 160)

#: Largest number of steps that do not end at the edge of a cell, and how often it is doubled in vain.
_MOST_STEPS, _TRIES = 60_000, 3


def best_division(training: Training, known: Certificate) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the parts of each epoch and the steps of each cell that prove the highest cost of a training.

    Parameters
    ----------
    training
        The jobs.
    known
        The grid of time and the prices. Its own parts and steps are ignored.
    """
    prices, found = prices_by_type(known), dict[tuple[tuple[int, ...], tuple[int, ...]], int]()
    for number in _PARTS:
        parts = parts_of(training, number)
        steps = steps_of(training, known, prices, parts)
        for _ in range(_TRIES):
            try:
                found[parts, steps] = training_cost(training, known, prices, parts, steps, UNLIMITED)
                break
            except InvalidInput:  # steps are too long: a cost falls below 0
                steps = tuple(2 * step for step in steps)
    return max(found, key=found.__getitem__)


def parts_of(training: Training, number: int) -> tuple[int, ...]:
    """Divide the epochs of a training into about `number` parts that take equally long on the fastest GPUs."""
    least = [float(min(seconds for _, seconds in ways)) for ways in training.epochs]
    return tuple(max(1, round(number * seconds / sum(least))) for seconds in least)


def steps_of(
    training: Training, known: Certificate, prices: Mapping[str, Sequence[int]], parts: Sequence[int]
) -> tuple[int, ...]:
    """Return steps in which a job passes about one part, if it runs only where that pays off."""
    rows = list(prices)
    ways = [
        [
            (rows.index(kind if kind in prices else ""), gpus, number / float(seconds))
            for (kind, gpus), seconds in own
        ]
        for own, number in zip(training.epochs, parts, strict=True)
        for _ in range(number)
    ]
    kinds, gpus, rates = (np.array(column) for column in zip(*chain.from_iterable(ways), strict=True))
    paid = np.array([[price / known.unit for price in prices[kind]] for kind in rows])
    edges = np.array([edge / known.ticks for edge in known.edges])
    times = np.empty(_MOST_STEPS + len(edges))
    cell = np.zeros(len(times), dtype=np.int64)
    cost = np.empty((len(times), len(ways) + 1))
    first = np.cumsum([0, *map(len, ways)])
    count, _ = cost_to_go(
        edges, paid, 1.0, first, kinds, gpus.astype(float), rates, _MOST_STEPS, times, cell, cost
    )
    found = np.bincount(cell[1 : count + 1], minlength=len(edges) - 1).tolist()
    lengths = (end - begin for begin, end in pairwise(known.edges))
    return tuple(max(1, min(steps, length)) for steps, length in zip(found, lengths, strict=True))
