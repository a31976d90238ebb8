"""What files say of instances is computed anew, judged, and written back where it is better."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from math import nextafter
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import Unsupported
from gsopt.core.files import write
from gsopt.core.problem import About, Frozen, Problem
from gsopt.core.result import Result, StoppedBy
from gsopt.evaluation.catalogue import best_solution, load, names
from gsopt.evaluation.tables import text_of
from gsopt.problems.reader import read_problem, read_solution
from gsopt.problems.reclaiming import ReclaimingSolution
from gsopt.solvers.backends.process import Pool
from gsopt.studies.suites import (
    Known,
    Verdict,
    Verification,
    VerificationOutcome,
    record,
    verdict,
    verification,
    verify,
)
from gsopt.studies.suites.verdict import compare, examine
from gsopt.studies.suites.verification import call
from instances.reclaiming import figure_5
from instances.suites import renamed, with_about
from tests.refusals import assert_refused
from tests.unwrap import unwrap

BEST = ReclaimingSolution(servers=("s1", "s2"))
WORSE = ReclaimingSolution(servers=("s1", "s3"))  # preempts two jobs


ONE_SERVER = ReclaimingSolution(servers=("s1",))
FAR = date(2999, 1, 1)

_PROVEN: dict[str, Any] = {"objective": 1.0, "bound": 1.0, "proved_by": "a"}
_TWO: dict[str, Any] = {"objective": 2.0, "bound": 2.0, "proved_by": "a"}
_OPEN: dict[str, Any] = {"objective": 1.0, "found_by": "a"}
_BRACKET: dict[str, Any] = {"objective": 2.0, "bound": 0.0, "found_by": "a"}
_WRONG = VerificationOutcome.CONTRADICTED
_BROKEN = "the solution on file breaks a rule"


def stating(**facts: Any) -> Problem[Any]:
    """Return the paper's example, whose optimum is 1, with other facts."""
    nothing = {"objective": None, "bound": None, "proved_by": "", "found_by": "", "since": date(2026, 11, 20)}
    return with_about(figure_5(), {**nothing, **facts})


@pytest.mark.parametrize(
    ("facts", "solution", "outcome", "note"),
    [
        (_PROVEN, BEST, VerificationOutcome.CONFIRMED, ""),
        (_OPEN | {"bound": 0.0}, BEST, VerificationOutcome.IMPROVED, "bound 0 -> 1, proven"),
        (_OPEN, BEST, VerificationOutcome.IMPROVED, "bound none -> 1, proven"),
        (_BRACKET, WORSE, VerificationOutcome.IMPROVED, "value 2 -> 1, bound 0 -> 1, proven"),
        ({}, None, VerificationOutcome.IMPROVED, "value none -> 1, bound none -> 1, proven"),
        (_TWO, BEST, _WRONG, "the solution on file is worth 1, the file says 2"),
        (_TWO, WORSE, _WRONG, "value 1 is better than the bound 2 on file"),  # another solution is better
        (_PROVEN, None, VerificationOutcome.IMPROVED, "a solution of value 1"),  # now it can be checked
        (_PROVEN, ONE_SERVER, _WRONG, f"{_BROKEN}: servers: 1 are returned, the demand is 2"),
        ({"proved_by": "a"}, None, _WRONG, "has a solution of value 1; the file says that there is none"),
        (_PROVEN | {"bound": 0.0}, BEST, _WRONG, "the file says 1 is proven, and its bound is 0"),
        (_PROVEN | {"bound": None}, BEST, _WRONG, "the file says 1 is proven, and its bound is none"),
        (_PROVEN | {"since": None}, BEST, _WRONG, "the file does not say since when the values are known"),
        (_PROVEN | {"since": FAR}, BEST, _WRONG, "the file says since 2999-01-01, which is yet to come"),
        ({"bound": 0.0, "found_by": "a"}, BEST, _WRONG, "a solution of value 1 is on file, and no value"),
    ],
)
def test_whatever_files_say_is_held_against_the_optimum(
    facts: dict[str, Any], solution: Frozen | None, outcome: VerificationOutcome, note: str
) -> None:
    """What is right is confirmed, what is not the best is improved, and what is wrong is named."""
    found = compare(stating(**facts), solution, time_limit=30)
    assert (found.outcome, found.note) == (outcome, note)


_NEAR = _BRACKET | {"bound": 1.0}
_LATE = {"solution": WORSE, "stopped_by": StoppedBy.TIME_LIMIT}


@pytest.mark.parametrize(
    ("facts", "solution", "found", "outcome", "note"),
    [
        (_TWO, WORSE, {**_LATE, "bound": 0}, VerificationOutcome.OPEN, "bound 0 so far; the file says 2"),
        (_PROVEN, None, {**_LATE, "bound": 1}, VerificationOutcome.OPEN, "value 2 so far; the file says 1"),
        (_NEAR, WORSE, {**_LATE, "bound": 0}, VerificationOutcome.OPEN, "bound 0 so far; the file says 1"),
        (_NEAR, WORSE, {**_LATE, "bound": 1}, VerificationOutcome.CONFIRMED, ""),
        (_BRACKET, WORSE, {**_LATE, "bound": 1}, VerificationOutcome.IMPROVED, "bound 0 -> 1"),
        (_OPEN | {"bound": 0.0}, BEST, {"bound": 3}, _WRONG, "bound 3 forbids the value 1 on file"),
        (_OPEN | {"bound": 0.0}, BEST, {"infeasible": True}, _WRONG, "has no solution; the file says 1"),
    ],
)
def test_what_is_found_in_time_is_held_against_files(
    monkeypatch: pytest.MonkeyPatch,
    facts: dict[str, Any],
    solution: Frozen | None,
    found: dict[str, Any],
    outcome: VerificationOutcome,
    note: str,
) -> None:
    """A weaker bound confirms neither a proof nor a bracket, and one beyond the value contradicts both."""
    result = Result.judged(figure_5(), method="exact", runtime=1.0, **found)
    monkeypatch.setattr(verdict, "solve", lambda *_, **__: result)
    held = compare(stating(**facts), solution, time_limit=1)
    assert (held.outcome, held.note) == (outcome, note)


def test_rounding_is_no_contradiction() -> None:
    """A value may be off by its storage as a float, and by no more."""
    problem = load("allocation/small/decimals")
    solution, stated = best_solution(problem.name), problem.about and problem.about.objective
    assert stated
    for value, outcome in (
        (nextafter(stated, 1), VerificationOutcome.CONFIRMED),
        (stated * (1 + 1e-12), VerificationOutcome.CONTRADICTED),
    ):
        said = with_about(problem, {"objective": value, "bound": value})
        assert compare(said, solution, time_limit=30).outcome is outcome


def test_an_infeasible_instance_is_confirmed() -> None:
    """That there is no solution is proven again."""
    assert examine("placement/small/too-large-a-worker", time_limit=30).outcome is VerificationOutcome.CONFIRMED


@pytest.mark.parametrize("name", names())
def test_every_value_on_file_is_that_of_its_solution(name: str) -> None:
    """Every committed instance with a value has a solution that the judge finds worth just that."""
    problem = load(name)
    solution = best_solution(name)
    assert (solution is None) == (problem.about is None or problem.about.objective is None)
    assert list(verdict._wrong_of_solution(problem, Known.of(problem), solution)) == []  # noqa: SLF001


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
    assert now.model_copy(update={"about": None}) == problem.model_copy(update={"about": None})
    assert compare(now, read_solution(solution, now), time_limit=30).outcome is VerificationOutcome.CONFIRMED


def test_a_better_bound_alone_leaves_a_bracket(problem: Problem[Any], tmp_path: Path) -> None:
    """The better value and the better bound stay, whichever side they come from."""
    result = Result.judged(problem, method="exact", solution=WORSE, bound=1, solver="highs", runtime=1.0)
    improved = Verdict(problem.name, VerificationOutcome.IMPROVED, "bound 0 -> 1", Known.of(problem), result)
    record(improved, tmp_path, today=TODAY)
    about = unwrap(read_problem(tmp_path / "reclaiming/example.json").about)
    assert (about.objective, about.bound) == (2.0, 1.0)
    assert (about.proved_by, about.found_by, about.since) == ("", "exact, highs", TODAY)
    bound = Result.judged(problem, method="prices", bound=1, runtime=1.0)
    record(
        Verdict(problem.name, VerificationOutcome.IMPROVED, "", Known.of(problem), bound), tmp_path, today=TODAY
    )
    about = unwrap(read_problem(tmp_path / "reclaiming/example.json").about)
    assert (about.objective, about.bound) == (2.0, 1.0)  # the value stays although no solution came with it
    weak = Result.judged(problem, method="exact", solution=BEST, runtime=1.0)
    record(
        Verdict(problem.name, VerificationOutcome.IMPROVED, "", Known.of(problem), weak), tmp_path, today=TODAY
    )
    about = unwrap(read_problem(tmp_path / "reclaiming/example.json").about)
    assert (about.objective, about.bound) == (1.0, 0.0)  # the bound that was known before


@pytest.mark.parametrize("on_file", [BEST, None])
def test_a_worse_solution_with_a_better_bound_is_not_stored(
    problem: Problem[Any], tmp_path: Path, on_file: Frozen | None
) -> None:
    """The bound is written, and the solution on file, if any, stays the one that is worth the stated value."""
    said = with_about(problem, {"objective": 1.0})
    file, kept = tmp_path / "reclaiming/example.json", tmp_path / "solutions/reclaiming/example.json"
    write(said, file)
    if on_file is not None:
        kept.parent.mkdir(parents=True)
        write(on_file, kept)
    result = Result.judged(said, method="exact", solution=WORSE, bound=1, runtime=1.0)
    held = verdict.held_against_file(said, result, has_solution=on_file is not None)

    assert (held.outcome, held.note) == (VerificationOutcome.IMPROVED, "bound 0 -> 1")
    assert record(held, tmp_path, today=TODAY) == [file]
    now = read_problem(file)
    assert kept.exists() == (on_file is not None)
    stored = read_solution(kept, now) if on_file else None
    assert stored == on_file
    assert compare(now, stored, time_limit=30).outcome is VerificationOutcome.IMPROVED


def test_a_proof_takes_the_solution_that_it_lacked(problem: Problem[Any], tmp_path: Path) -> None:
    """A value that was proven without a solution on file has one then; the proof stays as it is."""
    proof = with_about(problem, {"objective": 1.0, "bound": 1.0, "proved_by": "a", "found_by": ""})
    write(proof, tmp_path / "reclaiming/example.json")
    record(compare(proof, None, time_limit=30), tmp_path, today=TODAY)
    assert read_problem(tmp_path / "reclaiming/example.json") == proof
    solution = read_solution(tmp_path / "solutions/reclaiming/example.json", proof)
    assert proof.objective(solution) == 1


@pytest.mark.parametrize(
    "outcome", [each for each in VerificationOutcome if each is not VerificationOutcome.IMPROVED]
)
def test_nothing_else_is_written(problem: Problem[Any], tmp_path: Path, outcome: VerificationOutcome) -> None:
    """A verdict that improves nothing changes no file."""
    result = compare(problem, WORSE, time_limit=30).result
    assert record(Verdict(problem.name, outcome, "", Known.of(problem), result), tmp_path) == []
    assert read_problem(tmp_path / "reclaiming/example.json") == problem
    assert not (tmp_path / "solutions").exists()


def test_a_folder_that_cannot_be_written_is_named(problem: Problem[Any], tmp_path: Path) -> None:
    """Files that are not there to be replaced are refused before anything is written."""
    verdict = compare(problem, WORSE, time_limit=30)
    assert_refused("cannot be written", record, verdict, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


FEW = names("reclaiming/small/")[:6]


def verdict_on(name: str, outcome: VerificationOutcome, note: str = "") -> Verdict:
    """Return a verdict that nobody computed."""
    return Verdict(name, outcome, note, Known.of(load(name)))


def test_every_instance_has_a_verdict() -> None:
    """Two processes settle all instances, each is told once, and the rows are in order."""
    told: list[str] = []
    done = verify(*FEW, time_limit="30s", workers=2, on_verdict=lambda each: told.append(each.instance))
    assert [each.instance for each in done] == FEW
    assert sorted(told) == sorted(FEW)
    assert {each.outcome for each in done} == {VerificationOutcome.CONFIRMED}
    assert done.missing == 0
    json.dumps(done.records())


def test_interrupt_keeps_what_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C the verdicts so far are there, the rest is counted, and no process is left."""
    pools: list[Pool] = []

    class Watched(Pool):
        def __init__(self) -> None:
            super().__init__()
            pools.append(self)

    def interrupt(_: Verdict) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verification, "Pool", Watched)
    done = verify(*FEW, time_limit=30, workers=1, on_verdict=interrupt)
    assert len(done) == 1
    assert done.missing == len(FEW) - 1
    assert pools[0].pids == []


@pytest.mark.parametrize("error", [MemoryError("too large"), Unsupported("too large")])
def test_a_method_that_fails_is_a_verdict(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """An instance on which the method fails has a verdict like any other."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(verification, "examine", fail)
    failed = call((FEW[0], 1.0), None)
    assert (failed.outcome, failed.note) == (VerificationOutcome.FAILED, f"{type(error).__name__}: too large")
    assert failed.outcome.is_wrong


def test_a_process_that_dies_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash settles its instance as failed, and the others go on."""

    class Dying:
        def call(self, function: Any, task: tuple[str, float], **options: Any) -> Any:
            from gsopt.solvers.backends.process import Reply

            del options
            return Reply(None, None, "died") if task[0] == FEW[0] else Reply(function(task, None))

    class Thin(Pool):
        @contextmanager
        def borrow(self, *_: Any, **__: Any) -> Iterator[Any]:
            yield Dying()

    monkeypatch.setattr(verification, "Pool", Thin)
    done = verify(*FEW[:2], time_limit=30, workers=2)
    assert [each.outcome for each in done] == [VerificationOutcome.FAILED, VerificationOutcome.CONFIRMED]
    assert done[0].note == "died"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -1.0}, "time_limit: -1.0: must be a number of seconds"),
        ({"time_limit": None}, "time_limit: None: must be given"),
        ({"workers": 0}, "workers: 0: must be at least 1"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    """Nothing is computed with an option that makes no sense."""
    assert_refused(message, verify, *FEW, **options)


def test_the_table_counts_outcomes_and_names_what_is_not_confirmed() -> None:
    """A suite has its outcomes counted; each note stands in a line of its own."""
    told = [
        (VerificationOutcome.CONFIRMED, ""),
        (VerificationOutcome.IMPROVED, "bound 1 -> 2"),
        (VerificationOutcome.CONTRADICTED, "no [bold]"),
    ]
    done = Verification(tuple(verdict_on(name, *each) for name, each in zip(FEW, told, strict=False)), 4)
    shown = text_of(done.table())
    assert ["reclaiming/small", "3", "1", "1", "1"] in [line.split() for line in shown.splitlines()]
    assert f"{FEW[1]}: improved: bound 1 -> 2" in shown.splitlines()
    assert f"{FEW[2]}: contradicted: no [bold]" in shown.splitlines()
