"""Every reclaiming heuristic, on every variant of the problem."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heuristics.reclaiming
from gsopt.core.result import Result
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.testing import brute_force
from heuristics.reclaiming import (
    greedy,
    largest_job_first,
    random_choice,
    reverse_delete,
    smallest_count_first,
    smallest_job_first,
    static_cost,
)
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems

Method = Callable[[Reclaiming], Result[ReclaimingSolution]]

METHODS: dict[str, Callable[..., Result[ReclaimingSolution]]] = {
    "greedy": greedy,
    "greedy, random ties": partial(greedy, tie="random", seed=3),
    "greedy, fewest jobs": partial(greedy, tie="fewest_jobs"),
    "greedy, most jobs": partial(greedy, tie="most_jobs"),
    "greedy, GPU fractions": partial(greedy, cost="gpu_fraction"),
    "greedy, all servers": partial(greedy, denominator="all", single="fractions"),
    "largest job first": largest_job_first,
    "random": random_choice,
    "reverse delete": reverse_delete,
    "smallest count first": smallest_count_first,
    "smallest count first, dynamic": partial(smallest_count_first, dynamic=True),
    "smallest job first": smallest_job_first,
    "static cost": static_cost,
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def test_the_package_names_exactly_its_methods() -> None:
    """The list of methods is what the study and the command line read, so nothing else may stand in it."""
    expected = [
        "greedy",
        "largest_job_first",
        "random_choice",
        "reverse_delete",
        "smallest_count_first",
        "smallest_job_first",
        "static_cost",
    ]

    assert expected == heuristics.reclaiming.__all__


@every_method
@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_every_solution_is_feasible_and_never_beats_brute_force(method: Method, problem: Reclaiming) -> None:
    """On every variant a heuristic returns a solution that the judge accepts, no better than the best."""
    best = brute_force(problem)
    result = method(problem)

    assert best is not None
    assert result.solution is not None
    assert result.objective is not None
    assert problem.violations(result.solution) == []
    assert best[0] <= result.objective


@every_method
@settings(deadline=None, max_examples=cases(50))
@given(problem=reclaiming_problems(), data=st.data())
def test_solutions_stay_valid_when_servers_and_jobs_are_relabelled(
    method: Method, problem: Reclaiming, data: st.DataObject
) -> None:
    """New names and another order of servers and jobs may change ties but never make a solution infeasible."""
    relabelled = _relabelled(problem, data)
    result = method(relabelled)

    assert result.solution is not None
    assert relabelled.violations(result.solution) == []


@every_method
def test_nothing_is_returned_when_nothing_is_demanded(method: Method) -> None:
    """A demand of 0 is met by no server."""
    result = method(figure_5(demand=0))

    assert result.solution == ReclaimingSolution(servers=())


@every_method
def test_everything_is_returned_when_all_servers_are_demanded(method: Method) -> None:
    """A demand of all servers leaves no choice."""
    problem = figure_5(demand=6)
    result = method(problem)

    assert result.solution is not None
    assert {server.name for server in problem.servers} == set(result.solution.servers)
    assert result.objective == 4


@every_method
def test_a_call_is_a_function_of_its_arguments(method: Method) -> None:
    """The same call twice gives the same servers in the same order."""
    problem = figure_5(demand=3)

    assert method(problem).solution == method(problem).solution


def _relabelled(problem: Reclaiming, data: st.DataObject) -> Reclaiming:
    names = [server.name for server in problem.servers]
    new = dict(
        zip(names, data.draw(st.permutations([f"t{number}" for number in range(len(names))])), strict=True)
    )

    def renamed(item: Any) -> Any:
        return {new[name]: gpus for name, gpus in item.items()}

    jobs = [
        job.model_copy(update={"workers": renamed(job.workers), "flexible": renamed(job.flexible)})
        for job in problem.jobs
    ]
    servers = [server.model_copy(update={"name": new[server.name]}) for server in problem.servers]
    return problem.model_copy(
        update={
            "servers": tuple(data.draw(st.permutations(servers))),
            "jobs": tuple(data.draw(st.permutations(jobs))),
        }
    )
