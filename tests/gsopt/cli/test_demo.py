"""The first minute."""

import pytest

from gsopt.cli.exits import Exit
from gsopt.evaluation import catalogue
from gsopt.problems.reader import problem_types
from tests.commands import gsopt


def test_demo_is_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    """`demo` shows every decision's heuristics and proofs, in few lines of at most 80 columns."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    monkeypatch.setattr("gsopt.cli.demo._MOST_INSTANCES", 4)  # the number itself is shown by the next test
    run = gsopt("demo")
    lines = run.stdout.splitlines()
    first = {line.split()[0] for line in lines if line.startswith("  ")}

    assert (run.returncode, run.stderr) == (0, "")
    assert len(lines) <= 8 * len(problem_types()) + 8  # the policies and the sum have eight
    assert max(map(len, lines)) <= 80
    few = [known for word in problem_types() if len(known := catalogue.heuristics(word).keys()) <= 5]
    assert few
    assert all(first >= known for known in few)
    assert all(
        sum(line.startswith(f"{word.capitalize()}: ") for line in lines) == 1 for word in problem_types()
    )
    assert sum(line.startswith("  exact proves ") for line in lines) == len(problem_types())
    assert sum("fifo " in line and "srtf " in line for line in lines) == 1


def test_demo_of_one_decision() -> None:
    """With a decision only that is shown, with all of its heuristics and without policies."""
    shown, refused = gsopt("demo", "reclaiming"), gsopt("demo", "reclaim")
    assert "Reclaiming: minimise preemptions, on 12 instances" in shown.stdout
    assert all(f"\n  {name} " in shown.stdout for name in catalogue.heuristics("reclaiming"))
    assert "Policies" not in shown.stdout
    assert (refused.returncode, refused.stdout) == (Exit.BAD_INPUT, "")
