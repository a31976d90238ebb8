"""Matchings: the sum of the values of their pairs is the largest that there is."""

from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pytest

from gsopt.core.numbers.tolerances import SUM
from heuristics.policies.gandiva.matching import best_matching
from tests.effort import cases

Values = Any  # a symmetric matrix


def _worth(values: Values, pairs: list[tuple[int, int]]) -> float:
    jobs = [job for pair in pairs for job in pair]
    assert len(set(jobs)) == len(jobs)
    assert all(one < other and values[one, other] > 0 for one, other in pairs)
    return float(sum(values[pair] for pair in pairs))


def _best(values: Values) -> float:
    """Return the sum of a maximum weight matching of all pairs."""
    graph = nx.Graph()
    for one, other in zip(*np.nonzero(np.triu(values, 1) > 0), strict=True):
        graph.add_edge(one, other, weight=values[one, other])
    return float(sum(values[pair] for pair in nx.max_weight_matching(graph)))


def _tiny(random: Random) -> Values:
    """Draw values of few jobs, some of them worth nothing together, with many ties or none."""
    size = random.randint(1, 9)
    digits = random.choice([0, 15])
    return _symmetric([[round(random.uniform(-2, 3), digits) for _ in range(size)] for _ in range(size)])


def _alike(random: Random, size: int, kinds: int) -> Values:
    """Draw values of jobs of some kinds."""
    values = _symmetric([[random.uniform(-0.5, 1.0) for _ in range(kinds)] for _ in range(kinds)])
    of = [random.randrange(kinds) for _ in range(size)]
    return values[np.ix_(of, of)]


def _symmetric(rows: list[list[float]]) -> Values:
    values = np.array(rows, dtype=float)
    return np.triu(values) + np.triu(values, 1).T


def test_it_is_the_best_of_few_jobs() -> None:
    """The sum is that of a maximum weight matching of all pairs."""
    random = Random(11)
    for _ in range(cases(500)):
        values = _tiny(random)
        assert _worth(values, best_matching(values)) == pytest.approx(_best(values), rel=SUM)


@pytest.mark.parametrize(("size", "kinds"), [(40, 5), (41, 5), (41, 41)])
def test_it_is_the_best_of_many_jobs(size: int, kinds: int) -> None:
    """So it is where many jobs are alike, where all differ, and where one has to be left out."""
    values = _alike(Random(size + kinds), size, kinds)
    assert _worth(values, best_matching(values)) == pytest.approx(_best(values), rel=SUM)


@pytest.mark.parametrize("seed", [13, 71, 73])
def test_prices_bound_what_pairs_are_worth(seed: int) -> None:
    """So it is where some jobs are worth much with anybody: no pair seems cheap that is not."""
    random = Random(seed)
    own = [random.uniform(0, 3) for _ in range(12)]
    values = _symmetric([[one + other + random.uniform(0, 0.3) for other in own] for one in own])
    assert _worth(values, best_matching(values)) == pytest.approx(_best(values), rel=SUM)


def test_odd_ones_are_looked_at_twice() -> None:
    """Two groups of three, whose bound no matching reaches, are joined by a pair that costs what is missing."""
    values = np.full((6, 6), 0.0)
    values[:3, :3] = values[3:, 3:] = 10.0
    values[2, 3] = values[3, 2] = 1.0
    assert _worth(values, best_matching(values)) == 21.0


@pytest.mark.parametrize("values", [[], [[3]], [[0, 0], [0, 0]], [[1, -1], [-1, 1]]])
def test_nobody(values: list[list[float]]) -> None:
    """Without two jobs that are worth something together there are no pairs."""
    assert best_matching(values) == []
