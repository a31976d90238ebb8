"""The committed suites hold what they say of themselves."""

import pytest

import gsopt
from gsopt.result import Claim, Status, settle
from gsopt.studies.catalogue import best_solution

#: Suites whose proofs take minutes: what is found in a moment must be consistent with them.
_SLOW = ("scheduling/medium/", "waiting/medium/")

#: Seconds for an instance of these, and for one of which nobody has a proof.
_MOMENT, _GLANCE = 1.0, 0.1


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
    if bracketed:
        limit = _MOMENT if name.startswith(_SLOW) else _GLANCE
        result = gsopt.solve(problem, time_limit=limit, start=best_solution(name))
        claims = [
            Claim("file", stated, problem.about.bound, slack),
            Claim("exact", result.objective, result.bound, slack),
        ]
        settle(problem.sense, claims)
        return
    result = gsopt.solve(problem)
    if stated is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert abs(float(result.objective or 0) - stated) <= slack
