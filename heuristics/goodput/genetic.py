"""Genetic: the search of Pollux, by crossover, mutation and repair of GPUs by job and node."""

from typing import Annotated

import numpy as np
from pydantic import Field

from gsopt.budget import Budget, checked_time_limit, rounds
from gsopt.errors import InvalidInput, shorten
from gsopt.method import heuristic
from gsopt.problems.goodput import Goodput, GoodputSolution
from heuristics.goodput.table import Counts, Floats, Table

#: How likely a job gets what it has now; how likely a job loses GPUs, and then how likely those on a node.
_BACK, _LOSER, _LOST = 0.1, 0.1, 0.1


@heuristic
def genetic(
    problem: Goodput,
    *,
    population: Annotated[int, Field(ge=2)] = 100,
    generations: Annotated[int, Field(ge=0)] = 100,
    most_nodes: Annotated[int, Field(ge=1)] = 16,
    seed: int = 0,
    most_seconds: float | None = None,
) -> GoodputSolution:
    """Search by NSGA-II for the best fitness and utilisation, from what jobs have now; the fittest is given.

    Source: Pollux (OSDI 2021), section 4.2, and the authors' program for what the text leaves open: the number
    of generations, the odds of the mutation, the most nodes of a job and the repair.

    Complexity: O(P J N) per generation for P candidates, J jobs and N nodes, beside the sorting by DEAP.

    Parameters
    ----------
    problem
        The problem. Where nodes or GPUs do not suffice jobs that are listed first have them; the authors list
        those with the least attained service first.
    population, generations
        Candidates, and how often as many are made of them.
    most_nodes
        Most nodes of a job.
    seed
        Seed of everything that is drawn.
    most_seconds
        Seconds after which no generation begins, so that the result depends on the machine; None for no limit.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Notes
    -----
    Crossover exchanges the jobs before a point that is drawn. Mutation gives jobs what they have now, takes
    the GPUs on some nodes from some, and on each node with idle GPUs gives more to about one job, and to one
    of those that stand there. Repair takes from jobs what breaks a rule.

    Departures: the search begins with what jobs have now only, as the authors' does for the first time, and
    not with the candidates of a minute ago. A job on GPUs of which no speed-up is known loses them.

    The order of the jobs matters: with new jobs listed last, which repair then leaves without GPUs, the search
    serves not all of 45 jobs on 64 busy GPUs, and ends at a tenth of the fitness that it has with them first.

    Examples
    --------
    >>> from instances.goodput import running_jobs
    >>> result = genetic(running_jobs(nodes=2, jobs=3, seed=1), generations=20)
    >>> result.solution.gpus
    {'j3': (1, 0), 'j2': (0, 4), 'j1': (3, 0)}
    """
    for name, value, least in (("population", population, 2), ("generations", generations, 0)):
        if value < least:
            raise InvalidInput("", name, shorten(value), f"must be at least {least}")
    if most_nodes < 1:
        raise InvalidInput("", "most_nodes", shorten(most_nodes), "must be at least 1")
    budget = Budget(time_limit=checked_time_limit(most_seconds, "most_seconds"))
    search = _Search(Table.of(problem), most_nodes, np.random.default_rng(seed))
    candidates = search.repaired(search.table.current[None])
    if not candidates.size:
        return GoodputSolution(gpus={})
    for _ in rounds(generations, budget):
        children = search.repaired(search.mutated(search.crossed(candidates, population)))
        pool = _distinct(np.concatenate([candidates, children]))
        candidates = pool[_survivors(search.scores(pool), population)]
    return search.table.solution(candidates[search.scores(candidates)[:, 0].argmax()])


class _Search:
    """The operators, on candidates of shape (candidates, jobs, nodes)."""

    def __init__(self, table: Table, most_nodes: int, random: np.random.Generator) -> None:
        self.table, self.most_nodes, self.random = table, most_nodes, random
        self.gpus = np.array(table.problem.nodes, dtype=np.int64)

    def scores(self, candidates: Counts) -> Floats:
        """Give fitness and utilisation of each candidate."""
        speedups, power = self.table.speedup(candidates), self.table.problem.power
        restarts = (candidates != self.table.current).any(axis=-1)
        fitness = self.table.counted(speedups, restarts).mean(axis=-1) ** (1 / power)
        used = ((candidates.sum(axis=1) > 0) * self.gpus).sum(axis=-1)
        return np.stack([fitness, speedups.sum(axis=-1) / np.maximum(used, 1)], axis=-1)

    def crossed(self, candidates: Counts, number: int) -> Counts:
        """Make children of pairs, each parent the better one of two that are drawn: the best come first."""
        parents = self.random.integers(len(candidates), size=(2, 2, -(-number // 2))).min(axis=0)
        first, second = candidates[parents]
        points = self.random.integers(candidates.shape[1], size=(len(first), 1, 1))
        swapped = np.arange(candidates.shape[1])[None, :, None] < points
        return np.concatenate([np.where(swapped, second, first), np.where(swapped, first, second)])[:number]

    def mutated(self, candidates: Counts) -> Counts:
        """Put jobs back, take GPUs away and give others."""
        shape = candidates.shape
        back = self.random.random((*shape[:2], 1)) < _BACK
        candidates = np.where(back, self.table.current, candidates)
        loses = np.where(self.random.random((*shape[:2], 1)) < _LOSER, _LOST, 0.0)
        candidates = np.where(self.random.random(shape) < loses, 0, candidates)
        room = np.broadcast_to((candidates.sum(axis=1, keepdims=True) < self.gpus), shape)
        stands = room & (candidates > 0)
        anyone = room / shape[1]
        someone = stands / np.maximum(stands.sum(axis=1, keepdims=True), 1)
        grows = self.random.random(shape) < anyone + someone - anyone * someone
        more = self.random.integers(candidates, np.maximum(self.gpus, candidates) + 1)
        return np.where(grows, more, candidates)

    def repaired(self, candidates: Counts) -> Counts:
        """Take away what breaks a rule: of jobs on several nodes, by the limits of jobs, and on full nodes."""
        wide = ((candidates > 0).sum(axis=-1) > 1)[..., None] & (candidates > 0)
        candidates = np.where(wide & (wide.cumsum(axis=1) > 1), 0, candidates)
        order = self.random.random(candidates.shape).argsort(axis=-1)
        shuffled = np.take_along_axis(candidates, order, axis=-1)
        limits = np.array([job.max_gpus or self.gpus.sum() for job in self.table.problem.jobs], dtype=np.int64)
        shuffled = np.diff(np.minimum(shuffled.cumsum(axis=-1), limits[:, None]), axis=-1, prepend=0)
        shuffled[(shuffled > 0).cumsum(axis=-1) > self.most_nodes] = 0
        candidates = np.take_along_axis(shuffled, order.argsort(axis=-1), axis=-1)
        candidates = np.diff(np.minimum(candidates.cumsum(axis=1), self.gpus), axis=1, prepend=0)
        return np.where((self.table.speedup(candidates) < 0)[..., None], 0, candidates)


def _distinct(pool: Counts) -> Counts:
    first: dict[bytes, int] = {}
    for place, candidate in enumerate(pool):
        first.setdefault(candidate.tobytes(), place)
    return pool[list(first.values())]


def _survivors(scores: Floats, number: int) -> Counts:
    """Give the first by non-dominated fronts, and in each the ones that are alone first, as NSGA-II has it."""
    from deap import base, tools  # slower to load than all the rest

    class Fitness(base.Fitness):  # type: ignore[misc]  # DEAP has no types
        weights = (1.0, 1.0)

    class Scored:
        def __init__(self, place: int, score: list[float]) -> None:
            self.place, self.fitness = place, Fitness(score)

    pool = [Scored(place, score) for place, score in enumerate(scores.tolist())]
    ordered: list[Scored] = []
    for front in tools.sortLogNondominated(pool, min(number, len(pool))):
        tools.emo.assignCrowdingDist(front)
        ordered += sorted(front, key=lambda each: -each.fitness.crowding_dist)
    return np.array([each.place for each in ordered[:number]], dtype=np.int64)
