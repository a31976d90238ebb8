"""The change that gains most per GPU."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from gsopt.core.numbers.grid import decimal
from gsopt.problems.configuration import Configuration, ConfigurationSolution
from heuristics.configuration import greedy
from heuristics.configuration.greedy import _ConfigurationState
from tests.effort import cases
from tests.exactness import configuration as oracle
from tests.strategies.configuration import chosen, job, node, tiny


def test_no_rule_is_broken_and_no_optimum_beaten() -> None:
    """On instances with hard numbers it breaks no rule and beats no optimum."""
    for seed in range(cases(300)):
        problem = tiny(seed)
        found = greedy(problem).objective
        assert found is not None, seed
        assert found >= oracle.optimum(problem), seed


def test_gpus_go_where_they_gain_most() -> None:
    """All are served first; then the job with the steeper goodput grows."""
    flat, steep = job("flat", 1.0, 1.1, 1.2), job("steep", 1.0, 2.0, 4.0)
    assert greedy(node(3, flat, steep)).solution == chosen(flat=0, steep=1)


def test_pinned_jobs_keep_theirs() -> None:
    """A pinned job neither grows nor gives anything."""
    pinned = job("a", 1.0, 1.1, 9.0, current=1, pinned=True)
    assert greedy(node(4, pinned, job("b", 1.0, 2.0, 4.0))).solution == chosen(a=1, b=1)


def by_the_rule(problem: Configuration) -> ConfigurationSolution:
    """Make the change of the most gain per GPU, listed anew in fractions each time."""
    has = [each.current if each.pinned else None for each in problem.jobs]
    gone: set[tuple[int, int | None, int]] = set()  # changes that found no GPUs are not asked again
    while True:
        found = [change for number in range(len(has)) for change in changes_of(problem, has, number, gone)]
        if not found:
            named = zip(problem.jobs, has, strict=True)
            chosen = {each.name: place for each, place in named if place is not None}
            return ConfigurationSolution(configurations=chosen)
        _, number, place = min(found)
        has[number] = place


def changes_of(
    problem: Configuration, has: list[int | None], number: int, gone: set[tuple[int, int | None, int]]
) -> Iterator[tuple[float, int, int]]:
    """List the changes of a job for which there are GPUs, and note the others."""
    shapes, before = problem.configurations, has[number]
    others = [shapes[place] for each, place in enumerate(has) if place is not None and each != number]
    own = 0 if before is None else shapes[before].gpus
    cost = decimal(problem.penalty) if before is None else problem.costs[number][before]
    for place, after in problem.costs[number].items():
        used = sum(shape.gpus for shape in others if shape.type == shapes[place].type)
        is_gain = shapes[place].gpus > own and cost > after and not problem.jobs[number].pinned
        if used + shapes[place].gpus > problem.gpus[shapes[place].type]:
            gone.update([(number, before, place)] * is_gain)
        elif is_gain and (number, before, place) not in gone:
            yield -float(Fraction(cost - after) / (shapes[place].gpus - own)), number, place


def test_its_changes_are_those_of_the_rule() -> None:
    """Counting in whole numbers, and looking at one change only, makes the same changes."""
    for seed in range(cases(300)):
        problem = tiny(seed)
        assert greedy(problem).solution == by_the_rule(problem), seed


def test_changes_of_a_job_are_listed_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All changes of a job are listed once, and once more for each that it makes."""
    listed: list[int] = []
    changes = _ConfigurationState.changes

    def counted(state: _ConfigurationState, number: int) -> list[Any]:
        listed.append(number)
        return changes(state, number)

    monkeypatch.setattr(_ConfigurationState, "changes", counted)
    jobs = [job(f"j{each}", 9.0, 9.1, 9.2) for each in range(30)]
    assert greedy(node(30, *jobs)).solution is not None
    assert sorted(listed) == sorted([*range(30), *range(30)])
