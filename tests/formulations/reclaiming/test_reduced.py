"""The reduced model: its two builders, its solvers, and the methods it must agree with."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.reclaiming import decomposition, milp, reduced
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.reclaiming import Reclaiming
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import check_formulation
from instances.reclaiming import churn, random_hypergraph, server_uniform
from tests.effort import cases
from tests.formulations.reclaiming.test_milp import BACKENDS, by_name
from tests.strategies.reclaiming import SOLVABLE, figure_5, reclaiming_problems

CLUSTERS = [
    churn(servers=60, mode="packed", demand=20, seed=1),
    churn(servers=60, mode="mixed", demand=20, seed=2),
    churn(servers=60, mode="worker", demand=20, seed=3),
    churn(servers=60, mode="worker", demand=20, seed=4, weighted=True),
    churn(servers=60, mode="mixed", demand=20, seed=5, elastic_share=0.4),
    churn(servers=60, mode="mixed", demand=20, seed=6).model_copy(update={"second_objective": "collateral"}),
    random_hypergraph(servers=30, jobs=30, span=2, demand=10, seed=1),
    server_uniform(servers=20, jobs=15, degree=3, demand=6, seed=1),
]


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_the_two_builders_are_equal(problem: Reclaiming) -> None:
    """The Pyomo model and the arrays filled directly are the same model, name by name."""
    try:
        arrays = reduced.standard_form(problem)
    except Unsupported:
        return
    pyomo = StandardForm.from_pyomo(reduced.build(problem))

    assert by_name(pyomo) == by_name(arrays)
    assert (pyomo.offset, pyomo.sense) == (arrays.offset, arrays.sense)


@pytest.mark.parametrize("problem", CLUSTERS, ids=lambda problem: problem.name)
def test_the_two_builders_have_the_same_optimum_and_relaxation(problem: Reclaiming) -> None:
    """On larger instances both builders have the same optimum and the same linear relaxation."""
    arrays, pyomo = reduced.standard_form(problem), StandardForm.from_pyomo(reduced.build(problem))
    solver = Highs()

    assert solver.solve(pyomo).objective == pytest.approx(solver.solve(arrays).objective)
    assert solver.solve(pyomo.relaxation).objective == pytest.approx(solver.solve(arrays.relaxation).objective)


@pytest.mark.parametrize("problem", CLUSTERS, ids=lambda problem: problem.name)
def test_two_solvers_and_two_other_methods_agree(problem: Reclaiming) -> None:
    """HiGHS and CP-SAT on the reduced model, the plain model and bucket elimination find one optimum."""
    results = [
        reduced(problem, backend=Highs()),
        reduced(problem, backend=CpSat()),
        milp(problem),
        decomposition(problem, width=20),
    ]

    assert {Status.OPTIMAL} == {result.status for result in results}
    assert len({result.objective for result in results}) == 1


@settings(deadline=None, max_examples=cases(150))
@given(reclaiming_problems(elasticities=["tagged"], flexible=False, costs=SOLVABLE))
def test_tiny_instances_have_the_enumerated_optimum(problem: Reclaiming) -> None:
    """On random tiny instances the reduced model finds what enumeration finds, collateral damage included."""
    assert check_formulation(reduced, [problem]) == 1


@settings(deadline=None, max_examples=cases(50))
@given(reclaiming_problems(elasticities=["tagged"], flexible=False, costs=["one", "integer"]))
def test_the_solvers_agree(problem: Reclaiming) -> None:
    """Three solvers find the enumerated optimum of random tiny instances."""
    assert check_formulation(reduced, [problem], backends=BACKENDS) == 3


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(elasticities=["tagged"], flexible=False))
def test_exact_costs_add_up_to_the_judges_value(problem: Reclaiming) -> None:
    """The exact costs of the columns of a choice and the constant are exactly its objective."""
    form = reduced.standard_form(problem)
    costs = dict(zip(form.columns, reduced.exact_costs(problem, form), strict=True))
    constant = Fraction(reduced.exact_offset(problem, form))
    for choice in problem.candidates():
        columns = reduced.encode(choice, problem)
        varying = sum(Fraction(costs[name]) * int(value) for name, value in columns.items())

        assert problem.objective(choice) == constant + varying


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(elasticities=["tagged"], flexible=False))
def test_a_start_is_feasible_and_has_the_judges_value(problem: Reclaiming) -> None:
    """Every choice of servers, encoded as column values, satisfies the model at the value of the judge."""
    form = reduced.standard_form(problem)
    for choice in problem.candidates():
        point = form.point(reduced.encode(choice, problem))

        assert form.is_feasible(point)
        assert form.objective(point) == pytest.approx(float(problem.objective(choice)))


def test_figure_5_has_eight_columns() -> None:
    """Three jobs and five groups of servers remain of the paper's example, and its curve."""
    values = [reduced(figure_5(demand=demand)).objective for demand in range(7)]
    form = reduced.standard_form(figure_5())

    assert values == [0, 1, 1, 2, 3, 3, 4]
    assert (len(form.columns), len(form.rows)) == (8, 6)
    assert np.all(form.integer)
