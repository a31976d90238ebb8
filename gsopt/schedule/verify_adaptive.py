"""Verify adaptive: the minimum costs of adaptive jobs, for the exact check of a certificate.

This second file of the checker completes the proof in `gsopt.schedule.verify` for jobs whose speed depends on
their GPUs, batch size and epoch. A job passes through its epochs in a fixed order, and takes at least s seconds
for an epoch in each way to run, which is k GPUs of some type (`gsopt.schedule.verify_epochs`). The proof for
v_j, the minimum cost of job j at the given prices:

Divide each epoch into equal parts, and time into steps that end at all edges of cells and wherever a job can
make its first progress. Let phi(t, q) be a function of time and of the number q of parts that are left, 0 for
q = 0, and linear on the triangles with corners (t, q), (t + h, q), (t + h, q - 1) and (t, q), (t, q - 1),
(t + h, q - 1). On k GPUs of price l, a second costs 1 + k l, and q falls by at most 1 / s, where s are now the
seconds of a part. So if, in all triangles,

    1 + d phi / dt  >=  0    and    1 + k l + d phi / dt - (d phi / dq) / s  >=  0    for every way to run,

then phi plus the cost so far never falls, whatever the job does. In the end phi is 0, so v_j is at least phi at
the beginning. Once no GPU has a price, phi is the least time for the parts that are left. From there, `_costs`
goes back in time, and gives each corner the largest value that both conditions allow in the two triangles that
begin there, rounded down. A smaller value breaks no condition. Any parts of at least a tick prove a bound.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from operator import add, mul
from typing import Any

import numpy as np

from gsopt.core.budget import Budget
from gsopt.core.errors import TimeUp, require, shorten
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify_epochs import Training

Array = np.ndarray[Any, Any]

#: Integers below this limit, and sums of two of them, fit into 64 bits. Larger ones need Python's integers.
FITS = 2**62


def refuse_late(budget: Budget) -> None:
    """Raise `TimeUp` if the time limit has passed."""
    if budget.passed:
        raise TimeUp("the time limit passed before the certificate was checked")


def total_cost(
    trainings: Sequence[Training], types: Mapping[str, int], known: Certificate, budget: Budget
) -> int:
    """Return the total minimum cost of all adaptive jobs, less the surcharges for all GPUs of each type.

    The result is rounded down, in units of 1 / `unit` ticks of the certificate.
    """
    prices, total = prices_by_type(known), 0
    for name, row in known.type_prices.items():
        require(name in types, "type_prices", name, "must be a GPU type of the cluster of adaptive jobs")
        spans = (end - begin for begin, end in pairwise(known.edges))
        total -= types[name] * sum(map(mul, row, spans))
    epochs, cells = [len(training.epochs) for training in trainings], [len(known.prices) for _ in trainings]
    for field, rows, wanted in (("parts", known.parts, epochs), ("steps", known.steps, cells)):
        lengths = [len(row) for row in rows]
        require(
            lengths == wanted, field, shorten(lengths), f"must be lists of these lengths: {shorten(wanted)}"
        )
    for training, parts, steps in zip(trainings, known.parts, known.steps, strict=True):
        total += training_cost(training, known, prices, parts, steps, budget)
    return total


def prices_by_type(known: Certificate) -> dict[str, Sequence[int]]:
    """Return the prices of a GPU-second by GPU type. Those of the empty type apply to all types not listed."""
    surcharged = {name: tuple(map(add, known.prices, row)) for name, row in known.type_prices.items()}
    return {"": known.prices, **surcharged}


def training_cost(
    training: Training,
    known: Certificate,
    prices: Mapping[str, Sequence[int]],
    parts: Sequence[int],
    steps: Sequence[int],
    budget: Budget,
) -> int:
    """Return the total minimum cost of a training's jobs, given the parts per epoch and the steps per cell."""
    ticks, edges, unit, row = known.ticks, known.edges, known.unit, {kind: at for at, kind in enumerate(prices)}
    of_epochs = [
        [(row.get(kind, 0), gpus, int(least * ticks) // number) for (kind, gpus), least in epoch]
        for epoch, number in zip(training.epochs, parts, strict=True)
    ]
    if not of_epochs:
        return 0  # there is nothing to do
    is_long = all(seconds for own in of_epochs for _, _, seconds in own)
    require(is_long, "parts", max(parts), "must divide no epoch into parts shorter than a tick")
    ways = [own for own, number in zip(of_epochs, parts, strict=True) for _ in range(number)][::-1]
    padded = [[*own, *own[:1] * (max(map(len, ways)) - len(own))] for own in ways]
    exact = [start * ticks for _, start in training.starts]
    starts = [int(start) for start in exact]  # what is too early is subtracted
    times = {edges[-1], *(start for start in starts if start < edges[-1])}
    for (begin, end), number in zip(pairwise(edges), steps, strict=True):
        times.update(begin + (end - begin) * step // number for step in range(number))
    clock = sorted(time for time in times if time >= min(*starts, edges[-1]))
    paid = [[prices[kind][bisect_right(edges, time) - 1] for time in clock[:-1]] for kind in row]
    by_time = dict(zip(clock, _costs(np.array(padded, dtype=object), clock, unit, paid, budget), strict=True))
    return sum(by_time[min(start, edges[-1])] for start in starts) - ceil((sum(exact) - sum(starts)) * unit)


def _costs(
    ways: Array, times: Sequence[int], unit: int, prices: Sequence[Sequence[int]], budget: Budget
) -> list[int]:
    """Return phi(t, all parts) for all times.

    The ways to run are given by part, from the last one on, and the prices by row of prices and step.
    """
    kinds, gpus, seconds = ways.transpose(2, 0, 1)
    parts, steps = len(seconds), len(times) - 1
    spans = [end - begin for begin, end in pairwise(times)]
    long, short = max([seconds.max(), *spans]), min([seconds.min(), *spans])
    highest = (seconds.min(axis=1).sum() + sum(spans)) * unit
    dearest = unit + gpus.max() * max(max(row, default=0) for row in prices)
    kind = np.int64 if (highest // short + 2 * long + dearest) * long + highest < FITS else object
    seconds, gpus, kinds = seconds.astype(kind), gpus.astype(kind), kinds.astype(np.int64)
    lengths, rows = np.array(spans[::-1], dtype=kind), np.array([row[::-1] for row in prices], dtype=kind)
    end = np.array([0, *np.cumsum(seconds.min(axis=1)) * unit], dtype=kind)
    # Corners lie on diagonals, numbered by the steps and parts that are left. Each follows from the last two.
    found, last, before = [int(end[parts])], np.zeros_like(end), np.zeros_like(end)
    for diagonal in range(1, steps + parts + 1):
        refuse_late(budget)
        now, left = np.zeros_like(end), np.arange(max(1, diagonal - steps), min(parts, diagonal - 1) + 1)
        if diagonal <= parts:
            now[diagonal] = end[diagonal]
        if len(left):
            fewer, step = left - 1, (diagonal - 1 - left)[:, None]
            length, least, cost = lengths[step], seconds[fewer], rows[kinds[fewer], step] * gpus[fewer]
            moved = cost * length + _product((before[fewer] - last[left])[:, None], length, least)
            passed = (unit + cost) * least + _product((before[fewer] - last[fewer])[:, None], least, length)
            later = last[left] + unit * length[:, 0] + np.minimum(moved.min(axis=1), 0)
            now[left] = np.minimum(later, last[fewer] + passed.min(axis=1))
            require(now.min() >= 0, "steps", steps, "must be more, as a corner falls below 0")
        if diagonal > parts:
            found.append(int(now[parts]))
        last, before = now, last
    return found[::-1]


def _product(value: Array, factor: Array, divisor: Array) -> Array:
    """Return ``value * factor // divisor`` of integers, without a large product."""
    quotient = value // divisor
    product: Array = quotient * factor + (value - quotient * divisor) * factor // divisor
    return product
