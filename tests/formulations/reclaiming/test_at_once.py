"""A choice and a bound at once."""

from typing import Any

import pytest
from hypothesis import given, settings

from formulations.reclaiming import milp, reduced
from formulations.reclaiming.at_once import at_once
from gsopt.core.result import StoppedBy
from gsopt.problems.reclaiming import Reclaiming
from gsopt.solvers.formulation import Formulation
from gsopt.testing import brute_force
from instances.reclaiming import server_uniform
from tests.effort import cases
from tests.formulations.reclaiming.test_search import Told, stopped
from tests.strategies.reclaiming import reclaiming_problems


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_the_choice_is_feasible_and_the_bound_holds(problem: Reclaiming) -> None:
    """In every variant and with any costs the optimum lies between the bound and the choice."""
    solution, bound = at_once(problem)
    oracle = brute_force(problem)

    assert oracle is not None
    assert problem.violations(solution) == []
    assert bound <= oracle[0] <= problem.objective(solution)


@pytest.mark.parametrize("model", [milp, reduced], ids=lambda model: model.name)
def test_models_return_it_whatever_their_solver_does(model: Formulation[Reclaiming, Any]) -> None:
    """A model whose solver crashes still has a solution and a bound above 0."""
    problem = server_uniform(servers=60, jobs=60, degree=5, demand=18)
    result = model(problem, backend=Told(stopped(StoppedBy.CRASH)))

    assert result.stopped_by is StoppedBy.CRASH
    assert result.solution is not None
    assert result.bound is not None
    assert result.bound > 0
