"""The guide to one's own schedulers and data: its examples run as they stand, in at most fifteen lines."""

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

from tests.commands import gsopt

ROOT = Path(__file__).parents[1]
OWN = ROOT / "docs" / "own.md"

_BLOCK = re.compile(r"^```(?P<kind>\w+) ?(?P<file>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)

BLOCKS = [(found["kind"], found["file"], found["text"]) for found in _BLOCK.finditer(OWN.read_text("utf-8"))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a working folder with the files that the guide shows, from which modules are imported."""
    for _, file, text in BLOCKS:
        if file:
            (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_scheduler", raising=False)
    return tmp_path


def test_the_guide_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python examples and commands succeed from the top to the bottom, and show what they promise."""
    shown = ""
    for kind, file, text in BLOCKS:
        if kind == "python" and not file:
            (folder / "example.py").write_text(text)
            runpy.run_path(str(folder / "example.py"), run_name="__main__")
        elif kind == "sh":
            for line in text.replace("\\\n", " ").splitlines():
                command, *arguments = shlex.split(line)
                assert command == "gsopt"
                run = gsopt(*arguments)
                assert run.returncode == 0, run.stderr
                shown += run.stdout
    shown += capsys.readouterr().out
    for word in ("WidestFirst", "fewest_jobs", "legal, 2 of 2 jobs complete", "3,150", "try_everything"):
        assert word in shown
    assert "failed" not in shown
    assert "my_scheduler:WidestFirst" in shown


def test_examples_are_short() -> None:
    """No example has more than fifteen lines, and there is one for each thing of one's own."""
    lines = {text: len(text.splitlines()) for kind, _, text in BLOCKS if kind in ("python", "sh")}
    assert [text for text, count in lines.items() if count > 15] == []
    assert sum(kind == "python" for kind, _, _ in BLOCKS) == 8
