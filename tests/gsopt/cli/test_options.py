"""Options of the command line: named as in Python, under earlier names too."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import typer

import gsopt
from gsopt.cli.app import app
from gsopt.core.budget import Budget
from gsopt.evaluation.export import export_model
from gsopt.performance.interference import evaluate
from gsopt.scenario.scenario import Physics
from gsopt.snapshots import Snapshot, drain, pack, read_snapshot
from instances.traces.selection import Selection
from tests.commands import gsopt as command
from tests.commands import refused
from tests.gsopt.snapshots.objects import node, write

#: Functions that a command calls, and its options that are files, formats, or one of several values.
_CALLED: dict[str, tuple[list[Callable[..., Any]], set[str]]] = {
    "compare": (
        [gsopt.compare, gsopt.compare_policies],
        {"what", "method", "summary", "reader", "gpus", "setting"},
    ),
    "solve": ([gsopt.solve, Budget], {"file", "plot"}),
    "simulate": (
        [gsopt.simulate],
        {"trace", "reader", "gpus", "setting", "issues", "plots", "plot_format", "schedules"},
    ),
    "judge": (
        [gsopt.judge],
        {"trace", "problem", "reader", "gpus", "setting", "trace_columns"},
    ),
    "export": ([export_model], {"instance", "output"}),
    "cluster": (
        [gsopt.read_cluster, gsopt.write_cluster],
        {"file", "output", "picture", "schedule", "at"},
    ),
    "drain": ([drain, read_snapshot], {"files", "now"}),
    "pack": ([pack, read_snapshot], {"files", "now"}),
    "import": (
        [Snapshot.reclaiming, read_snapshot],
        {"files", "now", "output", "cluster", "reclaiming", "placement"},
    ),
    "interference": ([evaluate], {"reader", "split", "output"}),
}


def _command(name: str) -> Any:
    group: Any = typer.main.get_command(app)
    return group.get_command(None, name)


@pytest.mark.parametrize("name", _CALLED)
def test_options_are_named_as_in_python(name: str) -> None:
    """An option has the name of the parameter that it gives; others are those of a short list."""
    functions, own = _CALLED[name]
    named = {parameter.name for parameter in _command(name).params} - {"as_json", "help"}
    given = {parameter for function in functions for parameter in signature(function).parameters}
    assert named - given - set(Physics.model_fields) - set(Selection.__annotations__) == own


@pytest.mark.parametrize("name", _CALLED)
def test_earlier_names_are_not_shown(name: str) -> None:
    """Help shows one name of an option, and the earlier ones work without being listed."""
    words = command(name, "--help").stdout.split()
    earlier = {"--out", "--out,", "--overhead", "--capacity-change", "--column", "--trace-column"}
    assert not earlier & {*words}
    assert "--no-preemption" not in words


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ("simulate --overhead", "simulate --overheads"),
        ("simulate --capacity-change", "simulate --capacity-changes"),
        ("compare --overhead", "compare --overheads"),
        ("judge --column", "judge --columns"),
        ("judge --trace-column", "judge --trace-columns"),
        ("cluster --out", "cluster --output"),
        ("export --out", "export --output"),
        ("generate --out", "generate --output"),
        ("study report --output", "study report --out"),
    ],
)
def test_earlier_names_work(earlier: str, now: str) -> None:
    """An option is read under both of its names: without a value both ask for one."""
    first, second = command(*earlier.split()), command(*now.split())
    assert first.returncode == second.returncode == 2
    assert "requires an argument" in first.stderr
    assert first.stderr.split()[2:] == second.stderr.split()[2:]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("solve reclaiming/aryl-figure-5 --gap -1", "--gap: -1.0: must be"),
        ("solve reclaiming/aryl-figure-5 --method greedy --log", "--log: is not an option of greedy"),
        ("solve reclaiming/aryl-figure-5 --method nope", "--method: 'nope': must be one of"),
        ("score greedy --suite reclaiming/small --limit abc", "--limit: 'abc': must be"),
        ("score greedy --suite reclaiming/churn --servers=-3", "--servers: -3: must be"),
        ("score greedy --suite reclaiming/churn --count=-1", "--count: -1: must be"),
        ("score greedy --suite nope", "--suite: 'nope': is no suite, no generator"),
        ("score greedy --suite reclaiming/churn --elastic-share 9", "--elastic-share: 9.0: must be"),
        ("worst srtf scheduling/rigid --workers 0", "--workers: 0: must be"),
        ("generate reclaiming churn --elastic_share x", "--elastic_share: 'x': input should"),
        ("suites submit reclaiming/aryl-figure-5 JOBS --by=", "--by: '': must say"),
        ("simulate JOBS --gpus 4 --overheads start=-4", "--overheads.start: -4: input should"),
        ("simulate JOBS --gpus 4 --capacity-changes 2h=9", "--capacity-changes[0].gpus: 9: must be"),
        ("drain NODES --servers 1 --cost money", "--cost: 'money': must be"),
        ("drain NODES --servers 1 --level rack=nope", "--level.rack: 'nope': must be"),
        ("admit NODES --gang 2x8 --slices 3:machine", "--slices: 3: must divide"),
        ("admit NODES --gang 2x8 --moves -1", "Invalid value for '--moves': "),
        ("defragment NODES --free 1 --gpus 0", "Invalid value for '--gpus': "),
        ("import nope NODES", "source: 'nope': must be"),  # no option
        ("bound JOBS --gpus 4 -o OUTPUT --evaluations 0", "--evaluations: 0: must be"),
    ],
)
def test_errors_name_options_as_typed(words: str, line: str, tmp_path: Path) -> None:
    """A wrong value of an option is reported with the option as it was typed, not the parameter of Python."""
    jobs = tmp_path / "jobs.json"
    jobs.write_text('{"jobs": [{"name": "a", "release_date": 0, "duration": 1, "gpus": 1}]}')
    files = {
        "JOBS": jobs,
        "NODES": write(tmp_path / "nodes.json", [node("n1"), node("n2")]),
        "OUTPUT": tmp_path / "certificate.json",
    }
    assert refused(*(files.get(word, word) for word in words.split())).startswith(f"gsopt: {line}")


def test_a_suite_is_given_once() -> None:
    """Of two suites, none is passed over in silence."""
    run = command("score", "greedy", "--suite", "reclaiming/small", "--suite", "reclaiming/production")
    assert run.stderr == "gsopt: --suite: reclaiming/small, reclaiming/production: must be given once\n"
