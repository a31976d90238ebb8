"""Comparing: rows, the shared bound, and what contradicts it."""

import re
from functools import partial
from typing import Any

import pytest

import gsopt
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction, Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Level, Result
from gsopt.evaluation import catalogue
from gsopt.evaluation.comparison import ComparisonRow
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.scenario.job import Workload
from tests.gsopt.core.test_method import first_servers
from tests.gsopt.evaluation.test_solve import idle
from tests.gsopt.problems.test_reclaiming import figure_5, pick
from tests.refusals import assert_refused
from tests.unwrap import unwrap


def lies(problem: Reclaiming) -> Result[ReclaimingSolution]:
    """Claim a bound above the optimum."""
    return Result.judged(problem, method="lies", solution=pick("s3", "s4"), bound=2, runtime=0.0)


def gives_up(problem: Reclaiming) -> Result[ReclaimingSolution]:
    """Refuse every problem."""
    raise Unsupported(f"no {problem.word} today")


def stops(problem: Reclaiming) -> Result[ReclaimingSolution]:
    """Behave as if the user pressed Ctrl-C."""
    raise KeyboardInterrupt(problem.name)


def test_comparison_hands_the_best_heuristic_over() -> None:
    """Heuristics run before exact methods, which start from the best, and stand where they were named."""
    seen: list[str] = []
    comparison = gsopt.compare(figure_5(2), [idle, first_servers], on_row=lambda row: seen.append(row.method))
    assert seen == ["first_servers", "idle"]
    found = [(row.method, row.result and row.result.objective) for row in comparison]
    assert found == [("idle", 1), ("first_servers", 1)]


def test_comparison_shares_the_best_bound() -> None:
    """Every row of an instance is measured against the best bound that any method proved."""
    comparison = gsopt.compare(figure_5(2), [catalogue.find_method("reclaiming", "exact"), first_servers])
    assert [(row.kind, row.bound, row.gap) for row in comparison] == [("exact", 1, 0.0), ("heuristic", 1, 0.0)]


def test_all_methods_agree_on_the_example() -> None:
    """Comparing all methods raises the optimum to level agreed, as two families prove it."""
    comparison = gsopt.compare(figure_5(2))
    assert {row.method for row in comparison} == set(catalogue.methods("reclaiming"))
    assert Level.AGREED in {row.result.level for row in comparison if row.result}


def test_contradiction_stops_the_comparison() -> None:
    """A bound above another method's value raises."""
    with pytest.raises(
        Contradiction, match=r"^reclaiming: first_servers found 1, better than the bound 2 proven by lies"
    ):
        gsopt.compare(figure_5(2), [lies, first_servers])


@exact_method()
def proves_too_much(problem: Reclaiming, budget: Budget) -> Result[ReclaimingSolution]:
    """Claim a bound above the optimum, and no solution."""
    return Result.judged(problem, method="proves_too_much", bound=2, runtime=budget.runtime)


def test_contradicted_start_stops_the_comparison() -> None:
    """A bound above the solution that an exact method starts from raises, and is no row."""
    with pytest.raises(Contradiction, match=r"^reclaiming: .* better than the bound 2"):
        gsopt.compare(figure_5(2), [proves_too_much, first_servers])


def test_method_that_does_not_apply_leaves_a_note() -> None:
    """An unsupported instance gives a row without result that says why."""
    (row,) = gsopt.compare(figure_5(2), [gives_up])
    assert (row.result, row.note) == (None, "no reclaiming today")


def test_interrupt_keeps_the_finished_rows() -> None:
    """Ctrl-C ends a comparison with the rows so far and says so."""
    seen: list[str] = []
    comparison = gsopt.compare(
        [figure_5(2), figure_5(3)], [first_servers, stops], on_row=lambda row: seen.append(row.method)
    )
    assert comparison.interrupted
    assert seen == ["first_servers"] == [row.method for row in comparison]


def test_one_algorithm_under_two_names_does_not_agree_with_itself() -> None:
    """An optimum is agreed only when another technique proved it, not when the same one did twice."""
    problem = gsopt.load("allocation/aryl-table-4")
    same_code = gsopt.compare(problem, ["exact", "bundling"])
    assert {row.result.level for row in same_code if row.result} == {Level.CHECKED}
    two_codes = gsopt.compare(problem, ["bundling", "milp"])
    assert {row.result.level for row in two_codes if row.result} == {Level.AGREED}


def plain_servers(problem: Reclaiming, *, skip: int = 0) -> ReclaimingSolution:
    """Return the first servers of the list, without any decoration."""
    return ReclaimingSolution(servers=[each.name for each in problem.servers[skip : skip + problem.demand]])


def crashes(problem: Reclaiming) -> ReclaimingSolution:
    """Fail as a program does that has a mistake."""
    raise ZeroDivisionError(f"in {problem.word}\nand more")


def too_few(problem: Reclaiming) -> ReclaimingSolution:
    """Return no server."""
    del problem
    return ReclaimingSolution(servers=[])


def test_plain_functions_are_compared() -> None:
    """An undecorated function is timed and judged as a heuristic, with its options."""
    (row,) = gsopt.compare(figure_5(2), [plain_servers], skip=1)
    assert (row.method, row.kind, row.result and row.result.objective) == ("plain_servers", "heuristic", 2)
    assert unwrap(gsopt.compare(figure_5(2), plain_servers)[0].result).level is Level.CHECKED


def test_a_method_that_raises_is_a_row() -> None:
    """Whatever a method raises stands in its row, by type and message; the other rows are whole."""
    comparison = gsopt.compare([figure_5(2), figure_5(3)], [crashes, first_servers, too_few])
    assert [(row.method, row.failed, row.result is None) for row in comparison] == 2 * [
        ("crashes", True, True),
        ("first_servers", False, False),
        ("too_few", True, True),
    ]
    assert comparison[0].note == "ZeroDivisionError: in reclaiming"
    assert comparison[2].note.startswith("InvalidSolution: too_few on ")
    assert "crashes failed: ZeroDivisionError: in reclaiming" in str(comparison)
    assert re.search(r"^crashes +failed$", str(comparison), re.MULTILINE)
    assert [row["failed"] for row in map(ComparisonRow.as_dict, comparison)] == 2 * [True, False, True]


def test_methods_have_their_own_names() -> None:
    """A path is called as its function, a partial function with its options, a double with a number."""
    path = f"{__name__}:plain_servers"
    chosen: list[Any] = ["greedy", path, partial(plain_servers, skip=1), plain_servers, plain_servers]
    comparison = gsopt.compare(figure_5(2), chosen)
    names = ["greedy", "plain_servers", "plain_servers(skip=1)", "plain_servers (2)", "plain_servers (3)"]
    assert [row.method for row in comparison] == names
    assert [row.method for row in gsopt.compare(figure_5(2), "greedy")] == ["greedy"]


@pytest.mark.parametrize(
    ("problems", "methods", "message"),
    [
        (Workload(jobs=[]), None, "problems: a workload: must be a problem; .* by gsopt.compare_policies"),
        ("reclaiming/aryl-figure-5", None, "problems: 'reclaiming/.*': must be a problem; gsopt.load gives"),
        (7, None, "problems: 7: must be a problem"),
        ([figure_5(2), None], [stops], "problems: None: must be a problem"),
        (figure_5(2), [stops, "greedyy"], "method: 'greedyy': must be one of .*, or package.module:function"),
        (figure_5(2), [stops, 7], "method: 7: must be a name or a callable"),
    ],
)
def test_what_cannot_be_compared_is_refused_first(problems: Any, methods: Any, message: str) -> None:
    """What is no problem, no method or no time limit gives one line before anything has run."""
    assert_refused(message, gsopt.compare, problems, methods)
    assert_refused("time_limit", gsopt.compare, figure_5(2), [stops], time_limit=-1)


def test_policies_are_compared_with_the_optimum() -> None:
    """On a scheduling problem every policy is a row."""
    problem = gsopt.load("scheduling/small/ares-figure-4")
    named = gsopt.compare(problem, list(catalogue.policies()))
    assert all(row.result is not None for row in named)
