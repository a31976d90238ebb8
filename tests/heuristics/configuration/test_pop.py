"""POP for configurations: parts solved apart, held against all choices of each part."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from formulations.configuration import exact
from gsopt.core.budget import Budget
from gsopt.core.method import NoSolution
from gsopt.problems.configuration import Configuration
from heuristics.configuration import greedy, pop
from instances.configuration import growing_jobs
from tests.effort import cases
from tests.exactness import configuration as oracle
from tests.heuristics.results import solved, value
from tests.refusals import refused
from tests.strategies.configuration import chosen, committed, job, node, tiny


def by_the_text(problem: Configuration, parts: int, seed: int) -> Fraction:
    """Try all choices of each part: jobs are dealt from a shuffled pack, GPUs divided and rounded down."""
    pack = [place for place, each in enumerate(problem.jobs) if not each.pinned]
    Random(seed).shuffle(pack)
    held = Counter[str]()
    for each in problem.jobs:
        if each.pinned and each.current is not None:
            shape = problem.configurations[each.current]
            held[shape.type] += shape.gpus
    gpus = {kind: (count - held[kind]) // parts for kind, count in problem.gpus.items()}
    pinned = [each for each in problem.jobs if each.pinned]
    found = oracle.optimum(problem.model_copy(update={"jobs": tuple(pinned)}))
    for part in range(min(parts, len(pack))):
        own = tuple(problem.jobs[place] for place in pack[part::parts])
        found += oracle.optimum(problem.model_copy(update={"jobs": own, "gpus": gpus}))
    return found


def test_parts_are_as_good_as_they_can_be() -> None:
    """With hard numbers the value is the sum of the best values of all parts, and never beats the optimum."""
    for seed in range(cases(300)):
        problem = tiny(seed)
        best = oracle.optimum(problem)
        for parts in (1, 2, 3, 9):
            found = value(pop(problem, parts=parts, seed=seed))
            assert found == by_the_text(problem, parts, seed), (seed, parts)
            assert found >= best, (seed, parts)


@pytest.mark.parametrize("problem", committed(), ids=lambda problem: problem.name)
def test_one_part_is_the_whole(problem: Configuration) -> None:
    """One part is as good as the optimum."""
    assert value(pop(problem, parts=1)) == value(exact(problem))


def test_gpus_that_no_part_has_stay_idle() -> None:
    """Of five GPUs two parts have two each."""
    jobs = [job(name, 1.0, 1.9, 3.0) for name in "ab"]
    assert solved(pop(node(5, *jobs), parts=2)) == chosen(a=1, b=1)


def test_parts_without_gpus_run_nothing() -> None:
    """Where parts are more than GPUs, no job that is not pinned runs."""
    pinned = job("a", 1.0, 1.9, 3.0, current=1, pinned=True)
    assert solved(pop(node(4, pinned, job("b", 1.0, 2.0, 4.0)), parts=3)) == chosen(a=1)


def test_a_restart_is_charged_for_what_does_not_fit() -> None:
    """A job that cannot keep its GPUs still pays for its restart."""
    large = job("a", 1.0, 1.1, 1.2, current=2, restart_factor=0.1)
    assert solved(pop(node(4, large, job("b", 1.0, 1.1, 1.2)), parts=2)) == chosen(b=1)  # 1.1 is cheaper


def test_names_do_not_matter() -> None:
    """Jobs with other names get the same configurations."""
    problem = growing_jobs(nodes=4, jobs=12, seed=3)
    renamed = [each.model_copy(update={"name": f"z{-place}"}) for place, each in enumerate(problem.jobs)]
    other = problem.model_copy(update={"jobs": tuple(renamed)})
    for seed in range(5):
        first, second = (solved(pop(each, parts=3, seed=seed)) for each in (problem, other))
        assert problem.places(first) == other.places(second)


def test_seeds_draw_other_parts() -> None:
    """Different seeds lead to different values."""
    problem = growing_jobs(nodes=4, jobs=12, seed=3)
    assert len({value(pop(problem, parts=4, seed=seed)) for seed in range(10)}) > 1


def test_time_that_is_over_leaves_what_is_current() -> None:
    """Without any time there is a solution nevertheless."""
    problem = growing_jobs(nodes=8, jobs=24, seed=1)
    assert pop(problem, parts=4, budget=Budget(time_limit=0)).solution is not None


def test_parts_are_solved_by_any_method() -> None:
    """One part by another method is that method's answer; parts without an answer get nothing."""
    problem = growing_jobs(nodes=4, jobs=12, seed=3)
    assert value(pop(problem, parts=1, solver="greedy")) == value(greedy(problem))
    assert solved(pop(problem, solver=lambda _: NoSolution("none"))).configurations == {}


def test_options_are_checked() -> None:
    """An unknown method, and numbers that count nothing, are refused in a line."""
    problem = node(4, job("a", 1.0, 1.9, 3.0))
    with refused("must be an integer, at least 1", start="parts: 0: "):
        pop(problem, parts=0)
    with refused("must be an integer", start="seed: "):
        pop(problem, seed=1.5)  # type: ignore[arg-type]
    with refused("best", start="solver: "):
        pop(problem, solver="best")
