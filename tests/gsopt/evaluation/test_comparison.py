"""Comparison: what people see of it."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import gsopt
from gsopt.core.errors import Contradiction, InvalidInput
from gsopt.core.result import Result
from gsopt.evaluation.catalogue import load
from gsopt.evaluation.comparison import Comparison, Row
from gsopt.evaluation.solve import solve
from gsopt.evaluation.tables import text_of
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from tests.gsopt.problems.test_reclaiming import figure_5, pick

mpl.use("Agg")


def row(problem: Reclaiming, method: str, *servers: str, bound: int | None = 1) -> Row:
    """Return a row from returned servers."""
    result = Result.judged(problem, method=method, solution=pick(*servers), runtime=0.002)
    return Row("suite/" + method, method, "heuristic", problem, result, bound, optimum_known=bound is not None)


GOOD = row(figure_5(2), "good", "s1", "s2")
BAD = row(figure_5(2), "bad", "s3", "s4")
ABSENT = replace(BAD, method="absent", result=None, note="needs glue")


def test_gap_is_relative_to_the_best_bound() -> None:
    """Two preemptions against a proven one are 100 % above; without a bound there is no gap."""
    assert (GOOD.gap, BAD.gap, BAD.excess) == (0.0, 1.0, 1)
    assert replace(BAD, bound=None).gap is None
    assert ABSENT.gap is None


def test_excess_over_zero_is_shown_as_a_number() -> None:
    """Above a bound of 0 there is no percentage, so the table shows the excess itself."""
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
    assert value.objective is not None
    below = value.objective * (1 - 1e-15)
    (line,) = [
        line
        for line in str(Comparison((Row("a", "m", "exact", problem, value, below),))).splitlines()
        if line.startswith("m ")
    ]
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
    assert lines[-3].split("  ")[0] == "suite"
    assert lines[-2].split()[:6] == ["good", "2", "2", "2", "0.0", "%"]
    assert lines[-1].split()[:6] == ["bad", "1", "2", "1", "100.0", "%"]


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
    mixed = Comparison((GOOD, Row("table-4", "exact", "exact", other, value, value.bound, optimum_known=True)))
    lines = str(mixed).splitlines()
    at = next(line.index("bound") for line in lines if "bound" in line) + len("bound")
    assert [line[:at].split()[-1] for line in lines if line.startswith("exact")] == ["86"]


def test_comparisons_add_up() -> None:
    """Two comparisons joined keep all rows and remember an interrupt."""
    joined = Comparison((GOOD,)) + Comparison((BAD,), interrupted=True)
    assert len(joined) == 2
    assert joined.interrupted
    assert joined[1] is BAD


def test_frame_has_a_column_per_figure() -> None:
    """The data frame carries instance, demand, method, objective, bound and gap."""
    frame = Comparison((GOOD, BAD)).to_frame()
    assert frame["gap"].tolist() == [0.0, 1.0]
    assert {"instance", "demand", "method", "objective", "bound", "status", "runtime"} <= set(frame.columns)


def test_notebook_form_is_html() -> None:
    """Notebooks get the table as preformatted HTML."""
    assert Comparison((GOOD,))._repr_html_().startswith("<pre>")


def test_plot_shows_each_method() -> None:
    """The plot has one marker series per method that has a gap."""
    axes = Comparison((GOOD, BAD, ABSENT)).plot()
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == ["good", "bad"]


def test_missing_report_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas or matplotlib the message names the extra to install."""
    monkeypatch.setattr("gsopt.evaluation.listing.find_spec", lambda _: None)
    for call in (Comparison((GOOD,)).to_frame, Comparison((GOOD,)).plot):
        with pytest.raises(ValueError, match=r'pip install "gsopt\[report\]"'):
            call()


def test_empty_comparison_prints() -> None:
    """A comparison without rows prints an empty table instead of failing."""
    assert "method" in str(Comparison(()))


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


def test_rows_of_a_stored_comparison_may_not_contradict_each_other() -> None:
    """A bound of one row above the value of another one is found."""
    problem = load("reclaiming/aryl-figure-5")
    data = gsopt.compare(problem, ["exact", "greedy"]).as_dict()
    data["rows"][0]["result"] |= {"solution": None, "objective": None, "status": "unknown", "bound": 2}
    with pytest.raises(Contradiction, match="greedy found 1, better than the bound 2"):
        Comparison.from_dict([problem], data)
