"""The committed suites hold what they say of themselves."""

from collections import Counter
from math import ulp
from pathlib import Path

import pytest

import gsopt
from gsopt.core.numbers.tolerances import ULPS
from gsopt.core.result import Claim, Status, settle
from gsopt.evaluation.catalogue import best_solution
from gsopt.studies.suites import Standing, best_known
from gsopt.studies.suites.best_known import shown

#: Suites whose proofs take seconds to minutes: what is found in a moment must be consistent with them.
_SLOW = (
    "scheduling/challenge/",
    "scheduling/medium/",
    "waiting/challenge/",
    "waiting/medium/",
    "shares/production/160-",
    "goodput/medium/16-160",
    "placement/production/vectors-50-",
)

#: Seconds for an instance of these, and for one of which nobody has a proof.
_MOMENT, _GLANCE = 0.4, 0.1

#: Suites that the page tells of, at least.
_TOLD_SUITES = 30


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", gsopt.names())
def test_committed_optimum_is_proven_again(name: str) -> None:
    """The default exact method proves the optimum that the file states, or agrees with it as far as it gets."""
    problem = gsopt.load(name)
    assert problem.name == name
    assert problem.about is not None
    assert problem.about.since is not None
    assert bool(problem.about.proved_by) != bool(problem.about.found_by)
    stated = problem.about.objective
    slack = problem.resolution(stated or 0) + ULPS * ulp(stated or 0)  # files state the nearest double
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


def test_the_page_tells_what_the_files_have() -> None:
    """Each suite on the page has its number of instances, and each challenge there its value and bound."""
    page = (Path(__file__).parents[1] / "docs" / "suites.md").read_text(encoding="utf-8")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if "|" in line]
    known = best_known()
    counts = Counter(row.suite for row in known if row.objective is not None)
    brackets = {row.instance: [shown(row.objective), shown(row.bound)] for row in known}

    suites = {line[0]: int(line[1]) for line in lines if line[0] in counts}
    challenges = {line[0]: line[2:4] for line in lines if line[0] in brackets}
    assert suites == {suite: counts[suite] for suite in suites}
    assert challenges == {name: brackets[name] for name in challenges}
    assert len(suites) >= _TOLD_SUITES
    assert {row.instance for row in known.having(Standing.CHALLENGE)} >= challenges.keys() != set()
