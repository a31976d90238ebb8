"""Aryl's two phases over time."""

from random import Random

import pytest

import gsopt
from formulations.scheduling import resizing
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.scheduling import Scheduling
from heuristics.scheduling.two_phase import two_phase
from tests.effort import cases
from tests.exactness.resizing import draw, elastic, optimum
from tests.heuristics.results import value
from tests.strategies.scheduling import tiny


def test_worst_case() -> None:
    """A job that seems short holds 60 of 64 GPUs while four jobs of a second each crawl: 315 s, not 77."""
    crawling = [elastic(f"b{index}", 64, 1, 64) for index in range(4)]
    problem = Scheduling(gpus=64, jobs=[elastic("A", 60 * 63, 60, 60), *crawling], preemptive=False)
    best = resizing(problem)

    assert 5 * float(two_phase(problem).objective or 0) == pytest.approx(315, rel=0.002)
    assert best.status is Status.OPTIMAL
    assert 5 * float(best.objective or 0) == pytest.approx(77)


def test_never_preempts_and_never_beats_the_optimum() -> None:
    """Schedules are legal without preemption, and no better than the optimum over all orders of events."""
    for seed in range(cases(15)):
        problem = draw(Random(seed), 3)
        found = value(two_phase(problem))
        assert optimum(problem) <= float(found) + problem.resolution(found)


def test_it_is_found_by_its_name() -> None:
    """A comparison has it where jobs must not be preempted, and says that it does not apply where they may."""
    problem = Scheduling(gpus=8, jobs=[elastic("A", 300, 2, 3), elastic("B", 120, 2, 6)], preemptive=False)

    assert gsopt.solve(problem, method="two_phase").objective == pytest.approx(62)
    with pytest.raises(Unsupported, match="must not allow preemption"):
        two_phase(problem.model_copy(update={"preemptive": True}))


def test_release_dates_and_menus() -> None:
    """Jobs that arrive one by one, with any menu, all complete without being preempted."""
    for seed in range(cases(60)):
        problem = tiny(seed).model_copy(update={"preemptive": False})
        assert two_phase(problem).objective is not None
