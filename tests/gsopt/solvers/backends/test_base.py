"""Backends: what every solver must do alike."""

import os
import signal
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import BrokenModel, Contradiction, GsoptError, InvalidInput, MissingSolver, Unsupported
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy, is_within
from gsopt.solvers.backends import Backend, CpSat, Highs, Incumbent, Scip
from gsopt.solvers.backends.base import Answer, Ending, Solver
from gsopt.solvers.backends.process import POOL, Reply
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import check_backend
from tests.effort import cases
from tests.gsopt.solvers.backends import functions
from tests.gsopt.solvers.backends.models import (
    BACKENDS,
    ROOT,
    best_value,
    knapsack,
    market_split,
    meet,
    unbounded,
    union_of_servers,
)
from tests.gsopt.solvers.forms import limits_around, standard_form
from tests.refusals import refused
from tests.unwrap import unwrap

every_backend = pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)


@st.composite
def tiny_models(draw: st.DrawFn) -> StandardForm:
    """Up to four bounded integer columns and three rows of any kind, often in decimal fractions."""
    columns, rows = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    some = np.random.default_rng(draw(st.integers(0, 10**6)))
    lower = some.integers(-3, 2, columns)
    matrix = some.integers(-5, 6, (rows, columns)) * draw(st.sampled_from([1, 0.1, 0.25, 1 / 3]))
    return standard_form(
        some.integers(-6, 7, columns) * draw(st.sampled_from([1, 0.1, 1e-3, 1 / 3])),
        matrix,
        limits_around(matrix @ some.integers(lower, lower + 3), some.integers(-1, 4, (2, rows)), some),
        (lower, lower + some.integers(0, 5, columns)),
        sense=draw(st.sampled_from(list(Sense))),
        offset=draw(st.sampled_from([0.0, 2.5, -7.0, 0.1])),
    )


@every_backend
def test_small_models_end_in_the_common_words(backend: Backend) -> None:
    """The public check of backends must pass."""
    assert check_backend(backend) > 0


@every_backend
@given(form=tiny_models())
@settings(max_examples=cases(80), deadline=None)
def test_optimum_is_that_of_brute_force(backend: Backend, form: StandardForm) -> None:
    """A tiny model's status, value and bound must be those found by trying every point."""
    best = best_value(form)
    outcome = backend.solve(form)
    if best is None:
        assert (outcome.status, outcome.values, outcome.bound) == (Status.INFEASIBLE, None, None)
    else:
        assert outcome.status is Status.OPTIMAL
        assert meet(outcome.objective, best)
        assert meet(outcome.bound, best)
        assert form.is_feasible(unwrap(outcome.values))
        assert outcome.stopped_by is StoppedBy.FINISHED


@every_backend
def test_model_without_columns(backend: Backend) -> None:
    """A model without columns must have its offset as optimum, or be infeasible where 0 breaks a row."""
    for limit, status in ((0, Status.OPTIMAL), (1, Status.INFEASIBLE)):
        form = standard_form([], np.zeros((1, 0)), (limit, 2), offset=3)
        outcome = backend.solve(form)
        assert outcome.status is status
        assert outcome.objective == (3.0 if status is Status.OPTIMAL else None)


@every_backend
def test_model_without_rows(backend: Backend) -> None:
    """A model without rows must have its best corner as optimum."""
    form = standard_form([1, -1], np.zeros((0, 2)), ([], []), ([-2, 0], [3, 4]))
    outcome = backend.solve(form)
    assert (outcome.status, unwrap(outcome.values).tolist()) == (Status.OPTIMAL, [-2, 4])


@every_backend
@pytest.mark.parametrize(("limits", "bounds"), [((0, 5), (3, 2)), ((6, 5), (0, 9))], ids=["columns", "rows"])
def test_crossed_bounds_are_infeasible(
    backend: Backend, limits: tuple[int, int], bounds: tuple[int, int]
) -> None:
    """A lower bound above the upper one must make the model infeasible."""
    assert backend.solve(standard_form([1], [[1]], limits, bounds)).status is Status.INFEASIBLE


@every_backend
def test_unbounded_model_is_refused(backend: Backend) -> None:
    """A model with values as good as one likes must raise, whichever way the solver notices."""
    with pytest.raises((BrokenModel, Unsupported), match=r"unbounded|no bound"):
        backend.solve(unbounded())


@pytest.mark.parametrize("backend", [Highs(), Scip()], ids=lambda backend: backend.name)
def test_infeasible_is_told_from_unbounded(backend: Backend) -> None:
    """A model with an unbounded relaxation but no integer point must be infeasible, not unbounded."""
    form = standard_form([1, 1, 0], [[1, -1, 0], [0, 0, 2]], ([0, 1], [0, 1]), sense=Sense.MAXIMIZE)
    assert backend.solve(form).status is Status.INFEASIBLE


@every_backend
@pytest.mark.parametrize("seconds", [0, 1])
def test_time_limit_without_a_point(backend: Backend, seconds: float) -> None:
    """A time limit before any point must be an outcome without values."""
    outcome = backend.solve(market_split(), time_limit=seconds)
    assert (outcome.status, outcome.stopped_by) == (Status.UNKNOWN, StoppedBy.TIME_LIMIT)
    assert outcome.values is None
    assert outcome.objective is None
    assert outcome.bound is None or outcome.bound <= 0


@every_backend
def test_time_limit_with_a_point(backend: Backend) -> None:
    """A time limit after the first point must keep the point and a bound that is no better than it."""
    form = union_of_servers(120, 160, 40)
    limits = (
        2.0**doubled for doubled in range(8)
    )  # seconds; the first is enough on a machine that is not busy
    outcomes = (backend.solve(form, time_limit=seconds) for seconds in limits)
    outcome = next(outcome for outcome in outcomes if outcome.values is not None)
    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    values, objective = unwrap(outcome.values), unwrap(outcome.objective)
    assert form.is_feasible(values)
    assert objective == form.objective(values)
    assert outcome.bound is None or outcome.bound < objective


@every_backend
def test_gap_is_a_reason_to_stop(backend: Backend) -> None:
    """An asked gap must end the solve with a point that is that close to its bound."""
    outcome = backend.solve(union_of_servers(), gap=2.5)
    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, StoppedBy.GAP)
    assert is_within(outcome.objective, outcome.bound, 2.5)


@every_backend
def test_start_survives_a_time_limit_of_zero(backend: Backend) -> None:
    """A feasible start must be the outcome of a solve that has no time to find anything."""
    form = union_of_servers()
    everything = np.ones(len(form.columns))
    outcome = backend.solve(form, start=everything, time_limit=0)
    assert form.objective(unwrap(outcome.values)) == outcome.objective == pytest.approx(120)
    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)


@every_backend
@pytest.mark.parametrize(
    "start",
    [
        [0, 1, 0, 1, 1],  # the optimum
        [1, 1, 1, 1, 1],  # breaks the row
        [7, -3, 0.5, 1e30, 2],  # breaks everything
        [np.nan, 1, np.nan, 1, np.nan],  # says only half
        [np.nan] * 5,  # says nothing
        [np.inf] * 5,  # no numbers
    ],
)
def test_no_start_does_harm(backend: Backend, start: list[float]) -> None:
    """A right, wrong or partial start must not change the optimum."""
    outcome = backend.solve(knapsack(), start=np.array(start, dtype=float))
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.OPTIMAL, 23.0, 23.0)


@every_backend
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"time_limit": -1.0}, "time_limit"),  # no time runs backwards
        ({"time_limit": float("nan")}, "time_limit"),  # no number
        ({"gap": -0.1}, "gap"),  # no gap is negative
        ({"gap": float("nan")}, "gap"),  # no number
        ({"start": np.zeros(4)}, "start"),  # five columns
    ],
)
def test_bad_options_are_refused(backend: Backend, options: dict[str, Any], field: str) -> None:
    """An option out of range must give one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        backend.solve(knapsack(), **options)


@every_backend
def test_infinite_time_limit_is_none(backend: Backend) -> None:
    """An infinite time limit must be no limit."""
    assert backend.solve(knapsack(), time_limit=float("inf")).status is Status.OPTIMAL


@every_backend
def test_incumbents_come_in_order_and_hold(backend: Backend) -> None:
    """Each incumbent must be feasible, better than the last, and no better than the bound told with it."""
    form = union_of_servers(20, 40, 8)
    seen: list[Incumbent] = []
    outcome = backend.solve(form, on_incumbent=seen.append)
    assert seen
    assert all(form.is_feasible(incumbent.values) for incumbent in seen)
    assert all(incumbent.objective == form.objective(incumbent.values) for incumbent in seen)
    objectives = [incumbent.objective for incumbent in seen]
    assert objectives == sorted(set(objectives), reverse=True)
    assert [i.runtime for i in seen] == sorted(i.runtime for i in seen)
    assert all(i.bound is None or i.bound <= (outcome.objective or 0.0) + 1e-6 for i in seen)
    assert outcome.objective == objectives[-1]


@every_backend
def test_bounds_are_told_on_the_way(backend: Solver) -> None:
    """Every bound that the solver tells of must be finite and no better than the optimum."""
    bounds: list[float] = []
    outcome = backend.solve(union_of_servers(20, 40, 8), on_bound=bounds.append)
    assert bounds
    assert all(np.isfinite(bound) and bound <= (outcome.objective or 0.0) + 1e-6 for bound in bounds)


@every_backend
def test_incumbents_of_a_maximum_rise(backend: Backend) -> None:
    """Incumbents of a maximization must rise and stay below their bounds."""
    seen: list[Incumbent] = []
    form = union_of_servers(20, 40, 8)
    turned = replace(form, cost=-form.cost, sense=Sense.MAXIMIZE, offset=100.0)
    outcome = backend.solve(turned, on_incumbent=seen.append)
    objectives = [incumbent.objective for incumbent in seen]
    assert objectives == sorted(set(objectives))
    assert all(i.bound is None or i.bound >= (outcome.objective or 0.0) - 1e-6 for i in seen)
    assert outcome.status is Status.OPTIMAL
    assert meet(outcome.objective, 100 - (backend.solve(form).objective or 0.0))


@every_backend
def test_callback_that_returns_true_stops(backend: Backend) -> None:
    """A callback that returns True must end the solve with that incumbent or a better one."""
    seen: list[Incumbent] = []

    def stop(incumbent: Incumbent) -> bool:
        seen.append(incumbent)
        return True

    outcome = backend.solve(union_of_servers(), on_incumbent=stop)

    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, StoppedBy.INTERRUPT)
    assert (outcome.objective or 0.0) <= seen[0].objective
    assert backend.solve(knapsack()).objective == 23.0


@every_backend
def test_callback_that_raises_leaves_no_busy_worker(backend: Backend) -> None:
    """An exception of the callback must come through, and the next solve must work on a fresh worker."""

    def fail(_incumbent: Incumbent) -> None:
        raise ZeroDivisionError

    backend.solve(knapsack())
    before = set(POOL.pids)
    with pytest.raises(ZeroDivisionError):
        backend.solve(union_of_servers(), on_incumbent=fail)

    assert len(before - set(POOL.pids)) == 1
    assert backend.solve(knapsack()).objective == 23.0


@every_backend
def test_killed_solver_leaves_its_incumbent(backend: Backend) -> None:
    """A solver killed in mid-solve must leave its last incumbent, and the next solve must work."""
    POOL.close()

    def kill(_incumbent: Incumbent) -> None:
        for pid in POOL.pids:
            os.kill(pid, signal.SIGKILL)

    form = union_of_servers()
    outcome = backend.solve(form, on_incumbent=kill)

    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, StoppedBy.CRASH)
    assert "SIGKILL" in outcome.message
    assert form.is_feasible(unwrap(outcome.values))
    assert backend.solve(knapsack()).objective == 23.0


@every_backend
def test_log_is_kept_and_streamed_on_demand(backend: Backend, capfd: pytest.CaptureFixture[str]) -> None:
    """The log must be in the outcome always, and on standard error only when asked."""
    quiet = backend.solve(knapsack())
    assert "\n" in quiet.log
    assert capfd.readouterr() == ("", "")
    loud = backend.solve(knapsack(), log=True)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == loud.log


@every_backend
def test_missing_solver_names_the_remedy(backend: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that is not installed must give one line saying how to install it."""
    POOL.close()
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingSolver, match=rf"\A{backend.name}: [^\n]*: pip install {backend.package}\Z"):
        backend.solve(knapsack())


@every_backend
def test_same_seed_gives_the_same_point(backend: Backend) -> None:
    """Two solves with the same seed must give the same point."""
    first, second = (unwrap(backend.solve(union_of_servers(20, 40, 8)).values) for _ in range(2))
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize(
    ("kind", "option", "value"), [(Highs, "threads", 0), *((each, "seed", -1) for each in (Highs, CpSat, Scip))]
)
def test_bad_settings_are_refused(kind: type[Any], option: str, value: int) -> None:
    """A setting out of range must give one line that names it, when it is given."""
    with refused(f"{option}: {value}: must be at least", start=option):
        kind(**{option: value})


@every_backend
def test_table_of_statuses_knows_the_common_endings(backend: Solver) -> None:
    """The table of statuses must have a word for a proof either way and for a time limit."""
    assert {Ending.OPTIMAL, Ending.INFEASIBLE, Ending.TIME_LIMIT} <= set(backend.endings.values())


@dataclass
class Mouth:
    """A worker that knows its answer."""

    answer: Answer

    def call(self, *_args: Any, **_options: Any) -> Reply:
        """Answer without a solver."""
        return Reply(self.answer)


class Scripted(Highs):
    """HiGHS with the answer put into its mouth."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        object.__setattr__(self, "answer", answer)

    def worker(self, *_arguments: Any, **_options: Any) -> AbstractContextManager[Any]:
        """Return the mouth instead of a process."""
        return nullcontext(Mouth(self.answer))  # type: ignore[attr-defined]


def test_point_that_breaks_a_row_once_rounded_is_left_out() -> None:
    """An optimum at the solver's tolerance that is infeasible after rounding must not pass as a solution."""
    form = standard_form([0, 1], [[1, -1e5]], (-np.inf, 0), ([0.09, 0], 1), integer=[False, True])
    outcome = Scripted(Answer("kOptimal", np.array([0.09, 9e-7]), 9e-7)).solve(form)
    assert (outcome.status, outcome.values, outcome.objective) == (Status.UNKNOWN, None, None)
    assert "rounded" in outcome.message


def test_solvers_are_not_believed() -> None:
    """A start outlives a broken point, an optimum needs its bound, and wrong statuses must raise."""
    outcome = Scripted(Answer("kOptimal", np.full(5, 0.5), 23.0)).solve(knapsack(), start=np.zeros(5))
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.FEASIBLE, 0.0, 23.0)
    outcome = Scripted(Answer("kOptimal", np.array([0.0, 0, 0, 1, 1]), 23.0)).solve(knapsack())
    assert (outcome.status, outcome.stopped_by) == (Status.FEASIBLE, StoppedBy.FINISHED)
    with pytest.raises(GsoptError, match="kBrandNew"):
        Scripted(Answer("kBrandNew")).solve(knapsack())
    with pytest.raises(Contradiction, match="infeasible"):
        Scripted(Answer("kInfeasible")).solve(knapsack(), start=np.zeros(5))


@pytest.mark.parametrize("bound", [np.inf, -np.inf, np.nan, 1e20])
def test_bound_is_never_infinite(bound: float) -> None:
    """A bound that says nothing must be None."""
    assert Scripted(Answer("kTimeLimit", bound=bound)).solve(knapsack()).bound is None


class Deaf(Highs):
    """A solver that takes no notice of its time limit."""

    def request(self, form: StandardForm, **options: Any) -> tuple[Any, Any]:
        """Ask for a function that never ends."""
        del form, options
        return functions.sleep, 1.0


def test_solver_that_forgets_its_limit_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that does not end by itself is killed, and its start is left."""
    monkeypatch.syspath_prepend(str(ROOT))
    POOL.close()  # the next worker can import these tests
    with Deaf().worker():
        pass
    outcome = Deaf().solve(knapsack(), time_limit=0.1, start=np.zeros(5))
    assert (outcome.stopped_by, outcome.objective) == (StoppedBy.TIME_LIMIT, 0.0)
    assert "killed" in outcome.message
