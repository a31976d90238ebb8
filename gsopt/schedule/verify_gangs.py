"""Verify gangs: surcharges for jobs that do not all fit together, for the exact check of a certificate.

This file of the checker adds to the proof in `gsopt.schedule.verify`. In consecutive cells, rigid jobs may pay
surcharges: job j, which runs on k_j GPUs, pays m_j more for each GPU-second. The jobs that run at some time fit
on the GPUs together. So for each second, their surcharges add up to at most M, the largest sum of k_j m_j over
a set of jobs whose k_j add up to at most the number of GPUs. If S includes M for each second of these cells,
the proof remains valid.
"""

from collections.abc import Sequence

import numpy as np

from gsopt.core.budget import Budget
from gsopt.core.errors import require
from gsopt.core.numbers.grid import Exact
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify_adaptive import FITS, Array, refuse_late

#: A job: its release date, its duration, and its speed on each number of GPUs.
Entry = tuple[Exact, Exact, tuple[tuple[int, Exact], ...]]


def line(job: Entry) -> str:
    """Return a job as a line of text. Surcharges name a job by its line's place among the sorted lines."""
    release, duration, menu = job
    return f"{release} {duration} {' '.join(f'{gpus}:{speed}' for gpus, speed in menu)}"


def charges(
    jobs: Sequence[Entry], gpus: int, known: Certificate, budget: Budget
) -> tuple[dict[int, list[tuple[int, int, int]]], int]:
    """Return the surcharges of each job, and what all of them add to S, the total price in the proof.

    A surcharge consists of its first cell, the cell after its last one, and the amount. `gpus` is the largest
    number of available GPUs.
    """
    order = sorted(range(len(jobs)), key=lambda job: line(jobs[job])) if known.surcharges else []
    found: dict[int, list[tuple[int, int, int]]] = {}
    total = 0
    for index, each in enumerate(known.surcharges):
        pairs = []
        for number, surcharge in zip(each.jobs, each.prices, strict=True):
            field = f"surcharges[{index}].jobs"
            require(number < len(order), field, number, f"must be below {len(order)}, the number of jobs")
            menu = jobs[order[number]][2]
            require(len(menu) == 1, field, number, "must be a job that can only run on one number of GPUs")
            found.setdefault(order[number], []).append((each.begin, each.end, surcharge))
            pairs.append((menu[0][0], menu[0][0] * surcharge))
        most = largest_total(pairs, gpus, budget)
        total += most * (known.edges[each.end] - known.edges[each.begin])
    return found, total


def charged(prices: Array, surcharges: Sequence[tuple[int, int, int]]) -> Array:
    """Return the prices of the cells, increased by the surcharges of a job."""
    if not surcharges:
        return prices
    row = prices.astype(object)
    for begin, end, surcharge in surcharges:
        row[begin:end] += surcharge
    return exact_array(row.tolist())


def largest_total(pairs: Sequence[tuple[int, int]], gpus: int, budget: Budget) -> int:
    """Return the largest total value of jobs that fit on the GPUs, given pairs of GPUs and value."""
    largest = sum(value for _, value in pairs)
    best = exact_array([0, largest])[:1].repeat(gpus + 1)  # by the number of GPUs to fill
    for size, value in pairs:
        refuse_late(budget)
        best[size:] = np.maximum(best[size:], best[: max(gpus + 1 - size, 0)] + value)
    return int(best[gpus])


def exact_array(values: Sequence[int]) -> Array:
    """Return an array of nonnegative integers: 64-bit ones if twice the largest fits, otherwise Python's."""
    return np.array(values, dtype=np.int64 if max(values) < FITS else object)
