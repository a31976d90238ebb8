"""The integer program of record."""

from math import isclose

import numpy as np

from formulations.configuration import exact, milp
from gsopt.core.numbers.tolerances import SUM
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import check_formulation
from instances.configuration import growing_jobs
from tests.effort import cases
from tests.strategies.configuration import committed, tiny


def test_proves_the_optimum_of_small_instances() -> None:
    """On committed small instances both solvers prove the optimum that enumeration finds."""
    problems = committed()
    assert check_formulation(milp, problems[::8], backends=[Highs()]) == len(problems[::8])
    assert check_formulation(milp, problems[2::8], backends=[CpSat()]) == len(problems[2::8])


def test_agrees_with_the_table_on_three_types() -> None:
    """On a cluster of three types it proves what dynamic programming proves."""
    problem = growing_jobs(nodes=5, types=3, jobs=12, seed=7)
    assert milp(problem).objective == exact(problem).objective


def test_size_is_as_documented() -> None:
    """A column for each configuration of each job and for each job, and a row for each job and type."""
    problem = growing_jobs(nodes=2, types=2, jobs=9, seed=1)
    form = milp.standard_form(problem)
    assert form.matrix.shape == (9 + 2, sum(map(len, problem.costs)) + 9)


def test_a_start_is_a_point_of_the_model() -> None:
    """A solution becomes columns of which the model counts what the judge counts."""
    problem = growing_jobs(nodes=4, jobs=9, seed=2)
    solution, _ = milp.at_once(problem)
    form = milp.standard_form(problem)
    point = form.point(milp.encode(solution, problem))
    assert form.violation(point) == 0
    assert isclose(form.objective(point), float(problem.objective(solution)), rel_tol=SUM)
    named = form.named(point)
    assert milp.extract(named, problem) == solution


def test_the_two_builders_are_equal() -> None:
    """The Pyomo model and the arrays filled directly are the same model, name by name."""
    for seed in range(cases(200)):
        problem = tiny(seed)
        arrays, pyomo = milp.standard_form(problem), StandardForm.from_pyomo(milp.build(problem))
        across = [arrays.columns.index(name) for name in pyomo.columns]
        down = [arrays.rows.index(name) for name in pyomo.rows]
        assert arrays.matrix.shape == pyomo.matrix.shape, seed
        assert np.array_equal(arrays.matrix.toarray()[np.ix_(down, across)], pyomo.matrix.toarray()), seed
        for name in ("cost", "column_lower", "column_upper", "integer"):
            assert np.array_equal(getattr(arrays, name)[across], getattr(pyomo, name)), (seed, name)
        for name in ("row_lower", "row_upper"):
            assert np.array_equal(getattr(arrays, name)[down], getattr(pyomo, name)), (seed, name)
        assert (arrays.offset, arrays.sense) == (pyomo.offset, pyomo.sense)
