"""The page on systems: its calls give its figures, and its tables follow from the results of studies."""

import doctest
import json
import os
from typing import Any

import pytest

from gsopt.studies import read_study
from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.compute import compute
from tests.docs.scripts import DOCS, script
from tests.effort import cases
from tests.heuristics.policies.shared import traces

_PAGE = DOCS / "systems.md"
_PROGRAM = script("systems")

#: The rows of each study, keyed by workload.
ROWS: dict[str, dict[str, Any]] = json.loads((DOCS / "_static" / "systems.json").read_text("utf-8"))

#: Cells that take a few seconds.
CHEAP = [
    ("all", "Pollux 1", "SRTF"),
    ("adaptive", "Pollux 1", "marginal, course known"),
    ("all", "Philly, Ares 1", "Ares (EFQ)"),
    ("all", "Philly, Ares 2", "EASY"),
    ("ares-demands", "Helios, Ares(halvings=1) 1", "Ares (EFQ)"),
]


def study(file: str, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], Cell]:
    """Return the cells of a study, keyed by workload and policy."""
    monkeypatch.setenv("GSOPT_DATA", os.fspath(traces()))
    cells = cells_of(read_study(DOCS / "studies" / f"{file}.json"))
    return {(_PROGRAM.workload(cell.labels), cell.labels.method.base): cell for cell in cells}


def test_the_tables_follow_from_the_rows() -> None:
    """The page shows the tables that the program makes of the stored rows."""
    page = _PAGE.read_text("utf-8")
    for table in _PROGRAM.tables(ROWS):
        assert f"\n\n{table}\n" in page


@pytest.mark.parametrize("file", ROWS)
def test_rows_are_cells_of_the_study(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stored figure belongs to a cell of the study."""
    rows = {(name, policy) for name, row in ROWS[file].items() for policy in row["policies"]}
    assert rows <= study(file, monkeypatch).keys()


@pytest.mark.parametrize(("file", "workload", "policy"), CHEAP[: cases(len(CHEAP))])
def test_a_cell_gives_its_row(file: str, workload: str, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed again, a cell has the figures that are stored."""
    found = compute(study(file, monkeypatch)[workload, policy]).figures
    stored = zip(_PROGRAM.KEPT, ROWS[file][workload]["policies"][policy], strict=True)
    known = {name: figure for name, figure in stored if figure is not None}
    assert known["mean_jct"]
    assert {name: found[name] for name in known} == pytest.approx(known, rel=1e-7)


def test_calls_give_the_figures_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call gives the figures beside it; those of the first block also stand in the table."""
    monkeypatch.setenv("GSOPT_DATA", os.fspath(traces()))
    page = _PAGE.read_text()
    blocks = [after.split("```", 1)[0] for after in page.split("```pycon\n")[1:]]
    calls = doctest.DocTestParser().get_doctest("".join(blocks), {}, "systems", os.fspath(_PAGE), 0)
    found = doctest.DocTestRunner().run(calls)
    assert found.attempted > 20
    assert not found.failed
    first = doctest.DocTestParser().get_doctest(blocks[0], {}, "systems", os.fspath(_PAGE), 0)
    table = page.split("### Repeat the figures")[0]
    figures = [float(each) for call in first.examples for each in call.want.strip("()[]\n").split(",") if each]
    assert all(f"{figure:,.1f} s" in table or f"{figure:.0f} " in table for figure in figures)
