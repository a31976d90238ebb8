"""The heuristics of the package, all of them."""

from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.problem import Problem
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import heuristics, load, names
from gsopt.problems.placement import Placement
from gsopt.testing import brute_force
from heuristics.placement import best_fit_decreasing, first_fit, worst_fit
from tests.effort import cases
from tests.strategies.placement import placements

VARIANTS: tuple[tuple[Any, dict[str, Any]], ...] = (
    *((method, {}) for method in heuristics("placement").values()),
    (best_fit_decreasing, {"order": "sum"}),
    (best_fit_decreasing, {"order": "max"}),
    (first_fit, {"decreasing": True}),
    (worst_fit, {"spread": False}),
)
IDS = [method.__name__ + "".join(f"-{value}" for value in options.values()) for method, options in VARIANTS]


def test_the_packages_methods() -> None:
    """The decision offers these heuristics, each by the name of its function."""
    found = heuristics("placement")
    assert list(found) == ["first_fit", "best_fit_decreasing", "best_of_three", "worst_fit"]
    assert all(name == method.__name__ for name, method in found.items())


@pytest.mark.parametrize(("method", "options"), VARIANTS, ids=IDS)
def test_the_small_suite(method: Any, options: dict[str, Any]) -> None:
    """On every committed small instance a solution is feasible, and none is better than the optimum."""
    for name in names("placement/small/"):
        problem: Problem[Any] = load(name)
        best = brute_force(problem)
        found = method(problem, **options)
        assert found.objective is None or (best is not None and best[0] <= found.objective), name


@given(placements())
@settings(deadline=None, max_examples=cases(60))
def test_random_instances(problem: Placement) -> None:
    """Every heuristic places all workers by the rules, or says how many stay behind and proves nothing."""
    best = brute_force(problem)
    for method, options in VARIANTS:
        found = method(problem, **options)
        if found.objective is not None:
            assert best is not None
            assert best[0] <= found.objective
        elif problem.misfit:
            assert (found.status, found.message) == (Status.INFEASIBLE, problem.misfit)
        else:
            workers = sum(line.count for line in problem.workers)
            assert found.status is Status.UNKNOWN
            assert found.message.endswith(f" of {workers} workers stay unplaced")


@pytest.mark.parametrize(("method", "options"), VARIANTS, ids=IDS)
def test_a_worker_that_fits_nowhere_is_named(method: Any, options: dict[str, Any]) -> None:
    """Every heuristic reports infeasible and the first worker that is larger than any server."""
    result = method(load("placement/small/too-large-a-worker"), **options)

    assert (result.status, result.solution) == (Status.INFEASIBLE, None)
    assert result.message == "workers[1] of job j2 (8 GPU, 0 CPU, 0 memory) fits on no server"


@pytest.mark.parametrize(("method", "options"), VARIANTS, ids=IDS)
def test_workers_that_find_no_server_are_counted(method: Any, options: dict[str, Any]) -> None:
    """Where not all workers find a server the message counts those who stay behind."""
    result = method(load("placement/small/too-many-workers"), **options)

    assert (result.status, result.solution) == (Status.UNKNOWN, None)
    assert result.message == "1 of 3 workers stay unplaced"


@pytest.mark.parametrize(("method", "options"), VARIANTS, ids=IDS)
def test_nothing_to_place(method: Any, options: dict[str, Any]) -> None:
    """Without workers the placement is empty."""
    result = method(load("placement/small/no-workers"), **options)

    assert result.objective == 1
    assert result.solution.placed == ()
