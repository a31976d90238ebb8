"""Rows: the operators of `genome`, applied to many genomes at once as rows of an array.

Tests check that both modules give the same results. `keep`, `trim`, `admit`, `fill` and `reorder` modify the
genomes, shape (rows, GPUs), in place. All of these except `reorder` take `counts`, the number of GPUs of each
job in each row, shape (rows, jobs), and keep it up to date.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.settings import PackOrder, ScaleDown
from heuristics.batching.evolution.table import Floats, Whole

Genomes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


def counts_of(genomes: Genomes, jobs: int) -> Whole:
    """Return the number of GPUs of each job in each row, shape (rows, jobs)."""
    rows = len(genomes)
    width = jobs + 1  # a column for idle GPUs in front
    keys = genomes + (np.arange(rows) * width + 1)[:, None]
    return np.bincount(keys.ravel(), minlength=rows * width).reshape(rows, width)[:, 1:]


def scores(counts: Whole, costs: Floats, target: int = 0) -> Floats:
    """Return the total cost of all jobs in each row, shape (rows,), as in `genome.score`."""
    found: Floats = _at(costs, counts).sum(axis=1)
    if target:
        found[counts.sum(axis=1) < target] = np.inf
    return found


def ranks(genomes: Genomes) -> Whole:
    """Return, for each GPU, how many GPUs further left in its row belong to the same job."""
    rows, gpus = genomes.shape
    order = genomes.argsort(axis=1, kind="stable")
    own = np.arange(rows)[:, None]
    ordered = genomes[own, order]
    places = np.arange(gpus)
    starts = np.zeros((rows, gpus), dtype=np.int64)
    starts[:, 1:] = (ordered[:, 1:] != ordered[:, :-1]) * places[1:]
    found = np.empty_like(genomes)
    found[own, order] = places - np.maximum.accumulate(starts, axis=1)
    return found


def keep(genomes: Genomes, counts: Whole, most: Whole) -> None:
    """Limit the GPUs of each job to `most`, shape (rows, jobs), by taking its last GPUs."""
    over = np.flatnonzero((counts > most).any(axis=1))
    if over.size:
        some = genomes[over]
        held = most[over[:, None], some]  # an idle GPU, -1, looks up any entry and stays idle
        some[ranks(some) >= held] = IDLE
        genomes[over] = some
        np.minimum(counts, most, out=counts)


def trim(genomes: Genomes, counts: Whole, lower: Whole) -> None:
    """Take GPUs from each job until it can run on those that it keeps (see `genome.trim`)."""
    keep(genomes, counts, _at(lower, counts))


def kept_gpus(gpus: Whole, batch: Whole, limit: Whole, local: Whole, how: ScaleDown) -> Whole:
    """Return how many GPUs each job keeps when batch limits fall (see `genome.kept_gpus`)."""
    if how == "widest":
        kept = np.minimum(gpus, -(-limit // local))
    else:
        kept = np.maximum(limit * gpus // np.maximum(batch, 1), 1 if how == "at least one" else 0)
    return np.where(batch <= limit, gpus, kept)


def admit(genomes: Genomes, counts: Whole, least: Whole, victims: Whole) -> None:
    """Grant each job the GPUs that it must have but lacks (see `genome.admit`)."""
    jobs = len(least)
    lacking = np.maximum(least - counts, 0)
    short = np.flatnonzero(lacking.any(axis=1))
    if not short.size:
        return
    some, lacking = genomes[short], lacking[short]
    gpus = some.shape[1]
    places = np.arange(gpus)
    rank = np.full(jobs + 1, -1)  # the last entry is that of idle GPUs
    rank[victims] = np.arange(jobs)
    key = rank[some] * gpus + np.where(some == IDLE, places, gpus - 1 - places)
    is_kept = ranks(some) < np.append(least, 0)[some]
    order = np.argsort(np.where(is_kept, gpus * (jobs + 1), key), axis=1, kind="stable")
    taken = places < lacking.sum(axis=1)[:, None]
    wanted = np.broadcast_to(np.arange(jobs), lacking.shape)
    some[np.nonzero(taken)[0], order[taken]] = np.repeat(wanted.ravel(), lacking.ravel())
    genomes[short] = some
    counts[short] = counts_of(some, jobs)


def fill(
    genomes: Genomes,
    counts: Whole,
    lower: Whole,
    costs: Floats,
    redraw: Callable[[], Floats] | None = None,
) -> None:
    """Grant idle GPUs to the jobs whose costs rise the least, up to their caps (see `genome.fill`).

    With `redraw`, each pass selects one job in every row, and all rows use the same drawn costs.
    """
    cap = lower[:, -1]
    left = genomes.shape[1] - counts.sum(axis=1)
    rows = left.nonzero()[0]
    is_open = counts[rows] < cap
    while rows.size and cap.size:
        some, held = genomes[rows], counts[rows]
        gains = np.where(is_open, _at(costs, cap) - _at(costs, held), np.inf)
        order = gains.argsort(axis=1, kind="stable") if redraw is None else gains.argmin(axis=1)[:, None]
        selected, number = _given(order, held, is_open, lower, left[rows])
        given = number.sum(axis=1)
        idle = some == IDLE
        some[idle & (idle.cumsum(axis=1) <= given[:, None])] = order.ravel().repeat(number.ravel())
        own = np.arange(len(rows))[:, None]
        held[own, order] += number
        is_open[own, order] &= ~selected
        genomes[rows], counts[rows] = some, held
        left[rows] -= given
        going = (left[rows] > 0) & is_open.any(axis=1)
        rows, is_open = rows[going], is_open[going]
        if redraw is not None and rows.size:
            costs = redraw()


def _given(order: Whole, held: Whole, is_open: Mask, lower: Whole, idle: Whole) -> tuple[Mask, Whole]:
    """Return which jobs in `order` get idle GPUs, until none is left, and how many GPUs each gets."""
    own = np.arange(len(order))[:, None]
    has = held[own, order]
    room = (lower[order, -1] - has) * is_open[own, order]
    before = room.cumsum(axis=1) - room
    offered = np.minimum(np.maximum(idle[:, None] - before, 0), room)
    return offered > 0, lower[order, has + offered] - has


def _at(table: NDArray[Scalar], counts: Whole) -> NDArray[Scalar]:
    """Return each job's table entry for its number of GPUs; `counts` has shape (jobs,) or (rows, jobs)."""
    found: NDArray[Scalar] = table.ravel().take(counts + np.arange(len(table)) * table.shape[1])
    return found


def reorder(genomes: Genomes, jobs: int, pack: PackOrder = "first") -> None:
    """Put the workers of each job next to each other in every row (see `genome.reorder`)."""
    rows, gpus = genomes.shape
    width = jobs + 1
    keys = genomes % width  # idle GPUs, -1, count as one more job
    step = -1 if pack == "first" else 1
    places = np.empty((rows, gpus), dtype=np.int64)
    places[:] = np.arange(gpus)[::step]
    entries = keys + (np.arange(rows) * width)[:, None]
    seen = np.zeros(rows * width, dtype=np.int64)
    seen[entries[:, ::step].ravel()] = places.ravel()  # the last assignment wins
    seen[jobs::width] = gpus  # idle GPUs come last
    keys += seen.take(entries) * width
    keys.sort(axis=1)
    keys %= width
    keys[keys == jobs] = IDLE
    genomes[:] = keys
