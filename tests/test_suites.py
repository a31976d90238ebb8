"""The committed suites hold what they say of themselves."""

import pytest

import gsopt
from gsopt.result import Status, same


@pytest.mark.parametrize("name", gsopt.names())
def test_committed_optimum_is_proven_again(name: str) -> None:
    """The default exact method proves the optimum that the instance file states."""
    problem = gsopt.load(name)
    assert problem.name == name
    assert problem.about is not None
    result = gsopt.solve(problem, time_limit=60)
    if problem.about.objective is None:
        assert result.bound is not None or result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert same(float(result.objective or 0), problem.about.objective)
