"""The line that follows a solve."""

import sys
from types import ModuleType
from typing import Any

import pytest

import gsopt
from gsopt.core.progress import Bracket
from gsopt.evaluation.display import Display
from tests.gsopt.problems.test_reclaiming import figure_5


@pytest.mark.parametrize("width", range(1, 90))
def test_the_line_fits(width: int) -> None:
    """Whatever the width, value and time stay as long as they have room, and the name goes first."""
    line = Display(figure_5(2)).line(Bracket(0.0, 12, 10), seconds=3700, width=width)
    assert line.endswith("1:01:40")
    assert line.startswith("12") or "preemptions 12" in line
    assert len(line) <= max(width, len("12  gap 20.0 %  1:01:40"))


def test_what_is_not_known_is_a_dash() -> None:
    """Without value or bound there is no gap; above a bound of 0 the difference takes its place."""
    shown = Display(figure_5(2))
    assert "preemptions -  bound -  gap -" in shown.line(Bracket(0.0), seconds=0)
    assert "preemptions 3  bound 0  gap +3" in shown.line(Bracket(0.0, 3, 0), seconds=0)


def test_where_there_is_no_terminal_each_change_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error has a line per change, standard output nothing."""
    gsopt.solve(figure_5(2), display=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "preemptions 1  bound 1  gap 0.0 %" in shown.err.splitlines()[-1]


def test_a_caller_who_listens_hears_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Display and on_progress go together."""
    history = gsopt.History()
    gsopt.solve(figure_5(2), display=True, on_progress=history)
    assert len(capsys.readouterr().err.splitlines()) == len(history) > 0


def test_in_a_notebook_one_line_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first change shows a line, the others replace it."""
    shown: list[str] = []

    class Handle:
        def update(self, text: dict[str, str], *, raw: bool) -> None:
            assert raw
            shown[-1] = text["text/plain"]

    def show(text: dict[str, str], **options: Any) -> Handle:
        assert options == {"raw": True, "display_id": True}
        shown.append(text["text/plain"])
        return Handle()

    module = ModuleType("IPython.display")
    module.display = show  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    gsopt.solve(figure_5(2), display=True)
    assert len(shown) == 1
    assert "preemptions 1  bound 1" in shown[0]
