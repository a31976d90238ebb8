"""Random hypergraphs."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from instances.reclaiming import random_hypergraph
from tests.effort import cases


@settings(deadline=None, max_examples=cases(60))
@given(st.data(), st.integers(1, 12), st.integers(0, 40), st.integers(0, 10**6))
def test_every_job_spans_the_same_number_of_servers(
    data: st.DataObject, servers: int, jobs: int, seed: int
) -> None:
    """Every job has one GPU on each of `span` servers, and the servers hold them all."""
    span = data.draw(st.integers(1, servers))
    problem = random_hypergraph(servers=servers, jobs=jobs, span=span, demand=servers, seed=seed)

    assert (len(problem.servers), len(problem.jobs), problem.demand) == (servers, jobs, servers)
    assert all(list(job.workers.values()) == [1] * span for job in problem.jobs)
    assert all(server.gpus >= 8 for server in problem.servers)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no servers": ({"servers": 0}, "servers: 0: must be at least 1"),
    "negative jobs": ({"jobs": -1}, "jobs: -1: must be at least 0"),
    "no span": ({"span": 0}, "span: 0: must be between 1 and the 60 servers"),
    "too much span": ({"span": 61}, "span: 61: must be between 1 and the 60 servers"),
    "too much demand": ({"demand": 61}, "demand: 61: must be between 0 and the 60 servers"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_one_line(options: dict[str, Any], line: str) -> None:
    """An argument out of its range is refused with its name, value and rule."""
    with pytest.raises(InvalidInput) as caught:
        random_hypergraph(**options)

    assert str(caught.value) == line
