"""Hostile input: whatever is wrong gives one line, an exit code, and leaves nothing half done."""

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gsopt.cli.exits import Exit
from tests.commands import COMMAND, refused
from tests.gsopt.studies.samples import FIGURE_5, fill, study
from tests.processes import PATIENCE

_JOB = {"name": "a", "release_date": 0, "duration": 1, "gpus": 1}


def _files(folder: Path) -> None:
    """Write what the table below names."""
    machines = [{"name": f"m{number}", "gpus": 10**6} for number in range(20)]
    grid = {"generator": "reclaiming/churn", "servers": list(range(1, 100_001)), "demand": list(range(100_000))}
    data: dict[str, Any] = {
        "jobs": {"jobs": [_JOB]},
        "tiny": {"jobs": [{**_JOB, "duration": 5e-324}]},
        "slow": {"jobs": [{**_JOB, "menu": [[1, 1.0], [2, 5e-324]]}]},
        "huge": {"racks": [{"name": "r", "machines": machines}]},
        "cells": {"study": "s", "instances": [grid], "methods": ["greedy"]},
        "stale": {"servers": ["no", "such"]},
        "setting": {"gpus": 1, "colour": "red"},
        "line\nbreak": {"jobs": []},
    }
    for name, content in data.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "half.csv").write_text("job,start,end,gpus,placement\na,0,1,1,0.5\n")
    (folder / "rows.csv").write_text("job_id,submit_time,tenant,num_chips,duration_s\n1,x,t,1,1\n2,1,t,x,1\n")
    os.mkfifo(folder / "pipe.json")
    (folder / "folder").mkdir()


#: What is typed, in the folder of those files, and what the line must say.
_TABLE = {
    "endless time limit": ("solve EXAMPLE --time-limit inf", "--time-limit': 'inf': must be a number of"),
    "time limit of 1e300": ("solve EXAMPLE --time-limit 1e300", "from 0 to 1e9"),
    "time limit of words": ("solve EXAMPLE --time-limit soon", "--time-limit': 'soon': must be a number"),
    "time limit before now": ("compare EXAMPLE --time-limit -1s", "--time-limit': '-1s': must be a number"),
    "duration of a denormal": ("simulate tiny.json --gpus 1", "duration: 5e-324"),
    "speed of a denormal": ("simulate slow.json --gpus 2", "5e-324"),
    "line break in a path": ("simulate 'line\nbreak.json' --gpus 'x\ny'", "--gpus"),
    "line break in a missing path": ("solve 'no\nsuch.json'", r"no\nsuch.json: cannot be read"),
    "undecodable path": ("solve no\udcffsuch.json", r"no\udcffsuch.json: cannot be read"),
    "undecodable trace": ("simulate \udcff --reader philly --gpus 1", r"\udcff: cannot be read"),
    "undecodable method": ("solve EXAMPLE --method \udcff", r"\udcff"),
    "NUL in a path": ("solve a\0b.json", r"a\x00b.json: must be a path"),
    "pipe as instance": ("solve pipe.json", "pipe.json: must be a regular file, not a pipe or device"),
    "pipe as trace": ("simulate pipe.json --reader philly --gpus 1", "not a pipe or device"),
    "pipe as workload": ("simulate pipe.json --gpus 1", "not a pipe or device"),
    "pipe as study": ("study run pipe.json --out out", "not a pipe or device"),
    "device as cluster": ("simulate jobs.json --cluster /dev/zero", "not a pipe or device"),
    "20 million GPUs": ("simulate jobs.json --cluster huge.json", "at most 1,000,000 GPUs in all"),
    "ten thousand million cells": ("study run cells.json --out out", "at most 1,000,000 cells"),
    "unknown setting": ("simulate jobs.json --setting setting.json", "setting.json: colour: must be"),
    "stale start": ("solve EXAMPLE --start stale.json", "stale.json: must be a solution of the"),
    "half a GPU": ("judge half.csv --trace jobs.json --gpus 2", "0.5"),
    "output into nowhere": ("generate reclaiming figure_5 -o no/a.json", "no/a.json: cannot be"),
    "output onto a folder": ("generate reclaiming figure_5 -o folder", "folder: must be a file"),
    "output without name": ("generate reclaiming figure_5 -o ''", "must be a file, not a folder"),
    "output of 300 letters": (f"generate reclaiming figure_5 -o {'a' * 300}", "cannot be written: File name"),
    "output into a full device": ("generate reclaiming figure_5 -o /dev/full", "No space left"),
    "plots below a file": ("simulate jobs.json --gpus 1 --plots jobs.json/a", "jobs.json/a: cannot"),
    "schedules onto a file": ("simulate jobs.json --gpus 1 --schedules jobs.json", "cannot be written"),
    "plot of nothing": ("study plot folder", "must be a folder in which gsopt study run has worked"),
    "trace without a row that can be used": (
        "simulate rows.csv --reader helios --gpus 1",
        "rows.csv: has no row that can be used; row 2: submit_time: 'x'",
    ),
    "unknown option": ("solve EXAMPLE --colour", "No such option: --colour"),
    "unknown command": ("sovle", "No such command 'sovle'"),
    "missing argument": ("solve", "Missing argument"),
}


@pytest.mark.parametrize(("line", "named"), _TABLE.values(), ids=_TABLE.keys())
def test_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, named: str
) -> None:
    """Each gives one printable line that says what is wrong, nothing on standard output, and exit code 2."""
    _files(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    said = refused(*shlex.split(line.replace("EXAMPLE", FIGURE_5)))
    assert len(said) < 700
    assert named in said
    assert sorted(tmp_path.rglob("*")) == before


def test_picture_needs_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture without a known ending, or where none can be, is refused before anything is drawn."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    fill(tmp_path / "out", study(methods=["greedy"]))
    before = sorted(tmp_path.rglob("*"))
    for name in ("a", "a.", "a.txt", "folder", "", "no/such/a.png"):
        refused("study", "plot", "out", "--out", name)
        assert sorted(tmp_path.rglob("*")) == before


def test_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """When the disk is full while an instance is written, the old file stays, and nothing lies beside it."""
    old = tmp_path / "a.json"
    old.write_text("old")
    run = subprocess.run(
        [*COMMAND, "generate", "reclaiming", "churn", "--servers", "200", "-o", "a.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1000, 1000)),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (run.returncode, run.stdout) == (Exit.BAD_INPUT, "")
    assert run.stderr == "gsopt: a.json: cannot be written: File too large\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert old.read_text() == "old"


def test_full_standard_output_is_one_line() -> None:
    """When standard output takes no more, one line says so, and the exit code is 1."""
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [*COMMAND, "schema", "reclaiming"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (run.returncode, run.stderr) == (Exit.FAILED, "gsopt: No space left on device\n")


#: Commands that take long, in a folder with the file ``jobs.json``.
_LONG = {
    "demo": ("demo",),
    "solve": ("solve", "waiting/challenge/batch-mean-jct-j40"),
    "simulate": ("simulate", "jobs.json", "--gpus", "8"),
    "generate": ("generate", "workloads", "poisson", "--jobs", "10000000", "--gpus", "8", "-o", "a.json"),
}


#: Runs the command, and presses Ctrl-C at the beginning of a function call; solvers hear of it too, as in a
#: terminal. Python itself never interrupts where a call returns: a lock that was just taken would stay taken.
_INTERRUPTED_AFTER = """
import itertools, os, signal, sys
from gsopt.cli import main

calls = itertools.count(1)

def count(frame, event, argument):
    if event in ("call", "c_call") and next(calls) == {calls}:
        sys.setprofile(None)
        os.killpg(0, signal.SIGINT)

sys.setprofile(count)
main()
"""


@pytest.mark.parametrize("calls", [500, 100_000, 500_000, 3_000_000])
@pytest.mark.parametrize("arguments", _LONG.values(), ids=_LONG.keys())
def test_ctrl_c_is_one_line(tmp_path: Path, arguments: tuple[str, ...], calls: int) -> None:
    """Whenever Ctrl-C comes, at start-up, while reading, generating or solving, it gives one line and 130."""
    if "jobs.json" in arguments:
        jobs = [{**_JOB, "name": str(number)} for number in range(100_000)]
        (tmp_path / "jobs.json").write_text(json.dumps({"jobs": jobs}))
    script = _INTERRUPTED_AFTER.format(calls=calls)
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        _, said = run.communicate(timeout=PATIENCE)
    stopped = run.returncode in {Exit.INTERRUPTED, -signal.SIGINT}  # a shell shows 130 for either
    assert stopped or run.returncode in {Exit.SOLUTION, Exit.NO_SOLUTION}, said
    assert len(said.splitlines()) == stopped
    assert not stopped or said.startswith("gsopt: ")  # interrupted, or its own last word just before
    assert not (tmp_path / "a.json").exists()
