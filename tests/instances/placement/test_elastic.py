"""Elastic and inelastic jobs."""

import pytest

from gsopt.core.errors import InvalidInput
from instances.placement import elastic


def test_jobs_are_elastic_or_not() -> None:
    """An inelastic job has one line of 1 to 8 workers; an elastic one base and perhaps flexible workers."""
    problem = elastic(jobs=200, seed=1)
    jobs: dict[str, list[str]] = {}
    for line in problem.workers:
        jobs.setdefault(line.job, []).append(line.kind)
        assert 1 <= line.count <= {"inelastic": 8, "base": 4, "flexible": 4}[line.kind]

    assert len(jobs) == 200
    assert {tuple(kinds) for kinds in jobs.values()} == {("inelastic",), ("base",), ("base", "flexible")}


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_share_of_elastic_jobs(share: float) -> None:
    """About the asked share of the jobs is elastic; none or all are exactly so."""
    problem = elastic(jobs=400, elastic_share=share)
    found = len({line.job for line in problem.workers if line.kind == "base"}) / 400

    assert found == pytest.approx(share, abs=0.06 if share == 0.25 else 0.0)


def test_it_minimizes_preferences_with_whole_jobs() -> None:
    """By default preferences are minimized and a job stays in one pool; both can be changed."""
    assert (elastic().minimize, elastic().split_jobs) == ("preferences", False)
    assert elastic(minimize="servers", split_jobs=True).minimize == "servers"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"jobs": -1}, "jobs: -1: must be at least 0"),
        ({"elastic_share": 1.2}, "elastic_share: 1.2: must be between 0 and 1"),
        ({"training": 0, "inference": 0}, "training: 0: must be at least 1 together with inference"),
        ({"occupied": -0.1}, "occupied: -0.1: must be between 0 and 1"),
        ({"minimize": ""}, "minimize: '': must be one of servers, fragmentation, preferences"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, object], line: str) -> None:
    """An argument out of its range is refused in one line."""
    with pytest.raises(InvalidInput) as raised:
        elastic(**options)  # type: ignore[arg-type]

    assert str(raised.value) == line
