"""Branch and bound on windows of completion."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from formulations.common.probing import Finding, probe
from formulations.scheduling import event_orders
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.branching import WindowSearch
from formulations.scheduling.bucket import BucketModel, Reals
from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.incumbents import KnownLists
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import best_nearby_plan, event_order
from formulations.scheduling.relaxations import Relaxations
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.problems.scheduling import Scheduling
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import figure_4, packing, tiny
from tests.unwrap import unwrap


class _Stopping(Relaxations):
    """Relaxations after a number of which the search is asked to stop."""

    def __init__(self, best: BestSchedule, most: int) -> None:
        super().__init__(best)
        self.left = most

    def model(self, windows: Windows, size: int) -> BucketModel:
        """Return a relaxation, and ask to stop if it is the last one."""
        self.left -= 1
        self.best.asked_to_stop = self.left <= 0
        return super().model(windows, size)


def _search(problem: Scheduling, *, most: int, improves: bool = True) -> tuple[BestSchedule, WindowSearch]:
    """Run the search from a list schedule until it ends, or until `most` relaxations have been solved."""
    best = BestSchedule(problem, Instance.of(problem), Budget(), "test")
    KnownLists(best).serve()

    def suggest(completions: Sequence[float]) -> None:
        if improves:
            best.take(best_nearby_plan(best.instance, event_order(best.instance, completions)))

    search = WindowSearch(best, _Stopping(best, most), suggest)
    search.run(Windows.of(best.instance, best.limit, exchange_orders(best.instance)))
    return best, search


def _unimproved(seed: int) -> tuple[BestSchedule, float]:
    """Search without improving the first schedule, check the bound, and return the bracket and the optimum."""
    problem = tiny(seed)
    optimum = float(unwrap(event_orders(problem).objective))
    best, _ = _search(problem, most=60, improves=False)
    assert best.bound <= optimum * (1 + 1e-9)
    return best, optimum


@pytest.mark.parametrize("seed", range(cases(150)))
def test_no_bound_is_above_the_optimum(seed: int) -> None:
    """Wherever the search stops, its bound is at most the optimum, and few splits close the bracket."""
    problem = tiny(seed)
    optimum = float(unwrap(event_orders(problem).objective))

    for most in (1, Random(seed).randint(2, 9), 200):
        best, search = _search(problem, most=most)
        value = best.instance.mean_jct(best.total)
        assert best.bound <= optimum * (1 + 1e-9)
        assert value >= optimum * (1 - 1e-9)
    assert best.closed, search.nodes


def test_a_bad_schedule_is_no_proof() -> None:
    """If the search keeps a schedule that is not optimal, its bound stays at most the optimum."""
    found = [_unimproved(seed) for seed in range(cases(100))]
    assert any(best.instance.mean_jct(best.total) > optimum * (1 + 1e-6) for best, optimum in found)


def test_a_relaxation_that_fails_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the solver fails at some nodes, the bound stays at most the optimum, although no node is left."""
    answers = Random(0)

    def failing(*given: Any, **options: Any) -> Finding | None:
        return None if answers.random() < 0.3 else probe(*given, **options)

    monkeypatch.setattr("formulations.scheduling.branching.probe", failing)
    assert not all(_unimproved(seed)[0].closed for seed in range(cases(150)))


def test_splits_raise_the_bound() -> None:
    """For twelve jobs, forty relaxations leave at most a third of the first gap."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.2, seed=1)
    first, last = (_search(problem, most=most)[0].gap for most in (1, 40))
    assert last <= first / 3


def test_cuts_close_what_splits_leave_open() -> None:
    """Where areas and groups of GPUs allow more than configurations do, the search still proves the optimum."""
    for problem in packing(), figure_4():
        best, _ = _search(problem, most=200)
        optimum = float(unwrap(event_orders(problem).objective))
        assert best.closed
        assert best.instance.mean_jct(best.total) == pytest.approx(optimum, rel=1e-6)


def test_solutions_are_examined_less_often_while_they_call_for_no_cut() -> None:
    """After a new cut, the next solution is examined; without one, 1, 3, 7, ... solutions are skipped."""
    problem, examined = tiny(0), list[int]()
    best = BestSchedule(problem, Instance.of(problem), Budget(), "test")
    relaxations = Relaxations(best)

    def overfull(_model: BucketModel, values: Reals) -> list[dict[tuple[int, int], float]]:
        examined.append(int(values[0]))
        return [{(0, 0): values[0]}] if values[0] in {0, 1, 4} else []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BucketModel, "overfull", overfull)
        model = relaxations.model(Windows.of(best.instance, 1e9), 100)
        for number in range(20):
            relaxations.learn(model, np.array([float(number)]))
    assert examined == [0, 1, 2, 4, 5, 7, 11, 19]
    assert len(relaxations.cuts) == 3
