"""Comparisons, as people see them: tables, plots, the line that follows a solve, and its history."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from rich.table import Table

import gsopt
from gsopt.core.drawing import new_figure
from gsopt.core.errors import Contradiction, InvalidInput, Unsupported
from gsopt.core.progress import KnownBracket
from gsopt.core.result import Result
from gsopt.evaluation import catalogue, plots
from gsopt.evaluation.catalogue import load
from gsopt.evaluation.comparison import Comparison, ComparisonRow
from gsopt.evaluation.display import Display
from gsopt.evaluation.history import History
from gsopt.evaluation.solve import solve
from gsopt.evaluation.tables import Column, html_of, lay_out, text_of
from gsopt.problems.reader import problem_types
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from tests.gsopt.problems.test_reclaiming import figure_5, pick
from tests.unwrap import unwrap

mpl.use("Agg")


def row(problem: Reclaiming, method: str, *servers: str, bound: int | None = 1) -> ComparisonRow:
    """Return a row from returned servers."""
    result = Result.judged(problem, method=method, solution=pick(*servers), runtime=0.002)
    return ComparisonRow(
        "suite/" + method, method, "heuristic", problem, result, bound, optimum_known=bound is not None
    )


GOOD = row(figure_5(2), "good", "s1", "s2")
BAD = row(figure_5(2), "bad", "s3", "s4")
ABSENT = replace(BAD, method="absent", result=None, note="needs glue")


def test_gap_is_relative_to_the_best_bound() -> None:
    """Two preemptions are 100 % above a proven one; above 0 the table shows the excess itself."""
    assert (GOOD.gap, BAD.gap, BAD.excess) == (0.0, 1.0, 1)
    assert replace(BAD, bound=None).gap is None
    assert ABSENT.gap is None
    zero = replace(BAD, bound=0)
    assert (zero.gap, zero.excess) == (None, 2)
    assert "+2" in str(Comparison((zero,)))


def test_values_that_differ_look_different() -> None:
    """A value and a bound that agree in their first digits are shown with as many as tell them apart."""
    job = Job(name="a", workers={"s1": 1}, cost=20000026.4)
    problem = Reclaiming(demand=1, servers=[Server(name=n, gpus=8) for n in ("s1", "s2")], jobs=[job])
    text = str(Comparison((replace(row(problem, "m", "s1"), bound=Fraction("20000026.39")),)))
    assert "20,000,026.40" in text
    assert "20,000,026.39" in text
    assert "0.00000005 %" in text or "5e-08 %" in text


def test_what_floats_cannot_tell_apart_looks_equal() -> None:
    """A value that meets its bound but for the rounding of floats is shown with it, and without a gap."""
    problem = load("scheduling/small/all-gpus-each")
    value = solve(problem, "exact")
    below = unwrap(value.objective) * (1 - 1e-15)
    lines = str(Comparison((ComparisonRow("a", "m", "exact", problem, value, below),))).splitlines()
    (line,) = [line for line in lines if line.startswith("m ")]
    assert line.split()[1:5] == ["8", "8", "0.0", "%"]


def test_table_names_value_bound_gap_and_reason() -> None:
    """The printed table has a line per row, and says why a method did not apply."""
    text = str(Comparison((GOOD, BAD, ABSENT)))
    assert "preemptions" in text
    assert "100.0 %" in text
    assert "absent not applicable: needs glue" in text.splitlines()


def test_instances_stand_above_their_rows() -> None:
    """Each instance has a line of its own with its headline figures, once for all its rows."""
    lines = str(Comparison((GOOD, replace(BAD, instance=GOOD.instance), ABSENT))).splitlines()
    assert [line for line in lines if "demand" in line] == ["suite/good  (demand 2)", "suite/bad  (demand 2)"]


def test_summary_adds_up_like_instances() -> None:
    """The summary has one line per suite, demand and method, with totals over its instances."""
    lines = text_of(Comparison((GOOD, GOOD, BAD, ABSENT)).summary()).splitlines()
    assert "gap of" in lines[0] + lines[1]  # totals
    assert lines[-3].split("  ")[0] == "suite"
    assert lines[-2].split()[:6] == ["good", "2", "2", "2", "0.0", "%"]
    assert lines[-1].split()[:6] == ["bad", "1", "2", "1", "100.0", "%"]


def test_summary_names_methods_that_always_failed() -> None:
    """A method that failed on every instance has a line without a value, and the reason below the table."""
    broken = replace(BAD, method="broken", result=None, note="ValueError: no", failed=True)
    text = text_of(Comparison((GOOD, broken)).summary())
    assert re.search(r"broken +0 of 1 +- +- +-", text)
    assert "broken failed: ValueError: no" in text


def test_summary_says_what_was_not_solved() -> None:
    """Totals are over the instances that a method solved, and the count says how many these are."""
    lost = replace(BAD, result=Result.judged(figure_5(2), method="bad", runtime=0.1))
    both, none = (text_of(Comparison(rows).summary()).splitlines()[-1] for rows in [(BAD, lost), (lost,)])
    assert both.split()[1:6] == ["1", "of", "2", "2", "1"]
    assert none.split()[1:7] == ["0", "of", "1", "-", "-", "-"]


@pytest.mark.parametrize("length", [3, 40, 90])
@pytest.mark.parametrize("cost", [1, 12345.678, 20000026.4])
def test_tables_fit_a_page(length: int, cost: float) -> None:
    """Whatever the names and numbers, no line is longer than a page, and every name can be read in full."""
    job = Job(name="a", workers={"s1": 1}, cost=cost)
    problem = Reclaiming(demand=1, servers=[Server(name=n, gpus=8) for n in ("s1", "s2")], jobs=[job])
    names = ["q" * length, "x" * length]
    rows = [replace(row(problem, name, "s1", bound=None), instance="suite/" + "i" * length) for name in names]
    for text in (str(Comparison(tuple(rows))), text_of(Comparison(tuple(rows)).summary())):
        assert max(map(len, text.splitlines())) <= 80
        parts = [line.split()[0] for line in text.splitlines() if line.startswith("q")]
        assert "".join(parts) == "q" * length


def test_names_are_not_markup() -> None:
    """A name with square brackets is printed as it is."""
    assert "[red]x[/nope]" in str(Comparison((replace(GOOD, instance="[red]x[/nope]"),)))


def test_rows_of_different_decisions_stand_under_their_headings() -> None:
    """A table of two decisions shows the figures that both have, and no cell moves under another heading."""
    other = load("allocation/aryl-table-4")
    value = solve(other)
    mixed = Comparison(
        (GOOD, ComparisonRow("table-4", "exact", "exact", other, value, value.bound, optimum_known=True))
    )
    lines = str(mixed).splitlines()
    at = next(line.index("bound") for line in lines if "bound" in line) + len("bound")
    assert [line[:at].split()[-1] for line in lines if line.startswith("exact")] == ["86"]


def test_comparisons_add_up() -> None:
    """Two comparisons joined keep all rows and remember an interrupt; one without rows is an empty table."""
    joined = Comparison((GOOD,)) + Comparison((BAD,), interrupted=True)
    assert len(joined) == 2
    assert joined.interrupted
    assert joined[1] is BAD
    assert "method" in str(Comparison(()))


def test_frame_has_a_column_per_figure() -> None:
    """The data frame carries instance, demand, method, objective, bound and gap; notebooks get the table."""
    frame = Comparison((GOOD, BAD)).to_frame()
    assert frame["gap"].tolist() == [0.0, 1.0]
    assert {"instance", "demand", "method", "objective", "bound", "status", "runtime"} <= set(frame.columns)
    assert Comparison((GOOD,))._repr_html_().startswith("<pre>")


def test_plot_shows_each_method() -> None:
    """The plot has one marker series per method that has a gap."""
    axes = Comparison((GOOD, BAD, ABSENT)).plot()
    labels = [text.get_text() for text in unwrap(axes.get_legend()).get_texts()]
    assert labels == ["good", "bad"]


def test_missing_report_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas or matplotlib the message names the packages to install."""
    monkeypatch.setattr("gsopt.evaluation.listing.find_spec", lambda _: None)
    for call in (Comparison((GOOD,)).to_frame, Comparison((GOOD,)).plot):
        with pytest.raises(ValueError, match="pip install matplotlib pandas jinja2"):
            call()


def test_there_and_back(tmp_path: Path) -> None:
    """A comparison of several instances, with a row that failed, is read back equal."""

    def broken(problem: Reclaiming) -> None:
        raise ValueError(problem.name)

    problems = [load("reclaiming/small/hypergraph"), load("reclaiming/aryl-figure-5")]
    comparison = replace(gsopt.compare(problems, ["greedy", broken, "exact"]), interrupted=True)
    gsopt.write(comparison, tmp_path / "comparison.json")
    assert gsopt.read_comparison(tmp_path / "comparison.json", problems) == comparison


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance": "elsewhere"}, r"rows\[1\].instance: 'elsewhere': must be the name of one of"),
        ({"kind": "magic"}, r"rows\[1\].kind: 'magic'"),
        ({"colour": 1}, r"rows\[1\].colour: 1: is not a known key"),
        ({"result": {}}, r"rows\[1\].result: status: is required"),
        ({"result": "x"}, r"rows\[1\].result: 'x'"),
    ],
)
def test_a_stored_comparison_is_judged_again(change: dict[str, Any], message: str) -> None:
    """What is no row of a comparison is named with its place."""
    problem = load("reclaiming/aryl-figure-5")
    data = gsopt.compare(problem, ["exact", "greedy"]).as_dict()
    data["rows"][1] |= change
    with pytest.raises(InvalidInput, match=f"^comparison: {message}"):
        Comparison.from_dict([problem], data)


def test_what_is_no_json_is_no_comparison() -> None:
    """An object that JSON cannot hold is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^comparison: must be plain JSON"):
        Comparison.from_dict([], {"rows": [object()]})


def test_rows_of_a_stored_comparison_may_not_contradict_each_other() -> None:
    """A bound of one row above the value of another one is found."""
    problem = load("reclaiming/aryl-figure-5")
    data = gsopt.compare(problem, ["exact", "greedy"]).as_dict()
    unknown = {"solution": None, "objective": None, "status": "unknown", "level": "claimed", "gap": None}
    data["rows"][0]["result"] |= {**unknown, "bound": 2}
    with pytest.raises(Contradiction, match="greedy found 1, better than the bound 2"):
        Comparison.from_dict([problem], data)


def test_text_is_plain_and_html_escaped() -> None:
    """Text has no escape sequences and no blanks at line ends; in notebooks it has its tags made harmless."""
    table = Table("name", "value")
    table.add_row("a<b", "1")
    lines = text_of(table).splitlines()
    assert any("a<b" in line for line in lines)
    assert all(line == line.rstrip() and "\x1b" not in line for line in lines)
    assert html_of(table).startswith("<pre>")
    assert "a&lt;b" in html_of(table)


def test_no_text_turns_or_moves_a_terminal() -> None:
    """Marks of direction and control characters are shown by their number in cells, headings and notes."""
    bad = "a\u202eb\x1b[2J\x9b"
    shown = r"a\u202eb\x1b[2J\x9b"
    text = text_of(lay_out([Column("name", [bad], right=False)], headings={0: bad}, notes=[bad]))
    assert text.count(shown) == 3
    assert all(line.isprintable() for line in text.splitlines())


def test_gaps_that_are_all_the_same() -> None:
    """Equal gaps do not blow up an axis around them, and the markers of later methods are smaller."""
    axes = plots.gaps({"a": [(0.0, "x"), (0.0, "y")], "b": [(0.0, "y")]}, new_figure(4, 2).subplots())
    assert axes.get_xlim() == (-0.05, 1)
    assert axes.get_xlabel() == "gap to the best proven bound"
    first, second = list[Any](axes.get_lines())
    assert first.get_markersize() > second.get_markersize()
    assert first.get_ydata().tolist() == [0, 1]
    assert second.get_ydata().tolist() == [1]
    axes = plots.gaps({"a": [(0.1, "x"), (0.22, "y")]}, new_figure(4, 2).subplots())
    assert 0.22 < axes.get_xlim()[1] < 0.25


def test_gaps_that_span_decades() -> None:
    """Gaps of many sizes have an axis of powers of ten that begins at 0, and instances keep their order."""
    points = {"a": [(0.0, "x"), (12.0, "y")], "b": [(0.005, "x")]}
    axes = plots.gaps(points, new_figure(4, 2).subplots(), instances=["y", "x", "$none$"])
    assert (axes.get_xscale(), axes.get_xlim()) == ("symlog", (0, 24))
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "0 %",
        "0.1 %",
        "1 %",
        "10 %",
        "100 %",
        "1,000 %",
    ]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["y", "x", "$none$"]


@pytest.mark.parametrize("width", range(1, 90))
def test_the_line_fits(width: int) -> None:
    """Whatever the width, value and time stay as long as they have room, and the name goes first."""
    line = Display(figure_5(2)).line(KnownBracket(0.0, 12, 10), seconds=3700, width=width)
    assert line.endswith("1:01:40")
    assert line.startswith("12") or "preemptions 12" in line
    assert len(line) <= max(width, len("12  gap 20.0 %  1:01:40"))


def test_what_is_not_known_is_a_dash() -> None:
    """Without value or bound there is no gap; above a bound of 0 the difference takes its place."""
    shown = Display(figure_5(2))
    assert "preemptions -  bound -  gap -" in shown.line(KnownBracket(0.0), seconds=0)
    assert "preemptions 3  bound 0  gap +3" in shown.line(KnownBracket(0.0, 3, 0), seconds=0)


def test_where_there_is_no_terminal_each_change_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error has a line per change, which a listener hears too; standard output has nothing."""
    history = gsopt.History()
    gsopt.solve(figure_5(2), display=True, on_progress=history)
    shown = capsys.readouterr()
    lines = shown.err.splitlines()
    assert shown.out == ""
    assert "preemptions 1  bound 1  gap 0.0 %" in lines[-1]
    assert len(lines) == len(history)


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


def history_of(*known: tuple[float, float | None, float | None]) -> History:
    """Return a history of times, values and bounds."""
    history = History()
    for each in known:
        history(KnownBracket(*each))
    return history


@pytest.mark.parametrize("word", problem_types())
def test_every_exact_method_tells_of_value_and_bound(word: str) -> None:
    """Values and bounds only get better, no bound is better than the end's value, and the end is the result."""
    problem = gsopt.load(gsopt.names(f"{word}/small/")[0])
    better = problem.sense.better
    for method in catalogue.exact_methods(word).values():
        history = History()
        try:
            result = gsopt.solve(problem, method, on_progress=history)
        except Unsupported:
            continue
        values = [known.value for known in history if known.value is not None]
        bounds = [known.bound for known in history if known.bound is not None]
        assert all(better(after, before) for before, after in pairwise(dict.fromkeys(values)))
        assert all(better(before, after) for before, after in pairwise(dict.fromkeys(bounds)))
        assert (history[-1].value, history[-1].bound) == (result.objective, result.bound), method
        assert sorted(known.runtime for known in history) == [known.runtime for known in history]


def test_a_solve_without_listener_is_the_same() -> None:
    """Who listens changes nothing, and on_incumbent is told as before."""
    problem = gsopt.load("reclaiming/small/hypergraph")
    heard, told, history = [], [], History()
    gsopt.solve(problem, "milp", on_incumbent=lambda found: heard.append(found.objective))
    result = gsopt.solve(
        problem, "milp", on_incumbent=lambda found: told.append(found.objective), on_progress=history
    )
    assert heard == told
    assert result.solution == gsopt.solve(problem, "milp").solution


def test_table_records_and_file(tmp_path: Path) -> None:
    """The table, the frame and the file say the same."""
    history = history_of((0.1, 9, None), (0.25, 9, 6), (2.0, 8, 6.5))
    assert str(history).splitlines()[-1].split() == ["2.000", "8", "6.5", "23.1", "%"]
    assert history.to_frame()["gap"].tolist()[1:] == [0.5, 1.5 / 6.5]
    gsopt.write(history, tmp_path / "history.json")
    assert json.loads((tmp_path / "history.json").read_text()) == {"history": history.records()}
    assert history.records()[0] == {"runtime": 0.1, "value": 9, "bound": None, "gap": None}


def test_plot_has_a_line_for_each_side() -> None:
    """Value and bound are steps of their own colour and style, from when they are known to the end."""
    axes = history_of((0.1, 9, None), (0.25, 9, 6), (2.0, 8, 6)).plot(unit="preemptions")
    value, _, bound, _ = axes.lines  # each with a dot at its end
    assert np.asarray(value.get_ydata()).tolist() == [9, 9, 8]
    assert np.asarray(bound.get_ydata()).tolist()[1:] == [6, 6]
    assert value.get_color() != bound.get_color()
    assert value.get_linestyle() != bound.get_linestyle()
    assert axes.get_ylabel() == "preemptions"
    assert [text.get_text() for text in unwrap(axes.get_legend()).get_texts()] == [
        "value, 8 at the end",
        "bound, 6 at the end",
        "gap, 33.3 % at the end",
    ]


def test_axis_of_time_suits_the_changes() -> None:
    """Time is logarithmic where half of the changes come early, else linear; no changes give an empty plot."""
    early = history_of((0.01, 9, None), (0.02, 8, None), (0.05, 8, 5), (60.0, 7, 6))
    assert early.plot().get_xscale() == "log"
    assert history_of((1, 9, None), (30, 8, 5), (60, 7, 6)).plot().get_xscale() == "linear"
    assert History().plot().get_xlabel() == "time [s]"
    assert str(History()).split()[:5] == ["time", "[s]", "value", "bound", "gap"]


def test_a_heuristic_has_no_history() -> None:
    """A heuristic, which ends at once, is asked for no progress, and says so."""
    for option in ({"on_progress": History()}, {"display": True}):
        with pytest.raises(InvalidInput, match=r"is not an option of greedy"):
            gsopt.solve(gsopt.load("reclaiming/aryl-figure-5"), "greedy", **option)
