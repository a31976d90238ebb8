"""Kernel: the repair of many genomes as loops, compiled where numba is installed.

It does what `rows.trim`, `rows.admit`, `rows.fill` and `rows.reorder` do one after the other, with the same
results, in less time, once it is compiled.
"""

from typing import Any

import numpy as np

from gsopt.core.numbers.compiled import compiled
from heuristics.batching.evolution.genome import IDLE

Array = np.ndarray[Any, Any]


@compiled
def repair_rows(
    genomes: Array, counts: Array, lower: Array, least: Array, victims: Array, costs: Array, by_last: bool
) -> None:
    """Trim, admit, trim, fill and reorder every row, and keep the counts.

    Parameters
    ----------
    genomes, counts
        As in `rows`; both are changed.
    lower, least, victims, costs
        As the functions of `rows` have them.
    by_last
        Whether jobs are packed by their last occurrence, and not by their first.
    """
    for row in range(genomes.shape[0]):
        genome, held = genomes[row], counts[row]
        trim_one(genome, held, lower)
        if admit_one(genome, held, least, victims):
            trim_one(genome, held, lower)
        fill_one(genome, held, lower, costs)
        reorder_one(genome, held, by_last)


@compiled
def trim_one(genome: Array, held: Array, lower: Array) -> None:
    """Trim a genome, see `genome.trim`."""
    over = False
    for job in range(held.shape[0]):
        if lower[job, held[job]] < held[job]:
            held[job] = lower[job, held[job]]
            over = True
    if not over:
        return
    left = held.copy()
    for place in range(genome.shape[0]):
        job = genome[place]
        if job != IDLE:
            if left[job] == 0:
                genome[place] = IDLE
            else:
                left[job] -= 1


@compiled
def admit_one(genome: Array, held: Array, least: Array, victims: Array) -> bool:
    """Grant jobs what they must have, see `genome.admit`, and tell whether any lacked some."""
    lacking = 0
    for job in range(held.shape[0]):
        lacking += max(least[job] - held[job], 0)
    if lacking == 0:
        return False
    free = free_places(genome, held, least, victims)
    taken = 0
    for job in range(held.shape[0]):
        while held[job] < least[job]:
            place = free[taken]
            taken += 1
            if genome[place] != IDLE:
                held[genome[place]] -= 1
            genome[place] = job
            held[job] += 1
    return True


@compiled
def free_places(genome: Array, held: Array, least: Array, victims: Array) -> Array:
    """Find the GPUs that jobs may be given, the first to go first: idle ones, then the last ones of victims."""
    gpus = genome.shape[0]
    free = np.empty(gpus, dtype=np.int64)
    found = 0
    for place in range(gpus):
        if genome[place] == IDLE:
            free[found] = place
            found += 1
    for job in victims:
        spare = held[job] - least[job]
        for place in range(gpus - 1, -1, -1):
            if spare > 0 and genome[place] == job:
                free[found] = place
                found += 1
                spare -= 1
    return free


@compiled
def fill_one(genome: Array, held: Array, lower: Array, costs: Array) -> None:
    """Fill idle GPUs, see `genome.fill`."""
    jobs, gpus = held.shape[0], genome.shape[0]
    left = gpus - held.sum()
    if left == 0:
        return
    last = lower.shape[1] - 1
    gains = np.full(jobs, np.inf)
    for job in range(jobs):
        if held[job] < lower[job, last]:
            gains[job] = costs[job, lower[job, last]] - costs[job, held[job]]
    place = 0
    while left > 0:
        best = -1
        for job in range(jobs):
            if gains[job] < np.inf and (best < 0 or gains[job] < gains[best]):
                best = job
        if best < 0:
            return
        gains[best] = np.inf
        given = lower[best, min(lower[best, last], held[best] + left)] - held[best]
        held[best] += given
        left -= given
        while given > 0:
            if genome[place] == IDLE:
                genome[place] = best
                given -= 1
            place += 1


@compiled
def reorder_one(genome: Array, held: Array, by_last: bool) -> None:
    """Pack a genome, see `genome.reorder`."""
    gpus, jobs = genome.shape[0], held.shape[0]
    order = np.empty(jobs, dtype=np.int64)
    seen = np.zeros(jobs, dtype=np.bool_)
    found = 0
    for step in range(gpus):
        job = genome[gpus - 1 - step if by_last else step]
        if job != IDLE and not seen[job]:
            seen[job] = True
            order[found] = job
            found += 1
    place = 0
    for step in range(found):
        job = order[found - 1 - step if by_last else step]
        genome[place : place + held[job]] = job
        place += held[job]
    genome[place:] = IDLE
