"""Evolving: a seeded genetic search for the number of flexible workers of each job."""

from dataclasses import dataclass

import numpy as np

from heuristics.policies.aryl.schedulers.fitness import Counts, Fitness, Floats


@dataclass(frozen=True)
class SearchEffort:
    """The limits of a search: candidates, generations, and consecutive generations without improvement."""

    population: int = 100
    generations: int = 100
    patience: int = 20


def evolve(fitness: Fitness, start: Counts, search: SearchEffort, random: np.random.Generator) -> Counts:
    """Return the best numbers of flexible workers that a genetic search finds, shape (jobs,).

    The first candidates are `start`, no flexible workers, and random numbers. Each generation has as many
    children as candidates. A child takes the jobs before a random position from one parent, and the other jobs
    from a second parent; each parent is the better of two random candidates. Then some of the child's jobs, one
    on average, get a random number of workers, and surplus workers are taken from random jobs. The best
    candidates and children survive; ties go to the older ones. The result is never worse than `start` if that
    fits. If the best numbers of all jobs fit together, they are returned without a search.

    O(G P J) for G generations of P candidates for J jobs.
    """
    alone: Counts = fitness.worth.argmax(axis=1)
    if np.array_equal(repaired(fitness, alone[None], random)[0], alone):
        return alone  # the best numbers of all jobs fit
    rows = _first(fitness, start, search, random)
    worth = fitness.of_rows(rows)
    best, stale = worth.max(), 0
    for _ in range(search.generations):
        children = repaired(fitness, _children(fitness, rows, worth, random), random)
        rows, worth = _fittest(rows, worth, children, fitness.of_rows(children))
        stale = 0 if worth[0] > best else stale + 1
        if stale >= search.patience:
            break
        best = worth[0]
    found: Counts = rows[int(worth.argmax())]
    return found


def repaired(fitness: Fitness, rows: Counts, random: np.random.Generator) -> Counts:
    """Take workers from one random job after another until each candidate (a row) fits in every pool.

    Numbers that are not allowed are rounded down.
    """
    rows = np.minimum(rows, fitness.most)
    every = np.arange(len(fitness.jobs))
    rows = fitness.allowed[every, rows]
    for confined, gpus in fitness.limits:
        held = rows * fitness.worker_gpus * confined
        excess = held.sum(axis=1) - gpus
        over = np.flatnonzero(excess > 0)
        if not over.size:
            continue
        turns = np.argsort(random.random((over.size, every.size)), axis=1)
        queue = np.take_along_axis(held[over], turns, axis=1)
        before = queue.cumsum(axis=1) - queue
        gone = np.clip(excess[over, None] - before, 0, queue)
        lost = np.zeros_like(gone)
        np.put_along_axis(lost, turns, gone, axis=1)
        fewer = -(-lost // fitness.worker_gpus)
        rows[over] = fitness.allowed[every, rows[over] - fewer]
    return rows


def _first(fitness: Fitness, start: Counts, search: SearchEffort, random: np.random.Generator) -> Counts:
    rows = random.integers(0, fitness.most + 1, size=(search.population, len(fitness.jobs)))
    rows[0] = start
    rows[1:2] = 0
    return repaired(fitness, rows, random)


def _children(fitness: Fitness, rows: Counts, worth: Floats, random: np.random.Generator) -> Counts:
    number, jobs = rows.shape
    drawn = random.integers(0, number, size=(2, 2, number))
    parents = np.where(worth[drawn[0]] >= worth[drawn[1]], drawn[0], drawn[1])
    cut = random.integers(0, jobs + 1, size=number)
    children: Counts = np.where(np.arange(jobs) < cut[:, None], rows[parents[0]], rows[parents[1]])
    who = np.flatnonzero(random.random(children.size) * jobs < 1)
    place = who % jobs
    children.flat[who] = random.integers(0, fitness.most[place] + 1)
    return children


def _fittest(rows: Counts, worth: Floats, children: Counts, theirs: Floats) -> tuple[Counts, Floats]:
    """Return the best of the candidates and children, as many as there were candidates, and their worth."""
    every, values = np.concatenate((rows, children)), np.concatenate((worth, theirs))
    order = np.argsort(-values, kind="stable")[: len(rows)]
    return every[order], values[order]
