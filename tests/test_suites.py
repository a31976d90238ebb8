"""The committed suites hold what they say of themselves."""

from collections import Counter
from pathlib import Path

import pytest

import gsopt
from gsopt.result import Claim, Status, settle
from gsopt.studies.catalogue import best_solution
from gsopt.suites import Standing, best_known
from gsopt.suites.best_known import shown

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


def test_the_page_has_every_suite_and_every_challenge() -> None:
    """The page on suites has every suite with its number of instances, and every challenge with its bracket."""
    page = (Path(__file__).parents[1] / "docs" / "suites.md").read_text(encoding="utf-8")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if "|" in line]
    known = best_known()
    challenges = {row.instance: row for row in known.having(Standing.CHALLENGE)}
    counts = Counter(row.suite for row in known if row.objective is not None)

    assert {line[0]: int(line[1]) for line in lines if line[0] in counts} == counts
    told = {line[0]: line[2:4] for line in lines if line[0] in challenges}
    assert told == {name: [shown(row.objective), shown(row.bound)] for name, row in challenges.items()}
