"""The plain model, in every variant of the problem."""

from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given, settings

from formulations.reclaiming import milp, reduced
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status, same
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.solvers.backends import Backend, CpSat, Highs, Scip
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import brute_force, check_formulation
from instances import load, names
from tests.effort import cases
from tests.strategies.reclaiming import (
    SOLVABLE,
    Elasticity,
    SecondObjective,
    figure_5,
    reclaiming_problems,
)

BACKENDS: list[Backend] = [Highs(), CpSat(), Scip()]
COMMITTED = names("reclaiming/small")


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
def test_every_solver_solves_figure_5(backend: Backend) -> None:
    """Each solver proves the curve 0, 1, 1, 2, 3, 3, 4 of the paper's example."""
    results = [milp(figure_5(demand=demand), backend=backend) for demand in range(7)]

    assert [result.objective for result in results] == [0, 1, 1, 2, 3, 3, 4]
    assert {Status.OPTIMAL} == {result.status for result in results}


@pytest.mark.parametrize("elasticity", get_args(Elasticity))
@pytest.mark.parametrize("second_objective", get_args(SecondObjective))
def test_every_variant_has_the_enumerated_optimum(
    elasticity: Elasticity, second_objective: SecondObjective
) -> None:
    """On random tiny instances of each variant the model finds what enumeration finds."""

    @settings(deadline=None, max_examples=cases(75))
    @given(reclaiming_problems(elasticities=[elasticity], second_objectives=[second_objective], costs=SOLVABLE))
    def check(problem: Reclaiming) -> None:
        assert check_formulation(milp, [problem]) == 1

    check()


@pytest.mark.parametrize("model", [milp, reduced], ids=lambda model: model.name)
def test_no_costs_make_a_model_claim_too_much(model: Formulation[Reclaiming, ReclaimingSolution]) -> None:
    """Whatever the costs, no bound exceeds the enumerated optimum, and what is called optimal is."""

    @settings(deadline=None, max_examples=cases(150))
    @given(reclaiming_problems(second_objectives=["none"], costs=["tiny", "near", "wide", "any"]))
    def check(problem: Reclaiming) -> None:
        try:
            result = model(problem)
        except Unsupported:
            return
        oracle = brute_force(problem)

        assert oracle is not None
        assert result.objective is not None
        assert result.bound is None or result.bound <= oracle[0] <= result.objective
        assert result.status is not Status.OPTIMAL or result.objective == oracle[0]

    check()


@settings(deadline=None, max_examples=cases(50))
@given(reclaiming_problems(costs=["one", "integer"]))
def test_the_solvers_agree(problem: Reclaiming) -> None:
    """Three solvers find the enumerated optimum of random tiny instances of every variant."""
    assert check_formulation(milp, [problem], backends=BACKENDS) == 3


@pytest.mark.parametrize("name", COMMITTED)
def test_committed_instances_have_their_optimum(name: str) -> None:
    """Every committed small instance gets the optimum on record, and where it is tiny the enumerated one."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    if len(problem.servers) <= 12:
        assert check_formulation(milp, [problem]) == 1
    if problem.about is not None and problem.about.objective is not None:
        assert same(problem.about.objective, milp(problem).objective)


def by_name(form: StandardForm) -> tuple[dict[str, tuple[float, ...]], dict[tuple[str, str], float]]:
    """Return a form by names: each column's cost, bounds and kind, each row's bounds, each coefficient.

    Columns that stand nowhere are left out, as Pyomo does.
    """
    table = form.matrix.tocoo()
    places = zip(table.coords[0].tolist(), table.coords[1].tolist(), table.data.tolist(), strict=True)
    entries = {(form.rows[row], form.columns[column]): value for row, column, value in places}
    used = {column for _, column in entries}
    columns = {
        name: (form.cost[j], form.column_lower[j], form.column_upper[j], float(form.integer[j]))
        for j, name in enumerate(form.columns)
        if form.cost[j] or name in used
    }
    rows = {name: (form.row_lower[i], form.row_upper[i]) for i, name in enumerate(form.rows)}
    return {**columns, **rows}, entries


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_the_two_builders_are_equal(problem: Reclaiming) -> None:
    """The Pyomo model and the arrays filled directly are the same model, name by name, in every variant."""
    arrays, pyomo = milp.standard_form(problem), StandardForm.from_pyomo(milp.build(problem))

    assert by_name(pyomo) == by_name(arrays)
    assert (pyomo.offset, pyomo.sense) == (arrays.offset, arrays.sense)


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_exact_costs_add_up_to_the_judges_value(problem: Reclaiming) -> None:
    """The exact costs of the columns of a choice are exactly its objective, in every variant."""
    form = milp.standard_form(problem)
    costs = dict(zip(form.columns, milp.exact_costs(problem, form), strict=True))
    for choice in problem.candidates():
        columns = milp.encode(choice, problem)
        total = sum(Fraction(costs.get(name, 0)) * int(value) for name, value in columns.items())

        assert problem.objective(choice) == total


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_a_start_is_feasible_and_has_the_judges_value(problem: Reclaiming) -> None:
    """Every choice of servers, encoded as column values, satisfies the model at the value of the judge."""
    form = milp.standard_form(problem)
    for choice in problem.candidates():
        point = form.point(milp.encode(choice, problem))

        assert form.is_feasible(point)
        assert form.objective(point) == pytest.approx(float(problem.objective(choice)))


def test_a_start_is_improved_on() -> None:
    """From a poor start the optimum is still found."""
    problem = figure_5(demand=2)
    poor = ReclaimingSolution(servers=("s4", "s6"))

    assert milp(problem, start=poor).objective == 1


def test_the_weight_of_a_fungible_job_is_no_larger_than_needed() -> None:
    """The coefficient that lets a job lose too much counts the servers demanded, in units of its workers."""
    servers = tuple(Server(name=f"s{number}", gpus=8) for number in range(6))
    job = Job(
        name="a",
        workers={f"s{number}": 8 for number in range(3)},
        flexible={f"s{number}": 8 for number in range(3, 6)},
    )
    problem = Reclaiming(demand=4, servers=servers, jobs=(job,), elasticity="fungible")
    form = milp.standard_form(problem)
    row = form.rows.index("spare[0]")

    assert sorted(form.matrix.toarray()[row].tolist(), reverse=True) == [1, 1, 1, 1, 1, 1, -1]
    assert (form.row_upper[row], milp(problem).objective) == (3, 1)


def test_without_jobs_any_servers_will_do() -> None:
    """A problem without jobs has the optimum 0."""
    problem = Reclaiming(demand=1, servers=(Server(name="s1", gpus=1),), jobs=())
    oracle = brute_force(problem)

    assert oracle is not None
    assert oracle[0] == milp(problem).objective
