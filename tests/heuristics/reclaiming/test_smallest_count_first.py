"""Tests of smallest count first."""

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from heuristics.reclaiming import smallest_count_first
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_no_server_left_out_hosts_fewer_jobs(problem: Reclaiming) -> None:
    """Without updates the servers with the smallest counts at the start are returned, in that order."""
    counts = {
        server.name: sum(server.name in job.workers for job in problem.jobs) for server in problem.servers
    }
    solution = smallest_count_first(problem).solution

    assert solution is not None
    assert sorted(counts.values())[: problem.demand] == [counts[name] for name in solution.servers]


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_updated_counts_leave_out_preempted_jobs(problem: Reclaiming) -> None:
    """With updates every server hosts the smallest number of jobs still running at the time it is taken."""
    solution = smallest_count_first(problem, dynamic=True).solution
    running = list(problem.jobs)
    left = [server.name for server in problem.servers]

    assert solution is not None
    for taken in solution.servers:
        counts = {name: sum(name in job.workers for job in running) for name in left}
        assert counts[taken] == min(counts.values())
        left.remove(taken)
        running = [job for job in running if taken not in job.workers]


@pytest.mark.parametrize("dynamic", [False, True])
def test_ties_decide_the_example_of_figure_5(dynamic: bool) -> None:
    """In Figure 5 two servers of equal counts cost one preemption or two, depending on ties."""
    outcomes = {
        smallest_count_first(figure_5(), dynamic=dynamic, tie="random", seed=seed).objective
        for seed in range(20)
    }

    assert outcomes == {1, 2}
    assert smallest_count_first(figure_5(), dynamic=dynamic).objective == 1


def test_updates_find_the_server_that_a_preemption_freed() -> None:
    """Job a takes two servers with it, and only with updates the second one is returned for nothing."""
    problem = Reclaiming(
        demand=2,
        servers=tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3")),
        jobs=(
            Job(name="a", workers={"s1": 4, "s3": 4}),
            Job(name="b", workers={"s2": 4}),
        ),
    )

    assert smallest_count_first(problem).objective == 2
    assert smallest_count_first(problem, dynamic=True).objective == 1


def test_costs_play_no_part() -> None:
    """One job of high cost is preferred to two of cost 0."""
    problem = Reclaiming(
        demand=1,
        servers=(Server(name="s1", gpus=8), Server(name="s2", gpus=8)),
        jobs=(
            Job(name="a", workers={"s1": 1}, cost=0.0),
            Job(name="b", workers={"s1": 1}, cost=0.0),
            Job(name="c", workers={"s2": 1}, cost=9.0),
        ),
    )

    assert smallest_count_first(problem).objective == 9


def test_an_unknown_tie_break_is_refused() -> None:
    """A word that is no tie-break raises."""
    with pytest.raises(InvalidInput, match="tie: 'luck'"):
        smallest_count_first(figure_5(), tie="luck")  # type: ignore[arg-type]
