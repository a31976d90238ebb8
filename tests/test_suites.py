"""The committed suites hold what they say of themselves."""

import pytest

import gsopt
from gsopt.result import Status

#: Suites whose proofs take minutes: what is found in a second must be consistent with them.
_SLOW = ("scheduling/medium/", "waiting/medium/")


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", gsopt.names())
def test_committed_optimum_is_proven_again(name: str) -> None:
    """The default exact method proves the optimum that the file states, or agrees with it as far as it gets."""
    problem = gsopt.load(name)
    assert problem.name == name
    assert problem.about is not None
    assert problem.about.since is not None
    assert bool(problem.about.proved_by) != bool(problem.about.found_by)
    stated, slack = problem.about.objective, problem.resolution(problem.about.objective or 0)
    bracketed = name.startswith(_SLOW) or bool(stated and not problem.about.proved_by)
    result = gsopt.solve(problem, time_limit=1 if bracketed else None)
    if bracketed:
        assert result.bound is None or float(result.bound) <= (stated or 0) + slack
        assert result.objective is None or float(result.objective) >= (problem.about.bound or 0) - slack
    elif stated is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert abs(float(result.objective or 0) - stated) <= slack
