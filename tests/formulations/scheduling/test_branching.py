"""Branch and bound on windows of completion."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from random import Random

import numpy as np
import pytest

from formulations.scheduling import event_orders
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.branching import Relaxation, Relaxed, WindowSearch
from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.incumbents import KnownLists
from formulations.scheduling.instance import Instance
from formulations.scheduling.lagrangian import LagrangianRelaxation
from formulations.scheduling.lagrangian_kernel import Jobs, PriceSearch, Reach, Reals
from formulations.scheduling.order import best_nearby_plan, event_order
from formulations.scheduling.relaxations import Cuts, Relaxations
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import figure_4, packing, tiny
from tests.unwrap import unwrap


class _Stopping:
    """A relaxation that asks the search to stop after a number of calls, and fails in some of them."""

    def __init__(self, relaxation: Relaxation, best: BestSchedule, most: int, *, fails: float = 0.0) -> None:
        self.relaxation, self.best, self.left, self.fails = relaxation, best, most, fails
        self.random = Random(0)

    def solve(self, windows: Windows, within: Relaxed | None, *, is_stuck: bool) -> Relaxed:
        """Ask to stop if this is the last call, and solve the relaxation."""
        self.left -= 1
        self.best.asked_to_stop = self.left <= 0
        if self.random.random() < self.fails:
            return Relaxed(-inf, windows)
        return self.relaxation.solve(windows, within, is_stuck=is_stuck)


def _priced(best: BestSchedule) -> Relaxation:
    return LagrangianRelaxation(best, Cuts())


#: The two relaxations of windows.
BOTH = pytest.mark.parametrize("relaxed", [Relaxations, _priced])


def _search(
    problem: Scheduling,
    relaxed: Callable[[BestSchedule], Relaxation],
    *,
    most: int,
    improves: bool = True,
    fails: float = 0.0,
) -> tuple[BestSchedule, WindowSearch]:
    """Run the search from a list schedule until it ends, or until `most` relaxations have been solved."""
    best = BestSchedule(problem, Instance.of(problem), Budget(), "test")
    KnownLists(best).serve()

    def suggest(completions: Sequence[float]) -> bool:
        order = event_order(best.instance, completions)
        return improves and best.take(best_nearby_plan(best.instance, order))

    search = WindowSearch(best, _Stopping(relaxed(best), best, most, fails=fails), suggest)
    search.run(Windows.of(best.instance, best.limit, exchange_orders(best.instance)))
    return best, search


def _unimproved(
    seed: int, relaxed: Callable[[BestSchedule], Relaxation], *, fails: float = 0.0
) -> tuple[BestSchedule, float]:
    """Search without improving the first schedule, check the bound, and return the bracket and the optimum."""
    problem = tiny(seed)
    optimum = float(unwrap(event_orders(problem).objective))
    best, _ = _search(problem, relaxed, most=60, improves=False, fails=fails)
    assert best.bound <= optimum * (1 + 1e-9)
    return best, optimum


@BOTH
@pytest.mark.parametrize("seed", range(cases(150)))
def test_no_bound_is_above_the_optimum(seed: int, relaxed: Callable[[BestSchedule], Relaxation]) -> None:
    """Wherever the search stops, its bound is at most the optimum, and few splits close the bracket."""
    problem = tiny(seed)
    optimum = float(unwrap(event_orders(problem).objective))

    for most in (1, Random(seed).randint(2, 9), 200):
        best, search = _search(problem, relaxed, most=most)
        value = best.instance.mean_jct(best.total)
        assert best.bound <= optimum * (1 + 1e-9)
        assert value >= optimum * (1 - 1e-9)
    assert best.closed, search.nodes


@BOTH
def test_a_bad_schedule_is_no_proof(relaxed: Callable[[BestSchedule], Relaxation]) -> None:
    """If the search keeps a schedule that is not optimal, its bound stays at most the optimum."""
    found = [_unimproved(seed, relaxed) for seed in range(cases(100))]
    assert any(best.instance.mean_jct(best.total) > optimum * (1 + 1e-6) for best, optimum in found)


class _Lows:
    """A relaxation whose bound is the sum of the windows' begins, and which splits the longest window."""

    def __init__(self, shortest: float) -> None:
        self.shortest, self.solved = shortest, list[Windows]()

    def solve(self, windows: Windows, _: Relaxed | None, *, is_stuck: bool) -> Relaxed:  # noqa: ARG002
        """Bound the sum, and split the longest window in the middle unless it is too short."""
        self.solved.append(windows)
        lengths = [high - low for low, high in windows.spans]
        job = lengths.index(max(lengths))
        split = (job, sum(windows.spans[job]) / 2) if lengths[job] > self.shortest else None
        return Relaxed(sum(low for low, _ in windows.spans), windows, (), split)


@pytest.mark.parametrize("shortest", [0.0, 0.3])
def test_no_part_of_a_window_is_lost(shortest: float) -> None:
    """Halves make up their windows, and the bound is the least of all windows that have not been split."""
    best = BestSchedule(tiny(0), Instance.of(tiny(0)), Budget(), "test")
    KnownLists(best).serve()
    windows, lows = Windows.of(best.instance, best.limit), _Lows(shortest)
    search = WindowSearch(best, _Stopping(lows, best, 42), lambda _: False)
    lows.shortest *= max(high - low for low, high in windows.spans)
    search.run(windows)

    parts = [each.spans for each in lows.solved[: len(lows.solved) // 2 * 2 - 1]]  # without a last half
    halved = set()
    for one, other in zip(parts[1::2], parts[2::2], strict=True):
        assert all(mine == its or mine[1] == its[0] for mine, its in zip(one, other, strict=True))
        halved.add(tuple((mine[0], its[1]) for mine, its in zip(one, other, strict=True)))
    assert halved <= set(parts)
    least = min(sum(low for low, _ in spans) for spans in set(parts) - halved)
    assert best.lower == pytest.approx(min(least, best.total), rel=1e-12)


def test_a_relaxation_that_fails_proves_nothing() -> None:
    """If the relaxation fails at some nodes, the bound stays at most the optimum, although no node is left."""
    found = [_unimproved(seed, Relaxations, fails=0.3) for seed in range(cases(150))]
    assert not all(best.closed for best, _ in found)


@BOTH
def test_splits_raise_the_bound(relaxed: Callable[[BestSchedule], Relaxation]) -> None:
    """For twelve jobs, forty relaxations leave at most a third of the first gap."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.2, seed=1)
    first, last = (_search(problem, relaxed, most=most)[0].gap for most in (1, 40))
    assert last <= first / 3


@BOTH
def test_cuts_close_what_splits_leave_open(relaxed: Callable[[BestSchedule], Relaxation]) -> None:
    """Where areas and groups of GPUs allow more than configurations do, the search still proves the optimum."""
    for problem in packing(), figure_4():
        best, _ = _search(problem, relaxed, most=200)
        optimum = float(unwrap(event_orders(problem).objective))
        assert best.closed
        assert best.instance.mean_jct(best.total) == pytest.approx(optimum, rel=1e-6)


def test_solutions_are_examined_less_often_while_they_call_for_no_cut() -> None:
    """After a new cut, the next solution is examined; without one, 1, 3, 7, ... solutions are skipped."""
    cuts, examined = Cuts(), list[int]()

    def find(number: int) -> list[dict[tuple[int, int], float]]:
        examined.append(number)
        return [{(0, 0): float(number)}] if number in {0, 1, 4} else []

    new = [number for number in range(20) if cuts.learn(partial(find, number))]
    assert (examined, new, len(cuts.prices)) == ([0, 1, 2, 4, 5, 7, 11, 19], [0, 1, 4], 3)


@pytest.mark.parametrize("more", [0.9, 1.1])
def test_only_what_exceeds_the_limit_is_ruled_out(monkeypatch: pytest.MonkeyPatch, more: float) -> None:
    """A window loses an outer bucket only if completing there raises the bound above the limit."""
    job = ElasticJob(name="a", release=0, work=1, rates={1: 1.0})
    problem = Scheduling(gpus=1, jobs=[job])
    best = BestSchedule(problem, Instance.of(problem), Budget(), "test")
    KnownLists(best).serve()
    bound = best.goal - 0.1
    cost = np.array([[2 + more * (best.limit - bound), 2.0, 2 + more * (best.limit - bound), 2 + 9.0]])

    def climb(_jobs: Jobs, _reach: Reach, _times: Reals, search: PriceSearch, *_: object) -> float:
        search.cost[:] = cost
        search.chosen[:] = [[0.0, 1.0, 0.0, 0.0]]
        return bound

    monkeypatch.setattr("formulations.scheduling.lagrangian.climb", climb)
    relaxation, times = LagrangianRelaxation(best, Cuts()), np.arange(5.0)
    found = relaxation._climb(Windows(((0.0, 4.0),)), times, None, 1, learns=False)  # noqa: SLF001
    assert found.windows.spans == ((0.0, 3.0) if more < 1 else (1.0, 2.0),)
