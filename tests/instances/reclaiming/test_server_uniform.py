"""Server-uniform hypergraphs."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from instances.reclaiming import server_uniform
from tests.effort import cases


@settings(deadline=None, max_examples=cases(60))
@given(st.data(), st.integers(1, 12), st.integers(0, 20), st.integers(0, 10**6))
def test_every_server_hosts_the_same_number_of_jobs(
    data: st.DataObject, servers: int, jobs: int, seed: int
) -> None:
    """Every server hosts `degree` jobs, and every job of the instance is hosted."""
    degree = data.draw(st.integers(0, jobs))
    problem = server_uniform(servers=servers, jobs=jobs, degree=degree, demand=servers, seed=seed)
    hosted = [sum(server.name in job.workers for job in problem.jobs) for server in problem.servers]

    assert hosted == [degree] * servers
    assert len(problem.jobs) <= jobs
    assert len({job.name for job in problem.jobs}) == len(problem.jobs)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no servers": ({"servers": 0}, "servers: 0: must be at least 1"),
    "negative jobs": ({"jobs": -1}, "jobs: -1: must be at least 0"),
    "negative degree": ({"degree": -1}, "degree: -1: must be between 0 and the 60 jobs"),
    "too high a degree": ({"degree": 61}, "degree: 61: must be between 0 and the 60 jobs"),
    "too much demand": ({"demand": 61}, "demand: 61: must be between 0 and the 60 servers"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_one_line(options: dict[str, Any], line: str) -> None:
    """An argument out of its range is refused with its name, value and rule."""
    with pytest.raises(InvalidInput) as caught:
        server_uniform(**options)

    assert str(caught.value) == line
