"""The change that gains most per GPU."""

from heuristics.configuration import greedy
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


def test_what_it_misses() -> None:
    """It takes one GPU at a time, where the optimum skips a step: a reason to solve exactly."""
    first, second = job("first", 1.0, 4.0, 4.0), job("second", 4.0, 4.5, 16.0)
    problem = node(4, first, second)
    found, best = greedy(problem).objective, oracle.optimum(problem)
    assert found is not None
    assert found >= best
