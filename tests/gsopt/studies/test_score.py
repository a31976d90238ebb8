"""Scores: the same every time, and a method that misbehaves loses only its own instance."""

import os
from math import fsum
from pathlib import Path
from typing import Any

import pytest

import gsopt
from gsopt.cli.exits import Exit
from gsopt.core.errors import Contradiction, InvalidInput
from gsopt.core.method import run
from gsopt.core.problem import About
from gsopt.evaluation import catalogue
from gsopt.studies.score import Score, ScoredInstance, score
from tests.commands import gsopt as gsopt_command

RULE = """
import os, signal, sys
from gsopt.problems.reclaiming import ReclaimingSolution
from heuristics.allocation import marginal_greedy
from heuristics.placement import best_fit_decreasing
from heuristics.reclaiming import random_choice
from heuristics.shares import progressive_filling

METHODS = {
    "allocation": marginal_greedy,
    "placement": best_fit_decreasing,
    "reclaiming": random_choice,
    "shares": progressive_filling,
}

def any_decision(problem):
    return METHODS[problem.word](problem)

def first(problem):
    return ReclaimingSolution(servers=[server.name for server in problem.servers[: problem.demand]])

def misbehaves(problem):
    if len(problem.servers) == 9:
        while True:
            pass
    if problem.name.endswith("mixed"):
        os._exit(3)
    if problem.name.endswith("worker"):
        return [0] * 10**12
    if problem.name.endswith("graph"):
        sys.exit(2)
    if problem.name.endswith("/tagged"):
        raise ValueError("no")
    return first(problem)

def is_stopped(problem):
    while problem.name.endswith("graph"):
        os.kill(os.getppid(), signal.SIGINT)
        signal.pause()
    return first(problem)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Write a file of rules."""
    path = tmp_path / "program.py"
    path.write_text(RULE)
    return path


def test_a_score_is_the_same_for_any_number_of_workers(program: Path) -> None:
    """One and two workers give the same rows on any decision, and the score is the mean quality."""
    words = ["reclaiming", "allocation", "placement", "shares"]
    some = [name for word in words for name in catalogue.names(f"{word}/small/")[::5]]
    one, two = (score(f"{program}:any_decision", some, limit="20s", workers=workers) for workers in (1, 2))
    assert one.rows == two.rows
    assert not one.failures
    assert one.score == fsum(row.quality for row in one.rows) / len(one)
    assert all(0 <= row.quality <= 1 for row in one)


def test_draws_are_the_same_in_any_process() -> None:
    """A method that draws numbers does in its process what it does here."""
    names = catalogue.names("reclaiming/small/")[::5]
    found = score("random_choice", names, limit="20s")
    here = catalogue.find_method("reclaiming", "random_choice")
    assert [row.objective for row in found.rows] == [run(here, gsopt.load(name)).objective for name in names]


def test_misbehaving_rules_lose_only_their_own_instances(program: Path) -> None:
    """A rule that hangs, exits, exhausts memory or raises has a reason there, and values everywhere else."""
    suite = ["mixed", "worker", "graph", "tagged", "server-uniform-3", "server-uniform-2"]
    names = [f"reclaiming/small/{name}" for name in suite]
    rows = score(f"{program}:misbehaves", names, limit="1s", memory=2**30)
    reasons = [row.failure for row in rows]
    assert "exit code 3" in reasons[0]
    assert "bytes" in reasons[1]
    assert "SystemExit: 2" in reasons[2]
    assert "ValueError: no" in reasons[3]
    assert reasons[4] == "it needs more than 1 s of processor time"
    assert reasons[5] == ""
    assert [row.quality for row in rows][:5] == [0] * 5
    (alone,) = score(f"{program}:first", names[5])
    assert rows[5] == alone


def test_ctrl_c_keeps_the_finished_rows(program: Path) -> None:
    """After Ctrl-C, the finished instances are scored, also on the command line; without any, it is raised."""
    names = [f"reclaiming/small/{name}" for name in ("mixed", "graph", "tagged")]
    found = score(f"{program}:is_stopped", names, limit="20s")
    assert found.interrupted
    assert found.rows == score(f"{program}:first", names[0]).rows
    with pytest.raises(KeyboardInterrupt):
        score(f"{program}:is_stopped", names[1:], limit="20s")
    stopped = gsopt_command("score", f"{program}:is_stopped", "--suite", "reclaiming/small", "--limit", "20s")
    assert stopped.returncode == Exit.INTERRUPTED
    assert "score 0." in stopped.stdout
    assert stopped.stderr == "gsopt: interrupted; the rows above are complete\n"


def test_files_are_read_anew(program: Path) -> None:
    """A file that has changed since the last score is scored as it is now."""
    before = score(f"{program}:first", "reclaiming/small")
    program.write_text("from heuristics.reclaiming import greedy as first")
    after = score(f"{program}:first", "reclaiming/small")
    assert before.score < after.score == score("greedy", "reclaiming/small").score


def test_programs_of_equal_size_and_second_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two programs with the same size and date, each is run, and not the bytecode of the other."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    path = tmp_path / "program.py"
    failures = []
    for name in ("one", "two"):
        path.write_text(f"def rule(problem):\n    raise ValueError({name!r})\n")
        os.utime(path, (1e9, 1e9))
        failures.append(score(f"{path}:rule", "reclaiming/aryl-figure-5").rows[0].failure)
    assert ["one" in failures[0], "two" in failures[1]] == [True, True]


def test_generators_draw_fresh_instances() -> None:
    """Two seeds of a generator give different instances, the same seed gives the same."""
    options: dict[str, Any] = {"servers": 8, "demand": 3, "mode": "worker", "count": 3}
    one, again, other = (score("greedy", "reclaiming/churn", fresh=seed, **options) for seed in (1, 1, 2))
    assert one.rows == again.rows
    assert not {row.instance for row in one} & {row.instance for row in other}


def test_values_beyond_a_bound_stop_the_score() -> None:
    """A value better than the bound on file raises `Contradiction`."""
    problem = gsopt.load("reclaiming/aryl-figure-5").model_copy(
        update={"name": "", "about": About(source="", objective=5, bound=5)}
    )
    with pytest.raises(Contradiction):
        score("greedy", problem)


@pytest.mark.parametrize(
    ("method", "suite", "options", "message"),
    [
        ("greedyy", "reclaiming/small", {}, "method: 'greedyy': must be one of"),
        ("absent.py:rule", "reclaiming/small", {}, "must be an existing file and a function in it"),
        ("greedy", "reclaiming/tall", {}, "suite: 'reclaiming/tall': is no suite, no generator, no file"),
        ("greedy", "no.json", {}, "no.json: "),
        ("greedy", "reclaiming/small", {"limit": 0}, "limit: 0: must be positive"),
        ("greedy", "reclaiming/small", {"workers": 0}, "workers: 0: must be at least 1"),
        ("greedy", "reclaiming/small", {"memory": -1}, "memory: -1: must be at least 1"),
        ("greedy", "reclaiming/churn", {"count": 0}, "count: 0: must be at least 1"),
        ("greedy", "reclaiming/churn", {"server": 3}, "server: 3: is not an option of churn"),
    ],
)
def test_wrong_questions_are_refused(method: str, suite: str, options: dict[str, int], message: str) -> None:
    """An unknown method, suite or option is refused in one line before anything runs."""
    with pytest.raises(InvalidInput, match=message):
        score(method, suite, **options)  # type: ignore[arg-type]


def test_a_score_without_gaps() -> None:
    """Failures count 0, and there is no mean gap without a value."""
    failed = ScoredInstance("a", 0.0, None, None, 1, "no")
    found = Score("rule", (failed,))
    assert (found.score, found.mean_gap, found.worst_gap) == (0.0, None, None)
    assert "score 0.0000 (1 failures)" in str(found)
