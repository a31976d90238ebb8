"""Finding methods, solving and comparing."""

from typing import Any

import pytest

import gsopt
from gsopt import study
from gsopt.backends import Highs, close
from gsopt.backends.process import POOL
from gsopt.budget import Budget
from gsopt.errors import Contradiction, InvalidInput, Unsupported
from gsopt.files import problem_types
from gsopt.method import exact_method
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Level, Result, Status
from tests.gsopt.problems.test_reclaiming import figure_5, pick
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


def test_every_decision_has_a_default_exact_method() -> None:
    """Each decision offers `exact`, further exact methods or heuristics, and no name twice."""
    for word in problem_types():
        exact, heuristics = study.exact_methods(word), study.heuristics(word)
        assert "exact" in exact
        assert heuristics
        assert not set(exact) & set(heuristics)


def test_methods_are_called_what_their_package_calls_them() -> None:
    """The name in `__all__` is the method's own name, so tables and options speak of the same thing."""
    for word in problem_types():
        assert [name for name, method in study.methods(word).items() if method.__name__ != name] == []


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
        ({"time_limit": -1}, "time_limit: -1: must be a finite number"),
        ({"time_limit": float("nan")}, "time_limit: nan: must be a finite number"),
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
    found = [method(problem).objective for method in study.heuristics("reclaiming").values()]
    assert gsopt.solve(problem, idle).objective == min(value for value in found if value is not None)
    assert gsopt.solve(figure_5(2), idle, start=pick("s3", "s4")).solution == pick("s3", "s4")


def test_no_heuristic_begins_when_half_of_the_time_is_over() -> None:
    """With hardly any time the first heuristic alone gives the start, and there always is one."""
    problem = figure_5(2)
    first = next(iter(study.heuristics("reclaiming").values()))
    assert gsopt.solve(problem, idle, time_limit=0.0).solution == first(problem).solution


def test_comparison_hands_the_best_heuristic_over() -> None:
    """Heuristics run before exact methods, which start from the best, and stand where they were named."""
    seen: list[str] = []
    comparison = gsopt.compare(figure_5(2), [idle, first_servers], on_row=lambda row: seen.append(row.method))
    assert seen == ["first_servers", "idle"]
    assert [(row.method, row.result and row.result.objective) for row in comparison] == [
        ("idle", 1),
        ("first_servers", 1),
    ]


def test_warming_up_leaves_nothing_to_start() -> None:
    """After warming up, a solver's process is idle and the exact methods are loaded."""
    close()
    gsopt.warm_up(Highs())
    assert len(POOL.pids) == 1
    gsopt.solve(figure_5(2), "milp")
    assert len(POOL.pids) == 1


def test_comparison_shares_the_best_bound() -> None:
    """Every row of an instance is measured against the best bound that any method proved."""
    comparison = gsopt.compare(figure_5(2), [study.find_method("reclaiming", "exact"), first_servers])
    assert [(row.kind, row.bound, row.gap) for row in comparison] == [("exact", 1, 0.0), ("heuristic", 1, 0.0)]


def test_all_methods_agree_on_the_example() -> None:
    """Comparing all methods raises the optimum to level agreed, as two families prove it."""
    comparison = gsopt.compare(figure_5(2))
    assert {row.method for row in comparison} == set(study.methods("reclaiming"))
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


def test_unknown_decision_is_refused() -> None:
    """A word that is no decision gives one line with the known ones."""
    with pytest.raises(InvalidInput, match="decision: 'scheming': must be one of"):
        study.methods("scheming")


def test_generators_are_the_exports_of_the_instances() -> None:
    """Every generator that the package exports is offered."""
    assert {"churn", "figure_5", "random_hypergraph", "server_uniform"} <= set(study.generators("reclaiming"))


def test_one_algorithm_under_two_names_does_not_agree_with_itself() -> None:
    """An optimum is agreed only when another technique proved it, not when the same one did twice."""
    problem = gsopt.load("allocation/aryl-table-4")
    same_code = gsopt.compare(problem, ["exact", "bundling"])
    assert {row.result.level for row in same_code if row.result} == {Level.CHECKED}
    two_codes = gsopt.compare(problem, ["bundling", "milp"])
    assert {row.result.level for row in two_codes if row.result} == {Level.AGREED}


def test_the_demo_workload_keeps_its_policies_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without real data the demo's generated workload is busy enough for policies to differ."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    workload, gpus = study.demo_workload()
    policies = study.policies()
    rows = gsopt.compare_policies(workload, [policies["fifo"], policies["srtf"]], cluster=gpus)
    assert rows[0].mean_jct > 2 * rows[1].mean_jct


def test_a_name_in_the_place_of_a_problem_is_refused() -> None:
    """Solving a string says how to get a problem from it."""
    with pytest.raises(InvalidInput, match="must be a problem"):
        gsopt.solve("reclaiming/aryl-figure-5")  # type: ignore[arg-type]
