"""The model by groups, against enumeration and the other models."""

from formulations.consolidation import laminar
from gsopt.solvers.backends import CpSat
from gsopt.testing import check_formulation
from tests.strategies.consolidation import check_builders, committed, seeds


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every second of the committed small instances HiGHS proves the optimum that enumeration finds."""
    problems = committed()[::2]
    assert check_formulation(laminar, problems) == len(problems)


def test_another_family_agrees() -> None:
    """CP-SAT proves the same optima."""
    problems = committed()[::5]
    assert check_formulation(laminar, problems, backends=[CpSat()]) == len(problems)


def test_the_arrays_are_those_of_the_pyomo_model() -> None:
    """Filled directly or compiled from Pyomo: the same columns, rows, costs and limits."""
    for problem in seeds(8, lambda problem: len(problem.jobs) > 1 and problem.free_gpus > 3):
        check_builders(laminar, problem)
