"""Solving: the default method, its options, and the start that heuristics hand over."""

from importlib import import_module
from typing import Any

import pytest

import gsopt
from gsopt.backends import Highs, close
from gsopt.backends.process import POOL
from gsopt.budget import Budget
from gsopt.errors import InvalidInput
from gsopt.method import exact_method, heuristic
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Result, Status, StoppedBy
from gsopt.studies import catalogue
from heuristics.reclaiming import greedy
from tests.gsopt.problems.test_reclaiming import figure_5, pick
from tests.gsopt.test_method import first_servers

#: The module, whose name is that of its function.
_SOLVE = import_module("gsopt.studies.solve")


def test_solve_uses_the_exact_default() -> None:
    """Without a method the decision's exact method answers."""
    result = gsopt.solve(figure_5(3))
    assert (result.method, result.status, result.objective) == ("exact", Status.OPTIMAL, 2)


def test_solve_takes_a_method_or_its_name() -> None:
    """A method may be given as a callable or by name; quick ones do not see the time limit."""
    assert gsopt.solve(figure_5(2), first_servers, time_limit=1).objective == 1
    assert gsopt.solve(figure_5(2), "greedy").objective == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "greedyy"}, "method: 'greedyy': must be one of"),
        ({"time_limit": -1}, "time_limit: -1: must be a number of seconds"),
        (
            {"time_limit": "soon"},
            "time_limit: 'soon': must be a number of seconds from 0 to 1e9, or such as 30s",
        ),
        ({"time_limit": float("nan")}, "time_limit: nan: must be a number of seconds"),
        ({"method": first_servers, "colour": 1}, "colour: is not an option of first_servers"),
    ],
)
def test_wrong_arguments_give_one_line(arguments: dict[str, Any], message: str) -> None:
    """A method, limit or option that does not exist is refused by name."""
    with pytest.raises(InvalidInput, match=message):
        gsopt.solve(figure_5(2), **arguments)


@exact_method()
def idle(problem: Reclaiming, budget: Budget) -> Result[ReclaimingSolution]:
    """Find nothing by itself."""
    return Result.judged(problem, method="idle", bound=0, runtime=budget.runtime)


def test_exact_methods_start_from_the_best_heuristic() -> None:
    """An exact method that finds nothing gives what the best heuristic found, or the start that it got."""
    problem = gsopt.load("reclaiming/small/hypergraph")
    found = [method(problem).objective for method in catalogue.heuristics("reclaiming").values()]
    assert gsopt.solve(problem, idle).objective == min(value for value in found if value is not None)
    assert gsopt.solve(figure_5(2), idle, start=pick("s3", "s4")).solution == pick("s3", "s4")


def test_no_heuristic_begins_when_half_of_the_time_is_over() -> None:
    """With hardly any time the first heuristic alone gives the start, and there always is one."""
    problem = figure_5(2)
    first = next(iter(catalogue.heuristics("reclaiming").values()))
    assert gsopt.solve(problem, idle, time_limit=0.0).solution == first(problem).solution


def test_warming_up_leaves_nothing_to_start() -> None:
    """After warming up, a solver's process is idle and the exact methods are loaded."""
    close()
    gsopt.warm_up(Highs())
    assert len(POOL.pids) == 1
    gsopt.solve(figure_5(2), "milp")
    assert len(POOL.pids) == 1


def test_a_name_in_the_place_of_a_problem_is_refused() -> None:
    """Solving a string says how to get a problem from it."""
    with pytest.raises(InvalidInput, match="must be a problem"):
        gsopt.solve("reclaiming/aryl-figure-5")  # type: ignore[arg-type]


def test_a_search_for_a_start_gets_a_part_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heuristic that takes any time it gets is told how much, where there is a limit."""
    given: list[float | None] = []

    @heuristic
    def searching(problem: Reclaiming, *, most_seconds: float | None = None) -> ReclaimingSolution:
        given.append(most_seconds)
        return pick(*[server.name for server in problem.servers[: problem.demand]])

    names: dict[str, Any] = {"first": first_servers, "searching": searching}
    monkeypatch.setattr("gsopt.studies.solve.own_heuristics", lambda _: names)
    gsopt.solve(figure_5(demand=2), time_limit=60)
    gsopt.solve(figure_5(demand=2))
    (limited, free) = given
    assert limited is not None
    assert 0 < limited <= 30
    assert free is None


def test_ctrl_c_among_the_heuristics_leaves_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted before the exact method begins, a solve gives the best of the heuristics that have ended."""

    def interrupted(problem: Reclaiming) -> Result[ReclaimingSolution]:
        raise KeyboardInterrupt(problem.word)

    problem = figure_5(demand=2)
    monkeypatch.setattr(_SOLVE, "own_heuristics", lambda _: {"greedy": greedy, "interrupted": interrupted})
    found = gsopt.solve(problem)
    assert (found.objective, found.stopped_by) == (greedy(problem).objective, StoppedBy.INTERRUPT)
    monkeypatch.setattr(_SOLVE, "own_heuristics", lambda _: {"interrupted": interrupted})
    with pytest.raises(KeyboardInterrupt):
        gsopt.solve(problem)
