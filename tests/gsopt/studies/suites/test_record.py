"""What is better than the files say is written back to them."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.files import write
from gsopt.core.problem import About, Problem
from gsopt.core.result import Result
from gsopt.problems.reader import read_problem, read_solution
from gsopt.problems.reclaiming import ReclaimingSolution
from gsopt.studies.suites import Known, Outcome, Verdict, record
from gsopt.studies.suites.verdict import compare
from instances.reclaiming import figure_5
from instances.suites import renamed, with_about

WORSE = ReclaimingSolution(servers=("s1", "s3"))
BEFORE, TODAY = date(2026, 11, 20), date(2026, 11, 21)


@pytest.fixture
def problem(tmp_path: Path) -> Problem[Any]:
    """Return a file with a bracket of the paper's example, whose optimum is 1."""
    facts = {"objective": 2.0, "bound": 0.0, "found_by": "luck", "since": BEFORE}
    bracket = with_about(renamed(figure_5(), "example"), facts)
    (tmp_path / "reclaiming").mkdir()
    write(bracket, tmp_path / "reclaiming/example.json")
    return bracket


def test_an_improvement_is_written_with_its_day(problem: Problem[Any], tmp_path: Path) -> None:
    """Value, bound, proof, day and solution are the better ones; the data stay as they are."""
    verdict = compare(problem, WORSE, time_limit=30)

    paths = record(verdict, tmp_path, today=TODAY)

    file, solution = tmp_path / "reclaiming/example.json", tmp_path / "solutions/reclaiming/example.json"
    assert sorted(paths) == sorted([file, solution])
    now = read_problem(file)
    about = now.about or About()
    assert (about.objective, about.bound, about.since) == (1.0, 1.0, TODAY)
    assert about.proved_by.startswith("exact")
    assert about.found_by == ""
    assert now.objective(read_solution(solution, now)) == 1
    assert with_about(now, {"objective": None}).model_copy(update={"about": None}) == problem.model_copy(
        update={"about": None}
    )
    assert compare(now, read_solution(solution, now), time_limit=30).outcome is Outcome.CONFIRMED


def test_a_better_bound_alone_leaves_a_bracket(problem: Problem[Any], tmp_path: Path) -> None:
    """The better value and the better bound stay, whichever side they come from."""
    result = Result.judged(problem, method="exact", solution=WORSE, bound=1, solver="highs", runtime=1.0)
    improved = Verdict(problem.name, Outcome.IMPROVED, "bound 0 -> 1", Known.of(problem), result)

    record(improved, tmp_path, today=TODAY)

    about = read_problem(tmp_path / "reclaiming/example.json").about or About()
    assert (about.objective, about.bound) == (2.0, 1.0)
    assert (about.proved_by, about.found_by, about.since) == ("", "exact, highs", TODAY)

    weak = Result.judged(problem, method="exact", solution=figure_best(), runtime=1.0)
    record(Verdict(problem.name, Outcome.IMPROVED, "", Known.of(problem), weak), tmp_path, today=TODAY)
    about = read_problem(tmp_path / "reclaiming/example.json").about or About()
    assert (about.objective, about.bound) == (1.0, 0.0)  # the bound that was known before


def figure_best() -> ReclaimingSolution:
    """Return the best choice of the paper's example."""
    return ReclaimingSolution(servers=("s1", "s2"))


def test_a_proof_takes_the_solution_that_it_lacked(problem: Problem[Any], tmp_path: Path) -> None:
    """A value that was proven without a solution on file has one then; the proof stays as it is."""
    proof = with_about(problem, {"objective": 1.0, "bound": 1.0, "proved_by": "a", "found_by": ""})
    write(proof, tmp_path / "reclaiming/example.json")

    record(compare(proof, None, time_limit=30), tmp_path, today=TODAY)

    assert read_problem(tmp_path / "reclaiming/example.json") == proof
    solution = read_solution(tmp_path / "solutions/reclaiming/example.json", proof)
    assert proof.objective(solution) == 1


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.IMPROVED])
def test_nothing_else_is_written(problem: Problem[Any], tmp_path: Path, outcome: Outcome) -> None:
    """A verdict that improves nothing changes no file."""
    result = compare(problem, WORSE, time_limit=30).result

    assert record(Verdict(problem.name, outcome, "", Known.of(problem), result), tmp_path) == []
    assert read_problem(tmp_path / "reclaiming/example.json") == problem
    assert not (tmp_path / "solutions").exists()


def test_a_folder_that_cannot_be_written_is_named(problem: Problem[Any], tmp_path: Path) -> None:
    """Files that are not there to be replaced are refused before anything is written."""
    verdict = compare(problem, WORSE, time_limit=30)

    with pytest.raises(InvalidInput, match="cannot be written"):
        record(verdict, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()
