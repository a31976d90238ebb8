"""The default exact method: every technique on its path, its limits, and what it says of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.reclaiming import exact, milp
from formulations.reclaiming.decomposition import curve
from gsopt.backends import Backend, CpSat, Highs, Incumbent, Outcome
from gsopt.errors import InvalidSolution
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Status, StoppedBy, same
from gsopt.standard_form import StandardForm
from gsopt.testing import brute_force
from instances import load, names
from instances.reclaiming import churn, server_uniform
from tests.strategies.reclaiming import figure_5, reclaiming_problems

HARD = server_uniform(servers=60, jobs=60, degree=5, demand=18)
ELASTIC = churn(servers=60, mode="worker", demand=20, elastic_share=0.4, elasticity="fungible", seed=1)


def test_figure_5_at_every_demand() -> None:
    """The paper's example costs 0, 1, 1, 2, 3, 3 and 4 preemptions, with and without dynamic programming."""
    for width in (12, -1):
        results = [exact(figure_5(demand=demand), width=width) for demand in range(7)]

        assert [result.objective for result in results] == [0, 1, 1, 2, 3, 3, 4]
        assert {Status.OPTIMAL} == {result.status for result in results}


@settings(deadline=None, max_examples=300)
@given(reclaiming_problems(elasticities=["tagged"], second_objectives=["none"]))
def test_every_demand_has_the_enumerated_optimum(problem: Reclaiming) -> None:
    """On random tiny instances the proven optimum of every demand is what enumeration finds."""
    for demand in range(len(problem.servers) + 1):
        asked = problem.model_copy(update={"demand": demand})
        oracle, result = brute_force(asked), exact(asked)

        assert oracle is not None
        assert result.status is Status.OPTIMAL
        assert same(oracle[0], result.objective)


@pytest.mark.parametrize("width", [-1, 0, 12])
def test_every_variant_and_technique_has_the_enumerated_optimum(width: int) -> None:
    """However much dynamic programming may do, every variant gets the enumerated optimum, proven."""

    @settings(deadline=None, max_examples=150)
    @given(reclaiming_problems())
    def check(problem: Reclaiming) -> None:
        oracle, result = brute_force(problem), exact(problem, width=width)

        assert oracle is not None
        assert result.status is Status.OPTIMAL
        assert same(oracle[0], result.objective)
        assert same(oracle[0], result.bound)

    check()


@pytest.mark.parametrize("name", names("reclaiming/small"))
def test_committed_instances_have_their_proven_optimum(name: str) -> None:
    """On every committed small instance the optimum is the one on record, or the plain model's."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    on_record = None if problem.about is None else problem.about.objective
    expected = milp(problem).objective if on_record is None else on_record

    assert same(expected, exact(problem).objective)


CLUSTERS = {
    "packed": churn(servers=150, mode="packed", seed=1),
    "weighted": churn(servers=150, mode="mixed", seed=2, weighted=True),
    "collateral": churn(servers=150, mode="mixed", seed=3).model_copy(
        update={"second_objective": "collateral"}
    ),
}


@pytest.mark.parametrize("kind", CLUSTERS)
@pytest.mark.parametrize("backend", [Highs(), CpSat()], ids=lambda backend: backend.name)
def test_the_techniques_agree_on_clusters(kind: str, backend: Backend) -> None:
    """Without dynamic programming two solvers find the curve that dynamic programming finds."""
    whole = curve(CLUSTERS[kind], width=20)
    for demand in range(15, 150, 45):
        problem = CLUSTERS[kind].model_copy(update={"demand": demand})
        result = exact(problem, width=-1, backend=backend)

        assert (Status.OPTIMAL, whole[demand]) == (result.status, result.objective)


@pytest.mark.parametrize(
    ("problem", "width", "message", "solver"),
    [
        (figure_5(demand=2), 12, "decomposition", "decomposition"),
        (churn(mode="worker", seed=1, demand=60), 12, "LP bound met by rounding", "highs"),
        (
            churn(mode="worker", seed=1, demand=120, weighted=True),
            12,
            "core of the LP by decomposition",
            "highs",
        ),
        (server_uniform(servers=20, jobs=15, degree=3, demand=6), -1, "core of the LP by cp-sat", "cp-sat"),
        (
            figure_5(demand=5).model_copy(update={"elasticity": "fungible"}),
            12,
            "decomposition",
            "decomposition",
        ),
        (ELASTIC, 12, "plain model by highs", "highs"),
    ],
)
def test_the_result_says_which_technique_answered(
    problem: Reclaiming, width: int, message: str, solver: str
) -> None:
    """The message names the technique, the solver field the family that proved the result."""
    result = exact(problem, width=width)

    assert (Status.OPTIMAL, message, solver) == (result.status, result.message, result.solver)


@dataclass(frozen=True)
class Told:
    """A solver that answers what it is told, and notes what it is asked."""

    outcome: Outcome
    asked: list[dict[str, Any]]
    name: str = "told"

    def solve(self, form: StandardForm, **options: Any) -> Outcome:
        """Answer."""
        self.asked.append({"form": form, **options})
        return self.outcome


def stopped(stopped_by: StoppedBy, bound: float | None = None) -> Outcome:
    """Give the outcome of a solver that found nothing."""
    return Outcome(Status.UNKNOWN, None, None, bound, stopped_by, "told")


@pytest.mark.parametrize("stopped_by", [StoppedBy.TIME_LIMIT, StoppedBy.INTERRUPT, StoppedBy.CRASH])
@pytest.mark.parametrize(("bound", "expected"), [(None, 18), (17.5, 18), (20.2, 21), (99.0, None)])
def test_a_stopped_solver_leaves_value_and_bound(
    stopped_by: StoppedBy, bound: float | None, expected: int | None
) -> None:
    """Whatever stops the solver, there is a solution and the better of two bounds, never above the value."""
    result = exact(HARD, backend=Told(stopped(stopped_by, bound), []))

    assert result.solution is not None
    assert (stopped_by, expected or result.objective) == (result.stopped_by, result.bound)


def test_the_better_of_two_solutions_is_kept() -> None:
    """A solver's incumbent that is worse than what is known does not replace it."""
    nothing = Told(stopped(StoppedBy.TIME_LIMIT), [])
    known = exact(HARD, backend=nothing)
    form = nothing.asked[0]["form"]
    point = np.zeros(len(form.columns))
    point[[form.columns.index(f"returned[{group}]") for group in range(HARD.demand)]] = 1.0
    worse = Told(Outcome(Status.FEASIBLE, point, None, None, StoppedBy.TIME_LIMIT, "told"), [])

    assert known.objective == exact(HARD, backend=worse).objective


def test_options_reach_the_solver() -> None:
    """Gap, time limit, callback and a feasible start are handed to the solver of the mixed-integer program."""
    solver = Told(stopped(StoppedBy.TIME_LIMIT), [])

    def callback(_: Incumbent) -> None: ...

    result = exact(HARD, backend=solver, gap=0.125, time_limit=60, on_incumbent=callback)
    (asked,) = solver.asked

    assert (0.125, callback) == (asked["gap"], asked["on_incumbent"])
    assert 0 < asked["time_limit"] <= 60
    assert asked["form"].is_feasible(asked["start"])
    assert result.objective == asked["form"].objective(asked["start"])


def test_a_gap_that_is_met_early_stops_early() -> None:
    """No solver of mixed-integer programs is asked once value and bound are close enough."""
    problem = churn(mode="worker", seed=1, demand=120, weighted=True)
    result = exact(problem, gap=0.5, width=-1, backend=Told(stopped(StoppedBy.CRASH), []))

    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.GAP)
    assert result.gap is not None
    assert 0 < result.gap <= 0.5


@pytest.mark.parametrize(
    "problem",
    [
        HARD,
        churn(servers=200, mode="worker", demand=60, elastic_share=0.4, elasticity="fungible", seed=1),
        churn(servers=200, mode="worker", demand=60, elastic_share=0.4, seed=1).model_copy(
            update={"second_objective": "collateral"}
        ),
    ],
    ids=["tagged", "fungible", "collateral"],
)
@pytest.mark.parametrize("time_limit", [0.0, 1e-4])
def test_without_time_there_is_still_a_value_and_a_bound(problem: Reclaiming, time_limit: float) -> None:
    """A time limit that allows nothing gives a feasible solution, a bound, and the reason."""
    result = exact(problem, time_limit=time_limit)

    assert result.solution is not None
    assert result.bound is not None
    assert result.stopped_by in (StoppedBy.TIME_LIMIT, StoppedBy.FINISHED)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)


def test_a_relaxation_that_is_interrupted_leaves_a_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt in the relaxation leaves the quick choice, or the start where that is better."""
    interrupted = Told(stopped(StoppedBy.INTERRUPT), [])
    problem = HARD.model_copy(update={"demand": 3})
    best = exact(problem)
    assert best.solution is not None
    monkeypatch.setattr("formulations.reclaiming.bound.Highs", lambda: interrupted)
    found, kept = exact(problem), exact(problem, start=best.solution)

    assert (found.stopped_by, kept.stopped_by) == (StoppedBy.INTERRUPT, StoppedBy.INTERRUPT)
    assert found.solution is not None
    assert (best.objective, 0) == (kept.objective, kept.bound)


def test_an_interrupt_of_the_simpler_problem_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the plain model is needed, an interrupt before it ends the search with a solution."""
    problem = server_uniform(servers=40, jobs=40, degree=5, demand=8)
    first = problem.jobs[0]
    elsewhere = next(server.name for server in problem.servers if server.name not in first.workers)
    jobs = (first.model_copy(update={"flexible": {elsewhere: 1}}), *problem.jobs[1:])
    servers = tuple(server.model_copy(update={"gpus": 100}) for server in problem.servers)
    elastic = problem.model_copy(update={"jobs": jobs, "servers": servers, "elasticity": "fungible"})
    interrupted = Told(stopped(StoppedBy.INTERRUPT), [])
    monkeypatch.setattr("formulations.reclaiming.bound.Highs", lambda: interrupted)

    result = exact(elastic)

    assert result.solution is not None
    assert (result.stopped_by, result.status, result.bound) == (StoppedBy.INTERRUPT, Status.FEASIBLE, 0)


def test_incumbents_are_shown_as_they_come() -> None:
    """The callback sees the solver's incumbents; returning True stops the search with the best of them."""
    seen: list[Incumbent] = []

    def stop(incumbent: Incumbent) -> bool:
        seen.append(incumbent)
        return True

    result = exact(HARD, backend=Highs(), on_incumbent=stop)

    assert seen
    assert result.solution is not None
    assert (result.stopped_by, result.status) == (StoppedBy.INTERRUPT, Status.FEASIBLE)


@pytest.mark.parametrize(
    ("servers", "reason"),
    [(("s1",), "the demand is 2"), (("s1", "s1"), "returned 2 times"), (("s1", "x"), "no server")],
)
def test_a_start_is_judged(servers: tuple[str, ...], reason: str) -> None:
    """A start that breaks a rule of the problem is refused."""
    with pytest.raises(InvalidSolution, match=reason):
        exact(figure_5(demand=2), start=ReclaimingSolution(servers=servers))
