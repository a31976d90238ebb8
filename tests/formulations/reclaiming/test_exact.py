"""The default exact method: true optima in every variant, kept deadlines, and what it says of both."""

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from formulations.reclaiming import decomposition, exact, milp, reduced
from formulations.reclaiming.decomposition import curve
from gsopt.core.errors import InvalidSolution
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution
from gsopt.solvers.backends import Backend, CpSat, Highs
from gsopt.testing import brute_force
from heuristics.reclaiming import greedy, largest_job_first, reverse_delete
from instances import load, names
from instances.reclaiming import churn, server_uniform
from tests.effort import cases
from tests.formulations.reclaiming.test_search import Told, stopped
from tests.strategies.reclaiming import SOLVABLE, figure_5, reclaiming_problems

HARD = server_uniform(servers=60, jobs=60, degree=5, demand=18)
ELASTIC = churn(servers=60, mode="worker", demand=20, elastic_share=0.4, elasticity="fungible", seed=1)


def test_figure_5_at_every_demand() -> None:
    """The paper's example costs 0, 1, 1, 2, 3, 3 and 4 preemptions, with and without dynamic programming."""
    for width in (12, -1):
        results = [exact(figure_5(demand=demand), width=width) for demand in range(7)]

        assert [result.objective for result in results] == [0, 1, 1, 2, 3, 3, 4]
        assert {Status.OPTIMAL} == {result.status for result in results}


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems(elasticities=["tagged"], second_objectives=["none"]))
def test_every_demand_has_the_enumerated_optimum(problem: Reclaiming) -> None:
    """On random tiny instances the proven optimum of every demand is exactly what enumeration finds."""
    for demand in range(len(problem.servers) + 1):
        asked = problem.model_copy(update={"demand": demand})
        oracle, result = brute_force(asked), exact(asked)

        assert oracle is not None
        assert (Status.OPTIMAL, oracle[0], oracle[0]) == (result.status, result.objective, result.bound)


@pytest.mark.parametrize("width", [-1, 0, 12])
def test_every_variant_and_technique_has_the_enumerated_optimum(width: int) -> None:
    """However much dynamic programming may do, every variant gets exactly the enumerated optimum, proven."""

    @settings(deadline=None, max_examples=cases(150))
    @given(reclaiming_problems(costs=SOLVABLE))
    def check(problem: Reclaiming) -> None:
        oracle, result = brute_force(problem), exact(problem, width=width)

        assert oracle is not None
        assert (Status.OPTIMAL, oracle[0], oracle[0]) == (result.status, result.objective, result.bound)

    check()


@settings(deadline=None, max_examples=cases(150))
@given(
    reclaiming_problems(
        costs=["tiny", "near", "wide", "any"], elasticities=["fungible"], second_objectives=["none"]
    )
)
def test_no_costs_make_it_claim_too_much(problem: Reclaiming) -> None:
    """Where sets of workers decide, whatever the costs, the optimum lies between bound and value."""
    oracle, result = brute_force(problem), exact(problem)

    assert oracle is not None
    assert result.objective is not None
    assert result.bound is not None
    assert result.bound <= oracle[0] <= result.objective


def drowned(problem: Reclaiming) -> Reclaiming:
    """Let every job cost 1.1, and put a job of a million on every server, a constant that drowns the rest."""
    jobs = [job.model_copy(update={"cost": 1.1}) for job in problem.jobs]
    jobs += [Job(name=f"own-{server.name}", workers={server.name: 1}, cost=1e6) for server in problem.servers]
    return problem.model_copy(update={"jobs": tuple(jobs)})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", [exact, decomposition, reduced, milp], ids=lambda method: method.__name__)
def test_a_large_constant_hides_nothing(method: Callable[..., Result[Any]], seed: int) -> None:
    """Every method proves what is left of a constant of millions, to the last digit."""
    plain = server_uniform(servers=16, jobs=12, degree=3, demand=6, seed=seed)
    least = exact(plain).objective
    options = {"width": 20} if method in (exact, decomposition) else {}
    result = method(drowned(plain), **options)

    assert least is not None
    expected = 6_000_000 + Fraction(11, 10) * least
    assert (Status.OPTIMAL, expected, expected) == (result.status, result.objective, result.bound)


def test_the_hypergraph_that_was_called_optimal_too_early() -> None:
    """Of 60 servers with a job of a million each, the 20 cheapest preempt 22 jobs of 1.1 and not 27."""
    result = exact(drowned(server_uniform(servers=60, jobs=60, degree=3, demand=20, seed=2)))

    assert (Status.OPTIMAL, 20_000_000 + 22 * Fraction(11, 10)) == (result.status, result.objective)


@pytest.mark.parametrize("name", names("reclaiming/small"))
def test_committed_instances_have_their_proven_optimum(name: str) -> None:
    """On every committed small instance the optimum is the one on record, or the plain model's."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    on_record = None if problem.about is None else problem.about.objective
    expected = milp(problem).objective if on_record is None else on_record

    assert expected == exact(problem).objective


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
    ("problem", "message", "solver"),
    [
        (figure_5(demand=2), "decomposition", "decomposition"),
        (figure_5(demand=5).model_copy(update={"elasticity": "fungible"}), "decomposition", "decomposition"),
        (ELASTIC, "plain model by highs", "highs"),
        (
            churn(servers=9, demand=3, mode="worker", elastic_share=0.8, elasticity="fungible", seed=3),
            "bound of a reduction: decomposition",
            "decomposition",
        ),
    ],
)
def test_the_result_says_which_technique_answered(problem: Reclaiming, message: str, solver: str) -> None:
    """The message names the technique, the solver field the family that proved the result."""
    result = exact(problem)

    assert (Status.OPTIMAL, message, solver) == (result.status, result.message, result.solver)


VARIANTS = {
    "tagged": HARD,
    "fungible": churn(servers=200, mode="worker", demand=60, elastic_share=0.4, elasticity="fungible", seed=1),
    "collateral": churn(servers=200, mode="worker", demand=60, elastic_share=0.4, seed=1).model_copy(
        update={"second_objective": "collateral"}
    ),
}


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("time_limit", [0.0, 1e-4])
def test_without_time_there_is_still_a_value_and_a_bound(kind: str, time_limit: float) -> None:
    """A time limit that allows nothing gives a feasible solution, a bound above 0, and the reason."""
    result = exact(VARIANTS[kind], time_limit=time_limit)

    assert result.solution is not None
    assert result.bound is not None
    assert result.bound > 0
    assert (result.status is Status.OPTIMAL) is (result.stopped_by is StoppedBy.FINISHED)


@pytest.mark.parametrize("degree", [3, 5, 8])
def test_dense_hypergraphs_are_no_worse_than_by_the_heuristics(degree: int) -> None:
    """Even where the solver finds nothing, no heuristic's choice is better, and the bound is above 0."""
    problem = server_uniform(servers=200, jobs=200, degree=degree, demand=66, seed=degree)
    known = [method(problem).objective for method in (greedy, largest_job_first, reverse_delete)]
    result = exact(problem, backend=Told(stopped(StoppedBy.TIME_LIMIT)))

    assert result.objective is not None
    assert result.bound is not None
    assert result.bound > 0
    assert all(value is not None and result.objective <= value for value in known)


@pytest.mark.parametrize("problem", [HARD, ELASTIC], ids=["reduced", "plain"])
def test_a_start_is_kept(problem: Reclaiming) -> None:
    """Without time the start is the answer where it is better than all quick choices."""
    best = exact(problem, gap=0.5)
    kept = exact(problem, start=best.solution, time_limit=0.0)

    assert best.objective is not None
    assert kept.objective is not None
    assert kept.objective <= best.objective


@pytest.mark.parametrize("problem", [HARD, ELASTIC], ids=["reduced", "plain"])
def test_incumbents_are_judged_results(problem: Reclaiming) -> None:
    """The callback sees falling values with bounds, judged; returning True stops with the best of them."""
    seen: list[Result[ReclaimingSolution]] = []

    def stop(result: Result[ReclaimingSolution]) -> bool:
        seen.append(result)
        return True

    result = exact(problem, on_incumbent=stop)

    assert len(seen) == 1
    assert (seen[0].objective, StoppedBy.INTERRUPT) == (result.objective, result.stopped_by)
    assert seen[0].status is Status.FEASIBLE
    assert seen[0].solution is not None
    assert problem.objective(seen[0].solution) == seen[0].objective


@pytest.mark.parametrize(
    ("servers", "reason"),
    [(("s1",), "the demand is 2"), (("s1", "s1"), "returned 2 times"), (("s1", "x"), "no server")],
)
def test_a_start_is_judged(servers: tuple[str, ...], reason: str) -> None:
    """A start that breaks a rule of the problem is refused."""
    with pytest.raises(InvalidSolution, match=reason):
        exact(figure_5(demand=2), start=ReclaimingSolution(servers=servers))


FRESH = """
import sys
from formulations.reclaiming import exact
from instances.reclaiming import churn
exact(churn(servers=60, mode="worker", demand=20, seed=1))
exact(churn(servers=12, mode="worker", demand=4, elastic_share=0.8, elasticity="fungible", seed=6))
print(*(name for name in ("pyomo", "highspy", "ortools") if name in sys.modules))
"""


def test_neither_pyomo_nor_a_solver_is_imported() -> None:
    """A fresh process solves every variant without importing Pyomo, which alone takes seconds."""
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
