"""The techniques one after the other: which one ends a search, what stops it, what is left then."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from formulations.reclaiming import search as module
from formulations.reclaiming.growth import grown
from formulations.reclaiming.reduced import point
from formulations.reclaiming.reduction import Reduction, reduce
from formulations.reclaiming.search import ReclaimingSearch, SearchResult, part
from gsopt.core.budget import Budget
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.reclaiming import Reclaiming
from gsopt.solvers.backends import Backend, Highs, Incumbent, Outcome
from gsopt.solvers.standard_form import StandardForm
from instances.reclaiming import churn, server_uniform
from tests.strategies.reclaiming import figure_5

HARD = reduce(server_uniform(servers=60, jobs=60, degree=5, demand=18)).net()
CORE = reduce(churn(mode="worker", seed=1, demand=120, weighted=True)).net()


@dataclass(frozen=True)
class Told:
    """A solver that answers what it is told, and notes what it is asked."""

    outcome: Outcome
    asked: list[dict[str, Any]] = field(default_factory=list)
    name: str = "told"

    def solve(self, form: StandardForm, **options: Any) -> Outcome:
        """Answer."""
        self.asked.append({"form": form, **options})
        return self.outcome


def stopped(stopped_by: StoppedBy, bound: float | None = None) -> Outcome:
    """Return the outcome of a solver that found nothing."""
    return Outcome(Status.UNKNOWN, None, None, bound, stopped_by, "told")


def run(reduction: Reduction, width: int = 12, **options: Any) -> SearchResult:
    """Search with the options of a budget."""
    return ReclaimingSearch(reduction, Budget(**options), width=width).run()


@pytest.mark.parametrize(
    ("problem", "width", "message", "solver"),
    [
        (figure_5(demand=2), 12, "decomposition", "decomposition"),
        (figure_5(demand=2), -1, "hull and rounding", "hull"),
        (churn(mode="worker", seed=1, demand=60), 12, "hull and rounding", "hull"),
        (
            churn(mode="worker", seed=1, demand=120, weighted=True),
            12,
            "hull and decomposition of the core",
            "hull",
        ),
        (
            server_uniform(servers=20, jobs=15, degree=3, demand=6),
            -1,
            "hull and cp-sat on the core",
            "cp-sat",
        ),
    ],
)
def test_the_message_names_the_technique(problem: Reclaiming, width: int, message: str, solver: str) -> None:
    """Each technique ends the search where it can, with value and bound equal, and is named."""
    reduction = reduce(problem).net()
    answer = run(reduction, width)

    assert (message, solver, StoppedBy.FINISHED) == (answer.message, answer.solver, answer.stopped_by)
    assert reduction.value(answer.counts) == answer.bound


@pytest.mark.parametrize("stopped_by", [StoppedBy.TIME_LIMIT, StoppedBy.INTERRUPT, StoppedBy.CRASH])
@pytest.mark.parametrize(("bound", "expected"), [(None, 18), (17.5, 18), (20.2, 21), (99.0, None)])
def test_a_stopped_solver_leaves_value_and_bound(
    stopped_by: StoppedBy, bound: float | None, expected: int | None
) -> None:
    """Whatever stops the solver, there is a choice and the better of two bounds, never above the value."""
    answer = run(HARD, backend=Told(stopped(stopped_by, bound)))
    value = HARD.value(answer.counts)

    assert (expected or value) == answer.bound
    assert (stopped_by if answer.bound < value else StoppedBy.FINISHED) is answer.stopped_by


def test_the_better_of_two_choices_is_kept() -> None:
    """A solver's point that is worse than what is known does not replace it."""
    nothing = Told(stopped(StoppedBy.TIME_LIMIT))
    known = run(HARD, backend=nothing)
    form = nothing.asked[0]["form"]
    point = np.zeros(len(form.columns))
    point[[form.columns.index(f"returned[{group}]") for group in range(HARD.demand)]] = 1.0
    worse = Told(Outcome(Status.FEASIBLE, point, None, None, StoppedBy.TIME_LIMIT, "told"))

    assert HARD.value(known.counts) == HARD.value(run(HARD, backend=worse).counts)


def test_options_reach_the_solver() -> None:
    """Gap, time limit, log and the best choice are handed to the solver of the mixed-integer program."""
    solver = Told(stopped(StoppedBy.TIME_LIMIT))
    answer = run(HARD, backend=solver, gap=0.125, time_limit=60, log=True)
    (asked,) = solver.asked

    assert (asked["gap"], asked["log"]) == (0.125, True)
    assert 0 < asked["time_limit"] <= 60
    assert asked["form"].is_feasible(asked["start"])
    assert HARD.value(answer.counts) == asked["form"].objective(asked["start"])


def test_a_gap_that_is_met_early_stops_early() -> None:
    """No solver of mixed-integer programs is asked once value and bound are close enough."""
    answer = run(CORE, gap=0.5, width=-1, backend=Told(stopped(StoppedBy.CRASH)))

    assert (answer.stopped_by, answer.message) == (StoppedBy.GAP, "hull and rounding")
    assert 0 < answer.bound < CORE.value(answer.counts) <= 1.5 * answer.bound


def test_a_weak_bound_is_called_weak_by_nature() -> None:
    """Where the hull is a straight line and value and bound do not meet, the message says so."""
    answer = run(HARD, backend=Told(stopped(StoppedBy.TIME_LIMIT)))

    assert "weak by nature: the hull is straight over 97% of the servers" in answer.message


@pytest.mark.parametrize("reduction", [HARD, CORE])
@pytest.mark.parametrize("grace", [0.0, 0.25])
def test_without_time_there_is_a_choice_and_a_bound(
    reduction: Reduction, grace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget that has passed, with grace and without, leaves a choice, a bound above 0, and the reason."""
    monkeypatch.setattr(module, "_GRACE", grace)
    answer = run(reduction, time_limit=0.0)

    assert sum(answer.counts) == reduction.demand
    assert 0 < answer.bound <= reduction.value(answer.counts)
    assert answer.stopped_by is StoppedBy.TIME_LIMIT


def test_the_first_choice_has_a_moment_of_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choice and bound may take a quarter of a second more than the limit, so that they are worth having."""
    limits: list[float | None] = []

    def noted(reduction: Reduction, budget: Budget) -> list[int]:
        limits.append(budget.time_limit)
        return grown(reduction, budget)

    monkeypatch.setattr(module, "grown", noted)
    for time_limit in (0.0, None):
        run(HARD, time_limit=time_limit, backend=Told(stopped(StoppedBy.TIME_LIMIT)))

    assert limits == [0.25, None]


def test_a_value_of_0_is_no_gap_of_0() -> None:
    """Relative to a value of 0 there is no gap, so nothing counts as met before the bound is 0 too."""
    solver = Told(stopped(StoppedBy.TIME_LIMIT))
    value = HARD.value(run(HARD, backend=solver).counts)
    solver.asked.clear()
    run(replace(HARD, base=-value), backend=solver)

    assert len(solver.asked) == 1


def test_a_known_choice_is_not_lost() -> None:
    """A known choice that is better than all that is found without time is the answer."""
    best = run(HARD, backend=Highs(), time_limit=60.0, gap=1.0).counts
    kept = ReclaimingSearch(HARD, Budget(time_limit=0.0), width=12).run(best)

    assert HARD.value(best) == HARD.value(kept.counts)


@pytest.mark.parametrize("after", [1, 2])
def test_true_ends_the_search(after: int) -> None:
    """The caller hears of falling values and rising bounds, and ends the search by True."""
    heard: list[tuple[int, int]] = []

    def hear(counts: list[int], bound: int) -> bool:
        heard.append((HARD.value(counts), bound))
        return len(heard) == after

    answer = ReclaimingSearch(HARD, Budget(), width=12, on_better=hear).run()
    values = [value for value, _ in heard]

    assert (after, StoppedBy.INTERRUPT) == (len(heard), answer.stopped_by)
    assert values == sorted(values, reverse=True)
    assert all(0 < bound <= value for value, bound in heard)


def test_incumbents_of_the_solver_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A better point of the mixed-integer program reaches the caller as counts, and True stops the solver."""
    best = run(HARD, backend=Told(stopped(StoppedBy.TIME_LIMIT))).counts
    monkeypatch.setattr(module, "improved", lambda *_, **__: None)
    heard: list[list[int]] = []

    class Finds(Told):
        def solve(self, form: StandardForm, **options: Any) -> Outcome:
            better = Incumbent(point(HARD, best), form.objective(point(HARD, best)), 19.0, 0.0)
            self.asked.append({"stop": options["on_incumbent"](better)})
            return stopped(StoppedBy.INTERRUPT, 19.0)

    def hear(counts: list[int], _: int) -> bool:
        heard.append(counts)
        return counts == best

    solver = Finds(stopped(StoppedBy.INTERRUPT))
    answer = ReclaimingSearch(HARD, Budget(backend=solver), width=12, on_better=hear).run()

    assert (best, best, 19) == (heard[-1], answer.counts, answer.bound)
    assert solver.asked == [{"stop": True}]


@pytest.mark.parametrize("technique", ["improved", "optimize"])
def test_an_interrupt_leaves_what_is_known(technique: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of the search gives the best choice and bound until then."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, technique, interrupted)
    answer = run(HARD)

    assert (answer.stopped_by, answer.bound) == (StoppedBy.INTERRUPT, 18)
    assert sum(answer.counts) == HARD.demand


def test_an_interrupt_before_the_first_choice_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while nothing is known yet is the caller's."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "hull", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(HARD)


def test_large_programs_are_left_to_the_local_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a time limit no solver is asked for a program that it could only begin to read."""
    monkeypatch.setattr(module, "_PROGRAM", 100)
    solver = Told(stopped(StoppedBy.CRASH))
    answer = run(HARD, time_limit=0.5, backend=solver)

    assert solver.asked == []
    assert answer.stopped_by is StoppedBy.TIME_LIMIT


@pytest.mark.parametrize("backend", [None, Highs()])
def test_both_solvers_close_a_small_core(backend: Backend | None) -> None:
    """What neither rounding nor tables nor local search can prove the solvers can."""
    reduction = reduce(server_uniform(servers=30, jobs=30, degree=3, demand=10, seed=1)).net()
    answer = run(reduction, -1, backend=backend)

    assert reduction.value(answer.counts) == answer.bound


def test_a_part_of_the_time_is_a_part_of_what_is_left() -> None:
    """A part of a budget ends within it; without a limit there is none."""
    halved = part(Budget(time_limit=100.0), 0.5)

    assert part(Budget(), 0.5).time_limit is None
    assert halved.time_limit is not None
    assert 50 <= halved.time_limit <= 51
