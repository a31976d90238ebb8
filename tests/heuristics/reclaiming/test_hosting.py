"""Tests of the index of jobs and servers."""

from fractions import Fraction

from hypothesis import given, settings

from gsopt.core.numbers.grid import decimal
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from heuristics.reclaiming.hosting import Hosting
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_servers_and_jobs_mirror_each_other(problem: Reclaiming) -> None:
    """A job stands on a server exactly where it has a base worker, seen from either side."""
    hosting = Hosting.of(problem)
    expected = {
        (server, job)
        for job, item in enumerate(problem.jobs)
        for server, name in enumerate(hosting.names)
        if name in item.workers
    }

    assert expected == {(server, job) for job, on in enumerate(hosting.servers_of) for server in on}
    assert expected == {(server, job) for server, on in enumerate(hosting.jobs_of) for job in on}


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_weights_are_the_exact_costs(problem: Reclaiming) -> None:
    """Scaling the costs to integers loses nothing."""
    hosting = Hosting.of(problem)

    assert [Fraction(decimal(job.cost)) for job in problem.jobs] == [
        Fraction(weight, hosting.unit) for weight in hosting.weights
    ]


def test_flexible_workers_do_not_count() -> None:
    """A server that holds only flexible workers hosts no job."""
    problem = Reclaiming(
        demand=1,
        servers=(Server(name="s1", gpus=8), Server(name="s2", gpus=8)),
        jobs=(Job(name="a", workers={"s1": 2}, flexible={"s2": 4}),),
    )

    assert Hosting.of(problem).jobs_of == [[0], []]


def test_a_solution_keeps_the_order_of_the_servers() -> None:
    """The servers of a solution stand in the order in which they were chosen."""
    assert ReclaimingSolution(servers=("s4", "s1")) == Hosting.of(figure_5()).solution([3, 0])
