"""What files say of instances is held against the judge and the exact method."""

from datetime import date
from math import nextafter
from typing import Any

import pytest

from gsopt.core.problem import Frozen, Problem
from gsopt.core.result import Result, StoppedBy
from gsopt.evaluation.catalogue import best_solution, load, names
from gsopt.problems.reclaiming import ReclaimingSolution
from gsopt.studies.suites import Known, verdict
from gsopt.studies.suites.verdict import Outcome, compare, examine
from instances.reclaiming import figure_5
from instances.suites import with_about

BEST = ReclaimingSolution(servers=("s1", "s2"))
WORSE = ReclaimingSolution(servers=("s1", "s3"))  # preempts two jobs


def stating(**facts: Any) -> Problem[Any]:
    """Return the paper's example, whose optimum is 1, with other facts."""
    nothing = {"objective": None, "bound": None, "proved_by": "", "found_by": "", "since": date(2026, 11, 20)}
    return with_about(figure_5(), {**nothing, **facts})


@pytest.mark.parametrize(
    ("facts", "solution", "outcome", "note"),
    [
        ({"objective": 1.0, "bound": 1.0, "proved_by": "a"}, BEST, Outcome.CONFIRMED, ""),
        ({"objective": 1.0, "bound": 0.0, "found_by": "a"}, BEST, Outcome.IMPROVED, "bound 0 -> 1, proven"),
        ({"objective": 1.0, "found_by": "a"}, BEST, Outcome.IMPROVED, "bound none -> 1, proven"),
        (
            {"objective": 2.0, "bound": 0.0, "found_by": "a"},
            WORSE,
            Outcome.IMPROVED,
            "value 2 -> 1, bound 0 -> 1, proven",
        ),
        ({}, None, Outcome.IMPROVED, "value none -> 1, bound none -> 1, proven"),
        (
            {"objective": 2.0, "bound": 2.0, "proved_by": "a"},
            BEST,
            Outcome.CONTRADICTED,
            "the solution on file is worth 1, the file says 2",
        ),
        (
            {"objective": 2.0, "bound": 2.0, "proved_by": "a"},  # another solution is better
            WORSE,
            Outcome.CONTRADICTED,
            "value 1 is better than the bound 2 on file",
        ),
        (
            {"objective": 1.0, "bound": 1.0, "proved_by": "a"},
            None,
            Outcome.IMPROVED,  # now it can be checked
            "a solution of value 1",
        ),
        (
            {"objective": 1.0, "bound": 1.0, "proved_by": "a"},
            ReclaimingSolution(servers=("s1",)),
            Outcome.CONTRADICTED,
            "the solution on file breaks a rule: servers: 1 are returned, the demand is 2",
        ),
        (
            {"proved_by": "a"},  # said to be infeasible
            None,
            Outcome.CONTRADICTED,
            "has a solution of value 1; the file says that there is none",
        ),
        (
            {"objective": 1.0, "bound": 0.0, "proved_by": "a"},
            BEST,
            Outcome.CONTRADICTED,
            "the file says 1 is proven, and its bound is 0",
        ),
        (
            {"objective": 1.0, "proved_by": "a"},
            BEST,
            Outcome.CONTRADICTED,
            "the file says 1 is proven, and its bound is none",
        ),
        (
            {"objective": 1.0, "bound": 1.0, "proved_by": "a", "since": None},
            BEST,
            Outcome.CONTRADICTED,
            "the file does not say since when",
        ),
        (
            {"objective": 1.0, "bound": 1.0, "proved_by": "a", "since": date(2999, 1, 1)},
            BEST,
            Outcome.CONTRADICTED,
            "the file says since 2999-01-01, which is yet to come",
        ),
        (
            {"bound": 0.0, "found_by": "a"},
            BEST,
            Outcome.CONTRADICTED,
            "a solution of value 1 is on file, and no value",
        ),
    ],
)
def test_whatever_files_say_is_held_against_the_optimum(
    facts: dict[str, Any], solution: Frozen | None, outcome: Outcome, note: str
) -> None:
    """What is right is confirmed, what is not the best is improved, and what is wrong is named."""
    found = compare(stating(**facts), solution, time_limit=30)

    assert (found.outcome, found.note) == (outcome, note)


def test_a_bound_that_is_not_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weaker bound confirms neither a proof nor a bracket, and one beyond the value contradicts both."""

    def bounded(problem: Problem[Any], bound: float) -> Result[Any]:
        return Result.judged(
            problem,
            method="exact",
            solution=WORSE,
            bound=bound,
            stopped_by=StoppedBy.TIME_LIMIT,
            runtime=1.0,
        )

    proof = stating(objective=2.0, bound=2.0, proved_by="a")
    bracket = stating(objective=2.0, bound=1.0, found_by="a")
    monkeypatch.setattr(verdict, "solve", lambda problem, **_: bounded(problem, 0))
    assert compare(proof, WORSE, time_limit=1).note == "bound 0 so far; the file says 2"
    assert compare(bracket, WORSE, time_limit=1).outcome is Outcome.OPEN
    monkeypatch.setattr(verdict, "solve", lambda problem, **_: bounded(problem, 1))
    assert compare(bracket, WORSE, time_limit=1).outcome is Outcome.CONFIRMED
    unreached = compare(stating(objective=1.0, bound=1.0, proved_by="a"), None, time_limit=1)
    assert (unreached.outcome, unreached.note) == (Outcome.OPEN, "value 2 so far; the file says 1")
    worse_bracket = stating(objective=2.0, bound=0.0, found_by="a")
    assert compare(worse_bracket, WORSE, time_limit=1).note == "bound 0 -> 1"


def test_a_proof_that_forbids_a_value_contradicts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound beyond the value on file is no progress: one of the two is wrong."""
    unsolved = Result.judged(figure_5(), method="exact", bound=3, runtime=1.0)
    impossible = Result.judged(figure_5(), method="exact", infeasible=True, runtime=1.0)
    problem = stating(objective=1.0, bound=0.0, found_by="a")

    monkeypatch.setattr(verdict, "solve", lambda *_, **__: unsolved)
    assert compare(problem, BEST, time_limit=1).note == "bound 3 forbids the value 1 on file"
    monkeypatch.setattr(verdict, "solve", lambda *_, **__: impossible)
    assert compare(problem, BEST, time_limit=1).note == "has no solution; the file says 1"


def test_rounding_is_no_contradiction() -> None:
    """A value may be off by its storage as a float, and by no more."""
    problem = load("allocation/small/decimals")
    solution, stated = best_solution(problem.name), problem.about and problem.about.objective
    assert stated
    for value, outcome in (
        (nextafter(stated, 1), Outcome.CONFIRMED),
        (stated * (1 + 1e-12), Outcome.CONTRADICTED),
    ):
        said = with_about(problem, {"objective": value, "bound": value})
        assert compare(said, solution, time_limit=30).outcome is outcome


def test_an_infeasible_instance_is_confirmed() -> None:
    """That there is no solution is proven again."""
    assert examine("placement/small/too-large-a-worker", time_limit=30).outcome is Outcome.CONFIRMED


@pytest.mark.parametrize("name", names())
def test_every_value_on_file_is_that_of_its_solution(name: str) -> None:
    """Every committed instance with a value has a solution that the judge finds worth just that."""
    problem = load(name)
    solution = best_solution(name)

    assert (solution is None) == (problem.about is None or problem.about.objective is None)
    assert list(verdict._wrong_of_solution(problem, Known.of(problem), solution)) == []  # noqa: SLF001
