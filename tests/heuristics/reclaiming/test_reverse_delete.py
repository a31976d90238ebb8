"""Tests of sparing jobs while enough servers stay vacated."""

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidSolution
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from heuristics.reclaiming import greedy, largest_job_first, reverse_delete
from heuristics.reclaiming.reverse_delete import improve
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


def problem_of(*jobs: Job, demand: int, second_objective: Literal["none", "collateral"] = "none") -> Reclaiming:
    """Return a problem with the servers on which the jobs stand."""
    names = sorted({name for job in jobs for name in job.workers})
    return Reclaiming(
        demand=demand,
        servers=tuple(Server(name=name, gpus=8) for name in names),
        jobs=jobs,
        second_objective=second_objective,
    )


@settings(deadline=None, max_examples=cases(150))
@given(problem=reclaiming_problems(), data=st.data())
def test_a_solution_never_gets_worse(problem: Reclaiming, data: st.DataObject) -> None:
    """Improving any feasible solution of any variant gives a feasible one that is at least as good."""
    names = [server.name for server in problem.servers]
    start = ReclaimingSolution(servers=tuple(data.draw(st.permutations(names))[: problem.demand]))
    improved = improve(problem, start)

    assert problem.violations(improved) == []
    assert problem.objective(improved) <= problem.objective(start)


@settings(deadline=None, max_examples=cases(100))
@given(problem=reclaiming_problems())
def test_it_is_at_least_as_good_as_both_of_its_starts(problem: Reclaiming) -> None:
    """Without a start the result is no worse than that of greedy and of largest job first."""
    value = reverse_delete(problem).objective
    starts = [greedy(problem).objective, largest_job_first(problem).objective]

    assert value is not None
    assert all(start is not None and value <= start for start in starts)


@settings(deadline=None, max_examples=cases(100))
@given(problem=reclaiming_problems(elasticities=("tagged",), second_objectives=("none",)), data=st.data())
def test_no_further_job_can_be_spared(problem: Reclaiming, data: st.DataObject) -> None:
    """After the step every preempted job that costs anything is needed to vacate enough servers."""
    names = [server.name for server in problem.servers]
    start = ReclaimingSolution(servers=tuple(data.draw(st.permutations(names))[: problem.demand]))
    gone = {job.name for job in problem.preempted(improve(problem, start))}
    for spared in (job.name for job in problem.jobs if job.name in gone and job.cost > 0):
        killed = gone - {spared}
        vacated = [
            name for name in names if all(job.name in killed for job in problem.jobs if name in job.workers)
        ]
        assert len(vacated) < problem.demand


def test_a_better_largest_job_first_is_taken_up() -> None:
    """Where greedy preempts two spread jobs, the one large job that frees both servers is found."""
    problem = problem_of(
        Job(name="large", workers={"s1": 8, "s2": 8}),
        Job(name="spread", workers={"s3": 1, "s4": 1, "s5": 1}),
        Job(name="also spread", workers={"s6": 1, "s7": 1, "s8": 1}),
        *(Job(name=f"only {name}", workers={name: 1}) for name in ("s4", "s5", "s7", "s8")),
        demand=2,
    )

    assert greedy(problem).objective == 2
    assert reverse_delete(problem).objective == 1


def test_a_better_greedy_is_taken_up() -> None:
    """Where the largest jobs stand together, the small job that has a server to itself is found."""
    problem = problem_of(
        Job(name="large", workers={"s1": 5}),
        Job(name="medium", workers={"s1": 3}),
        Job(name="small", workers={"s2": 2}),
        demand=1,
    )

    assert largest_job_first(problem).objective == 2
    assert reverse_delete(problem).objective == 1


def test_a_job_is_spared_when_another_frees_enough() -> None:
    """Job a vacates both servers that are demanded, so job b survives."""
    problem = problem_of(Job(name="a", workers={"s1": 8, "s2": 8}), Job(name="b", workers={"s3": 8}), demand=2)
    start = ReclaimingSolution(servers=("s1", "s3"))
    result = reverse_delete(problem, start=start)

    assert problem.objective(start) == 2
    assert result.objective == 1


def test_the_jobs_that_cost_most_per_server_are_spared() -> None:
    """Two servers need not be vacated: the two small jobs on them are spared, not the cheaper wide one."""
    problem = problem_of(
        Job(name="cheap", workers={"s1": 8, "s2": 8}),
        Job(name="small", workers={"s3": 8}, cost=2.0),
        Job(name="also small", workers={"s4": 8}, cost=2.0),
        Job(name="wide", workers={"s5": 8, "s6": 8}, cost=3.0),
        demand=4,
    )
    improved = improve(problem, ReclaimingSolution(servers=("s1", "s3", "s4", "s5")))

    assert [job.name for job in problem.preempted(improved)] == ["cheap", "wide"]


def test_the_dearer_of_two_alike_jobs_is_spared() -> None:
    """One server need not be vacated: of the two jobs that stand on one server, the dearer is spared."""
    problem = problem_of(
        Job(name="wide", workers={"s1": 8, "s2": 8}),
        Job(name="cheap", workers={"s3": 8}, cost=2.0),
        Job(name="dear", workers={"s4": 8}, cost=3.0),
        demand=3,
    )
    improved = improve(problem, ReclaimingSolution(servers=("s1", "s3", "s4")))

    assert [job.name for job in problem.preempted(improved)] == ["wide", "cheap"]


def test_the_fullest_vacated_servers_are_returned() -> None:
    """Where collateral damage counts, the server on which the preempted job has more GPUs is returned."""
    problem = problem_of(
        Job(name="a", workers={"s1": 2, "s2": 6}),
        Job(name="b", workers={"s3": 8}, cost=2.0),
        demand=1,
        second_objective="collateral",
    )

    assert improve(problem, ReclaimingSolution(servers=("s1",))).servers == ("s2",)


def test_a_solution_that_cannot_be_improved_is_returned_as_it_is() -> None:
    """The order of the servers of an optimum is left alone."""
    start = ReclaimingSolution(servers=("s2", "s1"))

    assert improve(figure_5(), start) is start


def test_an_infeasible_start_is_refused() -> None:
    """A start with too few servers raises."""
    with pytest.raises(InvalidSolution, match="1 are returned, the demand is 2"):
        reverse_delete(figure_5(), start=ReclaimingSolution(servers=("s1",)))
