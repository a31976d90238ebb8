"""Tests of preempting jobs in a given order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.problems.reclaiming import Job, Reclaiming, Server
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.kill_order import vacated_in_order
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems

A, B, C, D = range(4)


@pytest.mark.parametrize(
    ("jobs", "demand", "expected"),
    [
        ([A, B, C, D], 0, []),  # nothing demanded
        ([A, B, C, D], 1, [0]),  # job a vacates servers 1 and 2, one is enough
        ([C, D, A, B], 3, [3, 4, 5]),  # job d vacates servers 5 and 6
        ([C, A, D, B], 4, [3, 0, 1, 4]),  # server 5 waits for both of its jobs
        ([B, A, D, C], 6, [2, 0, 1, 5, 3, 4]),  # all servers
    ],
)
def test_servers_come_in_the_order_vacated(jobs: list[int], demand: int, expected: list[int]) -> None:
    """Servers of Figure 5 are kept as the jobs on them go, in the order of the instance within one job."""
    assert expected == vacated_in_order(Hosting.of(figure_5()), jobs, demand)


def test_servers_of_one_job_come_in_the_order_of_the_instance() -> None:
    """The order in which a job lists its servers plays no part."""
    problem = Reclaiming(
        demand=2,
        servers=(Server(name="s1", gpus=8), Server(name="s2", gpus=8)),
        jobs=(Job(name="a", workers={"s2": 8, "s1": 8}),),
    )

    assert vacated_in_order(Hosting.of(problem), [A], 2) == [0, 1]


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems(), data=st.data())
def test_a_job_that_need_not_go_is_spared(problem: Reclaiming, data: st.DataObject) -> None:
    """Servers are vacated by the shortest beginning of the order that vacates enough of them."""
    hosting = Hosting.of(problem)
    order = data.draw(st.permutations(range(len(problem.jobs))))
    kept = vacated_in_order(hosting, order, problem.demand)
    gone = {job for server in kept for job in hosting.jobs_of[server]}
    needed = next(
        length
        for length in range(len(order) + 1)
        if sum(set(jobs) <= set(order[:length]) for jobs in hosting.jobs_of) >= problem.demand
    )

    assert len(set(kept)) == problem.demand
    assert gone <= set(order[:needed])
