"""Fronts of two goals, against DEAP."""

from itertools import pairwise

import numpy as np
from deap import base, tools

from heuristics.goodput.fronts import ranks, survivors
from heuristics.goodput.table import Floats
from tests.effort import cases


class Fitness(base.Fitness):  # type: ignore[misc]  # DEAP has no types
    """Two goals to be maximised."""

    weights = (1.0, 1.0)


class Scored:
    """A candidate as DEAP knows it."""

    def __init__(self, place: int, score: list[float]) -> None:
        self.place, self.fitness = place, Fitness(score)


def drawn(random: np.random.Generator) -> Floats:
    """Draw scores of which some are equal in one goal or both."""
    scores: Floats = random.integers(0, 8, size=(random.integers(1, 40), 2)) / 4.0
    return scores


def test_fronts_are_those_of_deap() -> None:
    """Whatever the scores, each candidate is in the front in which DEAP has it."""
    random = np.random.default_rng(0)
    for _ in range(cases(80)):
        scores = drawn(random)
        pool = [Scored(place, score) for place, score in enumerate(scores.tolist())]
        fronts = tools.sortNondominated(pool, len(pool))
        expected = {each.place: number for number, front in enumerate(fronts) for each in front}

        assert dict(enumerate(ranks(scores).tolist())) == expected


def test_the_first_fronts_survive_and_of_the_last_who_is_alone() -> None:
    """Nobody survives a candidate of an earlier front, or one of the same that DEAP finds less crowded."""
    random = np.random.default_rng(1)
    for _ in range(cases(80)):
        scores = np.unique(drawn(random), axis=0)
        number = int(random.integers(1, len(scores) + 1))
        chosen, fronts = survivors(scores, number).tolist(), ranks(scores)

        assert len(set(chosen)) == number
        assert all(fronts[one] <= fronts[other] for one, other in pairwise(chosen))
        places: list[int] = np.flatnonzero(fronts == fronts[chosen[-1]]).tolist()
        front = [Scored(place, scores[place].tolist()) for place in places]
        tools.emo.assignCrowdingDist(front)
        alone = {each.place: each.fitness.crowding_dist for each in front}
        last = [alone[place] for place in chosen if place in alone]
        assert np.allclose(last, sorted(alone.values(), reverse=True)[: len(last)])
