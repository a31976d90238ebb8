"""The committed suites hold what they say of themselves."""

import pytest

import gsopt
from gsopt.result import Status, same

#: Suites whose proofs take minutes: what is found in a second must be consistent with them.
_SLOW = "scheduling/medium/"


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", gsopt.names())
def test_committed_optimum_is_proven_again(name: str) -> None:
    """The default exact method proves the optimum that the file states, or agrees with it as far as it gets."""
    problem = gsopt.load(name)
    assert problem.name == name
    assert problem.about is not None
    bracketed = name.startswith(_SLOW) or bool(problem.about.objective and not problem.about.proved_by)
    result = gsopt.solve(problem, time_limit=1 if bracketed else None)
    if bracketed:
        assert result.bound is None or float(result.bound) <= float(problem.about.objective or 0) * (1 + 1e-6)
        assert result.objective is None or float(result.objective) >= (problem.about.bound or 0) * (1 - 1e-6)
    elif problem.about.objective is None:
        assert result.bound is not None or result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert same(float(result.objective or 0), problem.about.objective)
