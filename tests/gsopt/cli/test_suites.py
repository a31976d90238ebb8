"""The command `gsopt suites`."""

import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from gsopt.evaluation import catalogue
from gsopt.evaluation.catalogue import best_solution, instances_folder, load, names
from gsopt.problems.reader import read_problem
from gsopt.studies import suites
from gsopt.studies.suites import Known, Verdict, Verification, VerificationOutcome
from gsopt.studies.suites.verdict import compare
from instances.suites import with_about
from tests.commands import gsopt, refused


def test_suites_are_listed() -> None:
    """Without a name every suite has a line; the word table may be left out."""
    run = gsopt("suites")
    assert run.returncode == 0
    assert {name.rpartition("/")[0] for name in names()} <= set(run.stdout.split())
    assert gsopt("suites", "table").stdout == run.stdout


def test_a_suite_is_listed_in_every_form() -> None:
    """Text, CSV, Markdown and JSON have the same instances."""
    wanted = names("waiting/medium/")
    assert len(json.loads(gsopt("suites", "waiting/medium", "--json").stdout)) == len(wanted)
    assert gsopt("suites", "waiting/medium", "--csv").stdout.count("\n") == len(wanted) + 1
    assert gsopt("suites", "waiting/medium", "--markdown").stdout.count("\n") == len(wanted) + 2
    assert all(name.rpartition("/")[2] in gsopt("suites", "waiting/medium").stdout for name in wanted)


def test_challenges_are_listed() -> None:
    """What is not proven is listed by itself."""
    found = json.loads(gsopt("suites", "--challenges", "--json").stdout)
    assert {each["standing"] for each in found} == {"challenge"}


def test_wrong_use_is_one_line() -> None:
    """A name that stands for nothing and two forms at once are refused."""
    assert refused("suites", "nope") == "gsopt: suites: 'nope': is not a decision, suite or committed instance"
    assert refused("suites", "--csv", "--json") == "gsopt: suites: takes one of --csv, --markdown, --json"


def test_what_is_known_is_computed_anew() -> None:
    """An instance that is right ends in exit code 0 and a verdict."""
    run = gsopt("suites", "verify", "reclaiming/aryl-figure-5", "--json", "--time-limit", "30")
    (row,) = json.loads(run.stdout)
    assert run.returncode == 0
    assert (row["outcome"], row["found_bound"]) == ("confirmed", 1)


def settled(
    verdict: Verdict, total: int, *_: str, on_verdict: Callable[[Verdict], None], **__: object
) -> Verification:
    """Return one verdict on so many instances, instead of computing any."""
    on_verdict(verdict)
    return Verification((verdict,), total)


@pytest.mark.parametrize(
    ("outcome", "total", "code"),
    [
        (VerificationOutcome.IMPROVED, 1, Exit.SOLUTION),  # which is no error
        (VerificationOutcome.OPEN, 1, Exit.SOLUTION),
        (VerificationOutcome.CONTRADICTED, 1, Exit.FAILED),
        (VerificationOutcome.FAILED, 1, Exit.FAILED),
        (VerificationOutcome.CONFIRMED, 2, Exit.INTERRUPTED),  # Ctrl-C has left one out
    ],
)
def test_the_exit_code_says_whether_files_are_right(
    monkeypatch: pytest.MonkeyPatch, outcome: VerificationOutcome, total: int, code: Exit
) -> None:
    """Only what is wrong is a failure; Ctrl-C shows what is settled."""
    name = "reclaiming/aryl-figure-5"
    verdict = Verdict(name, outcome, "a note", Known.of(load(name)))

    monkeypatch.setattr(suites, "verify", partial(settled, verdict, total))
    run = gsopt("suites", "verify", name)
    assert run.returncode == code
    assert f"{name}: {outcome.value}: a note" in run.stdout
    assert ("1 of 2 instances are left out" in run.stderr) == (code is Exit.INTERRUPTED)


@pytest.mark.parametrize("given", [(), ("--update",)])
def test_files_change_only_when_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: tuple[str, ...]
) -> None:
    """Improvements are written back with --update, and not without."""
    name = "reclaiming/aryl-figure-5"
    file = tmp_path / f"{name}.json"
    file.parent.mkdir()
    bracket = with_about(load(name), {"bound": 0.0, "proved_by": "", "found_by": "luck"})
    write(bracket, file)
    verdict = compare(bracket, best_solution(name), time_limit=30)

    monkeypatch.setattr(suites, "verify", partial(settled, verdict, 1))
    monkeypatch.setattr(catalogue, "instances_folder", lambda: tmp_path)
    assert gsopt("suites", "verify", name, *given).returncode == 0
    assert (read_problem(file) == bracket) == (not given)


def test_a_submission_is_held_against_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A better solution prints its entry; another one only says what is known, in one line."""
    name = "reclaiming/aryl-figure-5"
    file = instances_folder() / "solutions" / f"{name}.json"
    run = gsopt("suites", "submit", name, file, "--by", "A. Person")
    line = f"{name}: value 1 is not better than the best known value 1\n"
    assert (run.returncode, run.stdout, run.stderr) == (Exit.FAILED, "", line)

    worse = with_about(load(name), {"objective": 2.0, "bound": 0.0, "proved_by": "", "found_by": "luck"})
    monkeypatch.setattr(catalogue, "load", lambda _: worse)
    run = gsopt("suites", "submit", name, file, "--by", "A. Person")
    assert (run.returncode, run.stderr) == (Exit.SOLUTION, f"{name}: value 2 -> 1\n")
    entry = json.loads(run.stdout)
    assert (entry["instance"], entry["about"]["found_by"]) == (name, "A. Person")
    assert entry["digest"] == sha256(file.read_bytes()).hexdigest()
    assert "--by" in gsopt("suites", "submit", name, file).stderr
    assert refused("suites", "submit", "traces/nope", file, "--by", "me").startswith(
        "gsopt: name: 'nope': must be"
    )
