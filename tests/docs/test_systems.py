"""The page on systems: its calls give its figures."""

import doctest
import os
from pathlib import Path

import pytest

from tests.heuristics.policies.shared import traces

_PAGE = Path(__file__).parents[2] / "docs" / "systems.md"


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
