"""Comparing: rows, the shared bound, and what contradicts it."""

import pytest

import gsopt
from gsopt.errors import Contradiction, Unsupported
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Level, Result
from gsopt.studies import catalogue
from tests.gsopt.problems.test_reclaiming import figure_5, pick
from tests.gsopt.studies.test_solve import idle
from tests.gsopt.test_method import first_servers


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
    assert [(row.method, row.result and row.result.objective) for row in comparison] == [
        ("idle", 1),
        ("first_servers", 1),
    ]


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
    with pytest.raises(Contradiction, match="first_servers found 1, better than the bound 2 proven by lies"):
        gsopt.compare(figure_5(2), [lies, first_servers])


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
