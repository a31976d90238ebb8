"""The first minute."""

import pytest

from gsopt.cli.exits import Exit
from gsopt.problems.reader import problem_types
from gsopt.studies import catalogue
from tests.commands import gsopt


def test_demo_is_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    """`demo` names each heuristic of each decision, in at most 40 lines of at most 80 columns."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    run = gsopt("demo")
    lines = run.stdout.splitlines()
    first = {line.split()[0] for line in lines if line.startswith("  ")}

    assert (run.returncode, run.stderr) == (0, "")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert all(first >= catalogue.heuristics(word).keys() for word in problem_types())
    assert all(
        sum(line.startswith(f"{word.capitalize()}: ") for line in lines) == 1 for word in problem_types()
    )
    assert sum(line.startswith("  exact proves ") for line in lines) == len(problem_types())
    assert sum("fifo " in line and "srtf " in line for line in lines) == 1


def test_demo_of_one_decision() -> None:
    """With a decision only that is shown, without policies; --all shows the exact methods one by one as well."""
    brief, whole = gsopt("demo", "reclaiming"), gsopt("demo", "scheming", "--all")
    assert "Reclaiming: the fewest preemptions, on 12 instances" in brief.stdout
    assert "Policies" not in brief.stdout
    assert whole.returncode == Exit.BAD_INPUT
