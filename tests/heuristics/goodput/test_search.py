"""Generations of candidates."""

from itertools import pairwise
from typing import Any

import numpy as np

from gsopt.core.budget import Budget
from gsopt.problems.goodput import Goodput
from heuristics.goodput.search import search
from heuristics.goodput.table import Counts, SpeedupTable
from instances.goodput import running_jobs
from tests.effort import cases
from tests.strategies.goodput import tiny

SEARCH: dict[str, Any] = {"population": 12, "generations": 6, "most_nodes": 16, "budget": Budget()}


def found(problem: Goodput, start: Counts | None = None, **options: Any) -> Counts:
    """Search a problem with seed 0."""
    table = SpeedupTable.of(problem)
    begin = table.current[None] if start is None else start
    return search(table, begin, np.random.default_rng(0), **{**SEARCH, **options})


def fitness(problem: Goodput, candidate: Counts) -> float:
    """Return the fitness that the judge sees."""
    return problem.measures(SpeedupTable.of(problem).solution(candidate))["fitness"]  # type: ignore[return-value]


def test_all_that_is_found_obeys_the_rules() -> None:
    """Every candidate on the front is a solution, the fittest first; in the other goal they get better."""
    for seed in range(cases(60)):
        problem = tiny(seed)
        table = SpeedupTable.of(problem)
        if not table.current.size:
            continue
        front = found(problem)
        uses = [table.speedup(each).sum() / max((each.sum(axis=0) > 0) @ problem.nodes, 1) for each in front]

        assert [problem.violations(table.solution(each)) for each in front] == [[]] * len(front)
        assert all(fitness(problem, one) >= fitness(problem, other) for one, other in pairwise(front))
        assert all(one <= other for one, other in pairwise(uses))


def test_a_search_goes_on_from_where_another_ended() -> None:
    """Begun with the front of an earlier search, one is no less fit, and without any time finds that front."""
    for seed in range(cases(8)):
        problem = running_jobs(nodes=4, jobs=8, seed=seed)
        first = found(problem)
        again = found(problem, first, generations=0)

        assert (again == first).all()
        assert fitness(problem, found(problem, first)[0]) >= fitness(problem, first[0])


def test_what_it_began_with_is_left_as_it_was() -> None:
    """The candidates that a search is given are not changed by it."""
    problem = running_jobs(nodes=4, jobs=6, seed=3)
    start = SpeedupTable.of(problem).current[None]
    before = start.copy()
    found(problem, start)

    assert (start == before).all()
