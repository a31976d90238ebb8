"""The table of claims: every row has a place and a verdict, and what shows it exists."""

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gsopt import names
from gsopt.cli.app import app

ROOT = Path(__file__).parents[1]
CLAIMS = ROOT / "docs" / "claims.md"

HEADER = ["printed in", "claim", "verdict", "shown by"]

#: Each verdict, and whether it needs a reason and something that shows it.
VERDICTS = {
    "holds": (False, True),
    "holds under a condition": (True, True),
    "not reproduced on our data": (True, True),
    "false": (True, True),
    "not testable": (True, False),
}

_VERDICT = re.compile(r"\*\*(?P<word>[^*]+)\*\*(?:: (?P<reason>.+))?")
_NOTHING = "-"


def rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of every row of the tables of claims."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif inside and set(cells) != {"---"}:
            yield number, cells
        inside = inside or cells == HEADER


def complaints(path: Path) -> list[str]:
    """Say what is wrong with a file of claims, a line for each fault."""
    return [
        f"line {number}: {fault}"
        for number, cells in rows(path.read_text(encoding="utf-8"))
        for fault in faults(cells)
    ]


def faults(cells: list[str]) -> Iterator[str]:
    """Say what is wrong with a row."""
    if len(cells) != len(HEADER):
        yield f"{len(cells)} cells, not {len(HEADER)}"
        return
    place, claim, verdict, shown = cells
    if not place:
        yield "no place"
    if not claim:
        yield "no claim"
    found = _VERDICT.fullmatch(verdict)
    if found is None or found["word"] not in VERDICTS:
        yield f"no verdict of the list: {verdict}"
        return
    wants_reason, wants_evidence = VERDICTS[found["word"]]
    if wants_reason and not found["reason"]:
        yield f"{found['word']}, without a reason"
    if shown == _NOTHING and wants_evidence:
        yield f"{found['word']}, and nothing shows it"
    if shown != _NOTHING:
        yield from filter(None, map(missing, shown.split(", ")))


def missing(evidence: str) -> str | None:
    """Say what does not exist of a test or a command; None if all does."""
    text = evidence.strip("`")
    if evidence != f"`{text}`":
        return f"neither a test nor a command: {evidence}"
    if "::" in text:
        return missing_test(text)
    return missing_part(text) if text.startswith("gsopt ") else f"neither a test nor a command: {text}"


def missing_test(node: str) -> str | None:
    """Say what does not exist of a test's name."""
    file, _, function = node.partition("::")
    if not (ROOT / file).is_file():
        return f"no file {file}"
    return None if function.partition("[")[0] in functions(ROOT / file) else f"no {function} in {file}"


@cache
def functions(path: Path) -> frozenset[str]:
    """Return the functions that a file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@cache
def missing_part(line: str) -> str | None:
    """Say what does not exist of a command: the command, an option, or a file or suite that it reads."""
    _, *words = shlex.split(line)
    if CliRunner().invoke(app, [*words, "--help"]).exit_code:
        return f"no such command or option: {line}"
    for name in words:
        known = "/" not in name or (ROOT / name).is_file() or names(f"{name}/")
        if not known:
            return f"no file and no suite {name}"
    return None


def test_every_claim_has_a_place_a_verdict_and_what_shows_it() -> None:
    """Nothing is wrong with the committed file."""
    assert complaints(CLAIMS) == []


def test_both_papers_are_there() -> None:
    """The file has a table for each paper, of more than forty claims."""
    text = CLAIMS.read_text(encoding="utf-8")
    aryl, ares = (list(rows(part)) for part in text.partition("## Aryl")[2].split("## Ares"))

    assert min(len(aryl), len(ares)) > 40


GOOD = "`tests/test_claims.py::test_bad_rows_are_found`"


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (f"| 1 | a claim | **holds** | {GOOD} |", None),
        ("| 1 | a claim | **holds** | `tests/test_claims.py::test_bad_rows_are_found[nothing]` |", None),
        ("| 1 | a claim | **not testable**: no data | - |", None),
        ("| 1 | a claim | **holds** | `gsopt demo reclaiming` |", None),
        ("| 1 | a claim | **holds** | `gsopt compare scheduling/small --summary` |", None),
        (
            "| 1 | a claim | **holds** | `tests/test_claims.py::test_unknown` |",
            "no test_unknown in tests/test_claims.py",
        ),
        ("| 1 | a claim | **holds** | `tests/test_nothing.py::test_it` |", "no file tests/test_nothing.py"),
        ("| 1 | a claim | **holds** | `make bench` |", "neither a test nor a command: make bench"),
        ("| 1 | a claim | **holds** | see above |", "neither a test nor a command: see above"),
        (
            "| 1 | a claim | **holds** | `gsopt prove reclaiming` |",
            "no such command or option: gsopt prove reclaiming",
        ),
        ("| 1 | a claim | **holds** | `gsopt demo --fast` |", "no such command or option: gsopt demo --fast"),
        ("| 1 | a claim | **holds** | `gsopt compare no/suite` |", "no file and no suite no/suite"),
        (
            "| 1 | a claim | **holds** | `gsopt study run docs/studies/none.json --out x` |",
            "no file and no suite docs/studies/none.json",
        ),
        ("| 1 | a claim | **holds** | - |", "holds, and nothing shows it"),
        (f"| 1 | a claim | **false** | {GOOD} |", "false, without a reason"),
        ("| 1 | a claim | **not testable** | - |", "not testable, without a reason"),
        (f"| 1 | a claim | **true** | {GOOD} |", "no verdict of the list: **true**"),
        (f"| 1 | a claim | holds | {GOOD} |", "no verdict of the list: holds"),
        (f"| | a claim | **holds** | {GOOD} |", "no place"),
        (f"| 1 | | **holds** | {GOOD} |", "no claim"),
        ("| 1 | a claim | **holds** |", "3 cells, not 4"),
    ],
)
def test_bad_rows_are_found(tmp_path: Path, row: str, complaint: str | None) -> None:
    """A row added to a copy of the file is complained about if and only if something is wrong with it."""
    text = CLAIMS.read_text(encoding="utf-8").rstrip()
    copy = tmp_path / "claims.md"
    copy.write_text(f"{text}\n{row}\n", encoding="utf-8")

    last = len(text.splitlines()) + 1
    assert complaints(copy) == ([] if complaint is None else [f"line {last}: {complaint}"])
