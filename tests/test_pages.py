"""The pages: their examples run from the top to the bottom, and what cannot run is counted.

A block of Python runs in the names of those before it; one with a file name is that file. Every line of a block
of `sh` is a command of gsopt that succeeds, or ends with the exit code that the comment behind it says. What
needs a cluster, traces or minutes stands in blocks of `console`; the commands of gsopt there exist.
"""

import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from gsopt.cli.app import app
from instances import data_folder
from tests.commands import gsopt

ROOT = Path(__file__).parents[1]
PAGES = {path.name: path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}

#: What a page promises to show.
SHOWN = {
    "engineers.md": (
        "return 2 of 4 nodes: 1 job lost (proven: no choice costs less)",
        "kubectl drain --ignore-daemonsets -- n0",
        "1 of 1 job can be placed",
    ),
    "own.md": (
        "Grace",
        "union",
        "WidestFirst",
        "cheapest_servers",
        "legal, 2 of 2 jobs complete",
        "52.5",
        "try_everything",
    ),
    "researchers.md": ("decomposition", "Grace"),
}

#: How many lines of a page do not run.
NOT_RUN = {
    "README.md": 9,
    "best-policy.md": 3,
    "certificates.md": 2,
    "command-line.md": 14,
    "data.md": 2,
    "engineers.md": 2,
    "gaps.md": 1,
    "preemption.md": 3,
    "snapshots.md": 5,
    "start.md": 4,
    "studies.md": 33,
    "suites.md": 6,
    "systems.md": 7,
    "worst.md": 2,
}

_BLOCK = re.compile(r"^```(?P<kind>\w+) ?(?P<file>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"# exit code (\d+)")


class Block(NamedTuple):
    """A block of a page: its language, the file that it is if it is one, and what is in it."""

    kind: str
    file: str
    text: str

    @property
    def lines(self) -> list[str]:
        """The commands of a block, each in one line."""
        return self.text.replace("\\\n", " ").splitlines()


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page in their order."""
    return [Block(*found.groups()) for found in _BLOCK.finditer(PAGES[page].read_text("utf-8"))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a working folder from which modules are imported, beside the committed studies."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if {"python", "sh"} & {kind for kind, _, _ in blocks(page)}]
)
def test_a_page_runs(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python examples and commands succeed from the top to the bottom, and show what the page promises."""
    found = blocks(page)
    for block in found:
        if block.file:
            (folder / block.file).write_text(block.text)
    shown = ""
    names: dict[str, object] = {}
    for number, block in enumerate(found):
        if block.kind == "python" and not block.file:
            example = folder / f"example_{number}.py"
            example.write_text(block.text)
            names = runpy.run_path(str(example), init_globals=names, run_name="__main__")
        elif block.kind == "sh":
            shown += "".join(map(run, block.lines))
    shown += capsys.readouterr().out
    for word in SHOWN.get(page, ()):
        assert word in shown
    assert "failed" not in shown


def run(line: str) -> str:
    """Run a line of a page, and give what it prints."""
    command, *arguments = shlex.split(line, comments=True)
    assert command == "gsopt", f"what is no command of gsopt stands in a block of console: {line}"
    wanted = _CODE.search(line)
    found = gsopt(*arguments)
    assert found.returncode == int(wanted[1] if wanted else 0), found.stderr
    return found.stdout


def test_what_does_not_run_is_counted() -> None:
    """No page has more lines that do not run than it is known to have."""
    counted = {
        page: sum(len(block.lines) for block in blocks(page) if block.kind == "console") for page in PAGES
    }
    assert {page: count for page, count in counted.items() if count} == NOT_RUN


def test_commands_that_do_not_run_exist() -> None:
    """The commands and their options are those of the command line."""
    lines = [
        line for page in PAGES for block in blocks(page) if block.kind == "console" for line in block.lines
    ]
    commands = [
        words for words in (shlex.split(line, comments=True) for line in lines) if words[:1] == ["gsopt"]
    ]
    assert commands
    for _, *words in commands:
        assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0, words


def test_blocks_are_of_kinds_that_are_checked() -> None:
    """A block is run, written, or shown for what it is; none is in a language that nobody looks at."""
    known = {"python", "sh", "console", "text", "pycon"}  # the last by tests/docs/test_systems.py
    for page in PAGES:
        assert {block.kind for block in blocks(page) if not block.file} - known <= {"json", "toml"}


def test_the_trace_of_the_guide_may_be_the_public_one() -> None:
    """The example of a trace runs on the file that readers download, with the GPUs that the page names."""
    (example,) = (block.text for block in blocks("data.md") if block.kind == "python")
    folder = data_folder() or pytest.skip("GSOPT_DATA is unset")
    real = example.replace('"philly.csv"', repr(str(folder))).replace("gpus = 4 ", "gpus = 128 ")
    names: dict[str, Any] = {}
    exec(real, names)  # noqa: S102 - it is a committed page
    assert len(names["reading"].workload.jobs) == 4014


def test_tutorials_run() -> None:
    """Each tutorial of the guides is a section, with an example that runs and has at most 20 lines."""
    listed = blocks_of_tutorials()
    assert len(listed) == 8
    for link, found in listed.items():
        running = [block for block in found if block.kind in ("python", "sh")]
        assert running, link
        assert all(len(block.text.splitlines()) <= 20 for block in running), link


def blocks_of_tutorials() -> dict[str, list[Block]]:
    """Return the blocks of each section that the list of tutorials links to."""
    listed = PAGES["guides.md"].read_text("utf-8").partition("## Questions")[0]
    found = {}
    for page, anchor in re.findall(r"\(([a-z]+\.md)#([a-z-]+)\)", listed):
        sections = re.split(r"^(#+ .+)$", PAGES[page].read_text("utf-8"), flags=re.MULTILINE)
        texts = {head.lstrip("# ").lower().replace(" ", "-"): text for head, text in pairwise(sections)}
        found[f"{page}#{anchor}"] = [Block(*each.groups()) for each in _BLOCK.finditer(texts[anchor])]
    return found


def test_examples_of_the_guide_are_short() -> None:
    """No example has more than fifteen lines of code, and there is one for each thing of one's own."""
    guide = [block for block in blocks("own.md") if block.kind in ("python", "sh")]
    code = [[line for line in block.text.splitlines() if line and "import " not in line] for block in guide]
    assert [lines for lines in code if len(lines) > 15] == []
    assert sum(block.kind == "python" for block in guide) == 13
