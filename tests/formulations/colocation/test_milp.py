"""The model of record."""

from formulations.colocation import exact, milp
from gsopt.core.result import Status
from gsopt.solvers.backends import CpSat, Scip
from gsopt.testing import check_formulation
from instances.colocation import full_cluster
from tests.effort import cases
from tests.exactness import colocation as oracle
from tests.strategies.colocation import committed, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the model's optimum is what enumeration finds."""
    assert check_formulation(milp, committed()) == len(committed())


def test_has_the_optimum_of_hard_numbers() -> None:
    """On instances with numbers that are hard on floats no bound is beaten, and what is proven is right."""
    for seed in range(500, 500 + cases(60)):
        problem = tiny(seed)
        result, best = milp(problem), oracle.optimum(problem)
        assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best), seed


def test_solvers_agree() -> None:
    """HiGHS, CP-SAT and SCIP find the value of the assignment."""
    problem = full_cluster(running=7, pending=7, models=3, seed=1)
    best = exact(problem).objective
    assert {milp(problem, backend=backend).objective for backend in (None, CpSat(), Scip())} == {best}


def test_a_start_is_taken() -> None:
    """The columns of the optimum are a feasible point with its value, in every mode."""
    problem = full_cluster(running=7, pending=7, models=3, seed=1)
    best = exact(problem).solution
    assert best is not None
    form = milp.standard_form(problem)
    values = milp.encode(best, problem)
    assert len(values) == len(best.shares)
    assert milp.extract(values, problem) == best
    assert form.objective(form.point(values)) > 0
