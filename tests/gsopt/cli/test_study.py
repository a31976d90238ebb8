"""The command `gsopt study`, run, killed and interrupted as its users do."""

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gsopt.cli.exits import Exit
from gsopt.studies import Study, cells_of, read_study, results
from gsopt.studies.store import writing
from tests.commands import COMMAND, gsopt, refused
from tests.effort import cases
from tests.gsopt.studies.samples import FIGURE_5, HARD, committed, fill, starts, study
from tests.processes import PATIENCE, children, wait_until, wait_until_gone
from tests.sockets import LOCALHOST, listening

EXAMPLE = Path(__file__).parents[3] / "docs" / "studies" / "example.json"

_WORKERS = 2

#: How far a run may get before it is killed: told from its process, its folder, and the cells begun and stored
#: before it.
_STAGES: tuple[Callable[[int, Path, int, int], bool], ...] = (
    lambda _pid, folder, _begun, _stored: folder.exists(),
    lambda pid, _folder, _begun, _stored: len(children(pid)) == _WORKERS,
    lambda _pid, folder, begun, _stored: len(starts(folder)) > begun,
    lambda _pid, folder, begun, _stored: len(starts(folder)) > begun + _WORKERS,
    lambda _pid, folder, _begun, stored: len(committed(folder)) > stored,
    lambda _pid, folder, _begun, stored: len(committed(folder)) > stored + 1,
)


def _spec(folder: Path, **changes: Any) -> Path:
    path = folder / "study.json"
    path.write_text(study(**changes).model_dump_json())
    return path


def _start(spec: Path, folder: Path, *where: str) -> subprocess.Popen[str]:
    """Start a study as a shell does, in a group of its own."""
    where = where or ("--workers", str(_WORKERS))
    line = [*COMMAND, "study", "run", str(spec), "--out", str(folder), *where]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True, process_group=0)


def _run_and_kill(spec: Path, folder: Path, reached: Callable[[int, Path, int, int], bool]) -> None:
    """Run a study until a stage is reached, or until it ends before."""
    begun, stored = len(starts(folder)), len(committed(folder))
    with _start(spec, folder) as command:
        wait_until(lambda: command.poll() is not None or reached(command.pid, folder, begun, stored))
        workers = children(command.pid)
        command.kill()
    wait_until_gone(*workers)


def test_killed_at_any_stage(tmp_path: Path) -> None:
    """Killed at any stage, a study loses no committed result, computes none twice, leaves no process behind."""
    folder = tmp_path / "out"
    entry = {"workload": "poisson", "jobs": 500, "gpus": 16, "load": 2.0, "seed": list(range(10))}
    spec = _spec(tmp_path, instances=[entry], methods=["fifo", "srtf", "las"], bound_evaluations=0)
    before: dict[str, Any] = {}
    for reached in _STAGES * cases(2):
        _run_and_kill(spec, folder, reached)
        now = committed(folder)
        assert before.items() <= now.items()
        before = now
    assert before
    last = gsopt("study", "run", spec, "--out", folder, "--workers", str(_WORKERS))
    done = committed(folder)
    assert (last.returncode, last.stderr) == (0, "test: 30 of 30 cells have a result\n")
    assert before.items() <= done.items()
    begun_in = Counter(starts(folder))
    assert set(begun_in.values()) == {1}
    assert all(number <= done[key][0] for key, number in begun_in)  # none begun after the run that committed it
    lost = Counter(number for key, number in begun_in if done[key][0] != number)
    assert all(count <= _WORKERS for count in lost.values())


@pytest.mark.parametrize("where", [("--workers", "2"), ("--scheduler", "local:2")])
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, where: tuple[str, ...]) -> None:
    """Ctrl-C at a terminal ends a study with code 130, finished cells kept, no process left, no port opened."""
    folder = tmp_path / "out"
    spec = _spec(tmp_path, instances=[FIGURE_5, HARD], methods=["greedy", "milp"], time_limit=3600)
    with _start(spec, folder, *where) as command:
        wait_until(lambda: len(committed(folder)) == 3 and len(starts(folder)) == 4, command)
        workers = children(command.pid)
        reached = listening([command.pid, *workers])
        os.killpg(command.pid, signal.SIGINT)
        _, said = command.communicate(timeout=PATIENCE)
    assert command.returncode == Exit.INTERRUPTED
    assert said.splitlines()[0] == "test: 3 of 4 cells have a result"
    assert "Traceback" not in said
    wait_until_gone(*workers)
    assert len(results(folder)) == 3
    assert {address.partition(":")[0] for address in reached} <= {LOCALHOST}


def test_two_runs_at_once(tmp_path: Path) -> None:
    """Of two runs in one folder one is refused in one line; the other computes every cell once."""
    entry = {"workload": "poisson", "jobs": 300, "gpus": 16, "load": 2.0, "seed": list(range(8))}
    spec = _spec(tmp_path, instances=[entry], methods=["srtf", "las"], bound_evaluations=0)
    folder = tmp_path / "out"
    with _start(spec, folder) as first:
        wait_until(lambda: starts(folder), first)
        first.send_signal(signal.SIGSTOP)  # it cannot be done before the second run has looked
        second = gsopt("study", "run", spec, "--out", folder)
        first.send_signal(signal.SIGCONT)
        _, said = first.communicate(timeout=PATIENCE)
    assert (first.returncode, second.returncode) == (0, Exit.BAD_INPUT), said
    assert second.stderr == f"gsopt: {folder}: is in use by another run, process {first.pid}\n"
    assert set(Counter(key for key, _ in starts(folder)).values()) == {1}
    assert len(committed(folder)) == 16


def test_the_example_gives_tables_and_plots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The documented example runs without real data, and its tables and plots come out."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    folder = tmp_path / "out"
    made = gsopt("study", "run", EXAMPLE, "--out", folder)
    assert made.returncode == 0, made.stderr
    forms = {form: gsopt("study", "table", folder, f"--{form}").stdout for form in ("csv", "markdown", "latex")}
    assert forms["csv"].startswith("group,method,cells,objective,mean_jct,p99_jct,makespan")
    assert forms["markdown"].startswith("| group | method | cells |")
    assert forms["latex"].startswith("\\begin{tabular}{llr")
    groups = {line["group"] for line in json.loads(gsopt("study", "table", folder, "--json").stdout)}
    assert groups == {"Poisson(load=0.9)", "Poisson(load=2.0)", FIGURE_5, "churn"}
    cells = gsopt("study", "table", folder, "--cells").stdout
    assert len(cells.splitlines()) == 1 + len(results(folder))
    assert "LAS(quantum=600)" in gsopt("study", "table", folder, "--relative-to", "fifo").stdout
    for options in ((), ("--x", "quantum", "--log-x", "--log-y", "--y", "mean_jct"), ("--y", "gap", "--log-y")):
        drawn = gsopt("study", "plot", folder, *options)
        assert (drawn.returncode, drawn.stderr, drawn.stdout) == (0, "", f"{folder / 'study.png'}\n")
        assert (folder / "study.png").read_bytes().startswith(b"\x89PNG")


def test_failures_are_told(tmp_path: Path) -> None:
    """A study with a failed cell ends with exit code 1 and its line, which `table` repeats."""
    bad = {"generator": "reclaiming/churn", "servers": -5}
    folder = tmp_path / "out"
    spec = _spec(tmp_path, instances=[FIGURE_5, bad], methods=["greedy"])
    made = gsopt("study", "run", spec, "--out", folder)
    where = "greedy on reclaiming/churn(servers=-5): servers: -5: must be at least 1"
    assert made.returncode == Exit.FAILED
    assert made.stderr == f"test: 2 of 2 cells have a result\n1 failed, the first: {where}\n"
    assert gsopt("study", "table", folder).stderr == f"1 failed, the first: {where}\n"


def test_pictures_are_where_their_name_says(tmp_path: Path) -> None:
    """A picture's ending says its format, and nothing is written elsewhere."""
    folder = tmp_path / "out"
    fill(folder, study())
    for ending, start in ((".svg", b"<?xml"), (".pdf", b"%PDF")):
        target = tmp_path / f"a{ending}"
        assert gsopt("study", "plot", folder, "--out", target).stdout == f"{target}\n"
        assert target.read_bytes().startswith(start)
        target.unlink()
    assert list(tmp_path.iterdir()) == [folder]


def test_a_page_is_written(tmp_path: Path) -> None:
    """`report` writes one page, into the folder unless told otherwise; it and `table` say what is missing."""
    folder, target, figure = tmp_path / "out", tmp_path / "page.html", ("--figure", "objective")
    fill(folder, study(methods=["greedy"]))
    made = gsopt("study", "report", folder)
    assert (made.returncode, made.stdout, made.stderr) == (0, f"{folder / 'report.html'}\n", "")
    with writing(folder) as store:
        store.adopt(study(), cells_of(study()), 1)
    made, shown = gsopt("study", "report", folder, "-o", target, *figure), gsopt("study", "table", folder)
    assert (made.returncode, made.stdout, shown.returncode) == (0, f"{target}\n", 0)
    assert made.stderr == shown.stderr == "test: 1 of 2 cells have a result\n"
    assert "gsopt study report results --out report.html --figure objective\n" in target.read_text()
    kept = target.read_text()
    for options in (("--figure", "colour"), ("--gantt", "fifo on x")):
        refused("study", "report", folder, "-o", target, *options)
    assert target.read_text() == kept
    assert sorted(tmp_path.iterdir()) == [folder, target]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("run", "no-such-file.json", "--out", "{}"), "no-such-file.json: cannot be read"),
        (("run", "{}/study.json", "--out", "{}/study.json"), "cannot be written: File exists"),
        (("run", "{}/study.json", "--out", "{}/study.json/below"), "cannot be written: Not a directory"),
        (("run", "{}/study.json", "--out", "{}/out", "--workers", "0"), "workers: 0: must be at least 1"),
        (("run", "{}/bad.json", "--out", "{}/out"), "{}/bad.json: methods[0]: 'magic': must be one of"),
        (("table", "{}"), "{}: must be a folder in which gsopt study run has worked"),
        (("plot", "{}"), "{}: must be a folder in which gsopt study run has worked"),
        (("report", "{}"), "{}: must be a folder in which gsopt study run has worked"),
        (("table", "{}/damaged"), "{}/damaged: study.sqlite: cannot be used: "),
        (("table", "{}", "--csv", "--json"), "takes one of"),
    ],
)
def test_bad_arguments_are_one_line(tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    """Whatever is wrong is named in one line with exit code 2, and nothing is computed."""
    _spec(tmp_path)
    (tmp_path / "bad.json").write_text(study(methods=["magic"]).model_dump_json())
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "study.sqlite").write_bytes(os.urandom(4096))
    said = refused("study", *(word.replace("{}", str(tmp_path)) for word in arguments))
    assert named.replace("{}", str(tmp_path)) in said
    assert not (tmp_path / "out").exists()


def test_the_documented_studies_are_well_formed() -> None:
    """Every study in the documentation can be read, the one printed in the guide too."""
    guide = EXAMPLE.parents[1] / "studies.md"
    printed = guide.read_text().partition("```json\n")[2].partition("```")[0]
    assert Study.model_validate_json(printed).seeds == (0, 1)
    specs = sorted(EXAMPLE.parent.glob("*.json"))
    assert EXAMPLE in specs
    assert all(read_study(spec).study for spec in specs)


def test_a_profile_is_drawn(tmp_path: Path) -> None:
    """The profile of exact methods is a picture beside the study; a study without any is refused."""
    fill(tmp_path / "exact", study(methods=["exact", "milp"]))
    fill(tmp_path / "greedy", study(methods=["greedy"]))
    run = gsopt("study", "profile", tmp_path / "exact")
    assert (run.returncode, run.stdout) == (0, f"{tmp_path / 'exact' / 'profile.png'}\n")
    assert (tmp_path / "exact" / "profile.png").stat().st_size > 0
    said = refused("study", "profile", tmp_path / "greedy")
    assert said == "gsopt: profile: the study has no cell of an exact method"
