"""What every result that prints as a table has: one way of writing numbers and units, and four other forms."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import gsopt
from gsopt.core.errors import InvalidInput
from gsopt.evaluation.comparison import Comparison
from gsopt.evaluation.history import History
from gsopt.evaluation.listing import Tabular
from gsopt.evaluation.policies import PolicyComparison
from gsopt.evaluation.simulate import TabularReplay
from gsopt.evaluation.tables import Column, common_unit, figure_column, latex_of, markdown_of, runtime_column
from gsopt.scenario.job import Job, Workload
from gsopt.schedule.figures import FigureKind
from tests.unwrap import unwrap

mpl.use("Agg")

SECONDS = FigureKind.SECONDS
WORKLOAD = Workload(
    jobs=[
        Job(name=str(i), release_date=0, duration=3600 * duration, gpus=1) for i, duration in enumerate((9, 1))
    ]
)


@pytest.fixture(autouse=True)
def _no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


def ninth_policy_of_100_percent(state: Any) -> Any:
    """Fail with a name and a message that LaTeX would read."""
    raise ValueError(f"50 % of $x_{state.now}$ & more")


def policies(*more: Any) -> PolicyComparison:
    """Compare two policies, and more."""
    return gsopt.compare_policies(WORKLOAD, ["fifo", "srtf", *more], cluster=1)


def instances() -> Comparison:
    """Compare two methods on two instances, of which the second has a method that does not apply."""
    names = ["reclaiming/small/collateral", "reclaiming/small/collateral-tagged"]
    return gsopt.compare([gsopt.load(name) for name in names], ["exact", "decomposition", "random_choice"])


def recorded() -> TabularReplay:
    """Simulate one policy and keep the schedule."""
    return gsopt.simulate(WORKLOAD, "fifo", cluster=1, record=True)


def history() -> History:
    """Follow how an instance is solved."""
    found = gsopt.History()
    gsopt.solve(gsopt.load("reclaiming/aryl-figure-5"), on_progress=found)
    return found


@pytest.mark.parametrize(
    "made",
    [
        instances,
        lambda: Comparison(()),
        lambda: policies(ninth_policy_of_100_percent),
        lambda: PolicyComparison(()),
        recorded,
        lambda: gsopt.judge(unwrap(recorded().schedule), WORKLOAD, cluster=1),
        history,
        lambda: gsopt.suites.best_known("reclaiming/small"),
    ],
)
def test_everything_that_prints_as_a_table_has_every_form(made: Callable[[], Tabular]) -> None:
    """LaTeX and Markdown have a line per line of the table, CSV and frame one per record."""
    table = made()
    columns, records = table.columns(), table.records()
    lines = len(columns[0].cells)
    head, *body = re.findall(r"^(.*) \\\\$", table.to_latex(), re.MULTILINE)
    assert len(body) == lines
    assert {len(re.findall(r"(?<!\\)&", line)) for line in (head, *body)} == {head.count(" & ")}
    assert not re.search(r"(?<!\\)[%_#$]", "\n".join([head, *body]))
    assert sum(line.startswith("| ") for line in table.to_markdown().splitlines()) == lines + 1
    assert len(list(csv.DictReader(StringIO(table.to_csv())))) == len(table.to_frame()) == len(records)
    assert str(table)
    assert table._repr_html_().startswith("<pre>")


def test_the_best_is_bold_on_paper() -> None:
    """Of each instance, and of the times and gaps of policies, the best is bold unless all are the same."""
    latex = policies().to_latex()
    assert r"srtf & \textbf{5.5} &" in latex
    assert r"fifo & 9.5 &" in latex
    assert latex.count("textbf") == 2  # mean and gap; the p99 is the same
    bold = [line for line in instances().to_latex().splitlines() if "textbf" in line]
    assert [line.split(" & ")[1] for line in bold] == ["exact", "decomposition", "exact"]
    alone = PolicyComparison(policies().rows[:1])
    assert "textbf" not in alone.to_latex()
    assert "**" not in alone.to_markdown()


def test_a_mean_over_fewer_jobs_is_not_the_best() -> None:
    """Where a policy leaves jobs incomplete, means are over different jobs, and none is bold."""
    first, second = policies().rows
    short = replace(second, completion_times=(None, second.completion_times[1]), ends=())
    assert "textbf" not in PolicyComparison((first, short)).to_latex()


def test_notes_are_comments_in_latex() -> None:
    """The bound, what failed and what is left out stand below the table, each in a line that LaTeX skips."""
    notes = policies(ninth_policy_of_100_percent).to_latex().partition("\\end{tabular}\n")[2].splitlines()
    assert all(line.startswith("% ") for line in notes)
    assert "gap to the lower bound of 5.5 h" in notes[0]
    assert "ninth_policy_of_100_percent failed: ValueError: 50 % of $x_0.0$ & more" in notes[1]
    assert "left out: makespan [h], worst fairness; to_csv() and to_frame() have them" in notes[2]
    assert latex_of([Column("a", ["b"])], ["two\nlines"]).endswith("% two lines\n")


def test_names_are_escaped() -> None:
    """What LaTeX or Markdown would read in a name is printed."""
    column = Column("a_b", [r"50 % \ {$x^2~&#}", "a|b"], right=False, best=(1,))
    assert r"a\_b \\" in latex_of([column])
    escaped = r"50 \% \textbackslash{} \{\$x\textasciicircum{}2\textasciitilde{}\&\#\} \\"
    assert escaped in latex_of([column]).splitlines()
    assert r"| **a\|b** |" in markdown_of([column])


@pytest.mark.parametrize(
    ("values", "title", "cells"),
    [
        ([1.0, 299.0], "wait [s]", ["1", "299"]),
        ([300, 60], "wait [min]", ["5", "1"]),
        ([5 * 3600, None, 360], "wait [h]", ["5.0", "-", "0.1"]),
        ([Fraction(5 * 86_400), 864], "wait [days]", ["5", "0.01"]),
        ([12_540.0, 12_372.0], "wait [min]", ["209.0", "206.2"]),
        ([282_600.0, 282_564.0, 0], "wait [h]", ["78.50", "78.49", "0"]),
        ([0.002902, 0.00431], "wait [s]", ["0.002902", "0.004310"]),
        ([7200.0 * 3600, 4.5 * 3600], "wait [days]", ["300", "0.1875"]),
        ([None], "wait [s]", ["-"]),
        ([], "wait [s]", []),
    ],
)
def test_a_column_of_times_has_one_unit(values: list[Any], title: str, cells: list[str]) -> None:
    """All times of a column are in the unit that suits the largest, as on the axes of pictures."""
    for name in ("wait", "wait [s]"):
        column = figure_column(name, values, SECONDS)
        assert (column.name, list(column.cells)) == (title, cells)


def test_the_times_of_a_table_have_one_unit() -> None:
    """Times of several columns are in the unit of their median; data stay in seconds."""
    assert common_unit([1.0, 7 * 3600, None, 9e9]) == (3600.0, "h")
    assert common_unit([]) == (1.0, "s")
    found = policies()
    assert [column.name for column in found.columns()[1:4]] == ["mean JCT [h]", "p99 JCT [h]", "makespan [h]"]
    assert found.to_frame()["mean_jct"].tolist() == [9.5 * 3600, 5.5 * 3600]
    assert json.loads(json.dumps(found.records()))[0]["makespan"] == 36_000


@pytest.mark.parametrize(
    ("seconds", "title", "cells"),
    [
        ([0.0001234, 0.0123, 9.9, None], "time [ms]", ["0.12", "12.3", "9,900", ""]),
        ([0.000001, 10.0, 1234.5], "time [s]", ["<0.01", "10.0", "1,234"]),
        ([], "time [ms]", []),
    ],
)
def test_run_times_have_one_unit(seconds: list[float | None], title: str, cells: list[str]) -> None:
    """All run times of a column are in milliseconds or all in seconds, and none is shown as 0."""
    column = runtime_column("time", seconds)
    assert (column.name, list(column.cells)) == (title, cells)


@pytest.mark.parametrize(
    ("name", "change"),
    [("goodput/small/unequal-nodes", 1e-10), ("scheduling/small/all-gpus-each", 1e-7)],
)
def test_a_gap_below_the_tolerance_is_none(name: str, change: float) -> None:
    """A value that its problem cannot tell from the bound has a gap of 0 in rows, tables, data and pictures."""
    problem = gsopt.load(name)
    (row,) = gsopt.compare(problem, ["exact"])
    value = Fraction(unwrap(unwrap(row.result).objective))
    near = Comparison((replace(row, bound=float(value * Fraction(1 - change))),))
    assert near[0].gap == near.records()[0]["gap"] == 0.0
    assert "0.0 %" in str(near)
    assert r"0.0 \%" in near.to_latex()
    assert near.plot().lines[0].get_xdata() == [0.0]


def test_a_picture_of_policies() -> None:
    """Policies stand by their mean JCT, with the gap beside it, the bound as a line, and failures below."""
    axes = policies(ninth_policy_of_100_percent).plot()
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["srtf", "fifo", "ninth_policy_of_100_percent"]
    assert [text.get_text() for text in axes.texts] == ["0.0 %", "72.7 %", "failed"]
    assert (axes.get_xscale(), axes.get_xlabel()) == ("linear", "mean JCT [h]")


def test_policies_that_differ_by_decades_are_on_a_logarithmic_axis() -> None:
    """Means far above the bound do not hide the others; names are shortened, and no bound draws no line."""
    found = policies()
    far = replace(found.rows[0], policy="x" * 99, clock=found.rows[0].clock, ends=(3.6e6, 3.6e6))
    axes = PolicyComparison((far, *found.rows)).plot()
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "mean JCT")
    assert axes.get_yticklabels()[-1].get_text() == "x" * 39 + "…"
    unbounded = PolicyComparison(tuple(replace(row, bound=None) for row in found.rows)).plot()
    assert unbounded.get_legend() is None
    assert not unbounded.texts


def test_few_and_many_policies_can_be_drawn() -> None:
    """No policy, one without a completed job, and forty give a picture each."""
    row = policies().rows[0]
    nothing = replace(row, completion_times=(None, None), ends=(), queueing=(), bound=None)
    assert [text.get_text() for text in PolicyComparison((nothing,)).plot().texts] == ["no job completes"]
    assert not PolicyComparison(()).plot().lines
    many = PolicyComparison(tuple(replace(row, policy=f"${number}$ %") for number in range(40)))
    assert many.plot().bbox.height > 900


def test_results_without_a_gap_are_counted_in_a_picture() -> None:
    """A picture says how many results have no gap, such as those of methods that do not apply."""
    assert instances().plot().get_xlabel().endswith("; 1 without a gap not shown")
    assert Comparison(()).plot().get_xlabel() == "gap to the best proven bound"


def test_a_run_is_drawn_if_it_was_recorded() -> None:
    """A picture of a run is its Gantt chart with the queue; without a record one line says what to do."""
    assert [axes.get_ylabel() for axes in recorded().plot().axes] == ["GPU", "jobs waiting"]
    with pytest.raises(InvalidInput, match=r"^plot: fifo: needs a recorded run: simulate with record=True$"):
        gsopt.simulate(WORKLOAD, "fifo", cluster=1).plot()


def test_a_run_is_a_row_of_a_comparison() -> None:
    """The record of a run is the one that a comparison of its policy has."""
    assert gsopt.simulate(WORKLOAD, "fifo", cluster=1).records() == policies().records()[:1]


def test_a_history_names_its_unit() -> None:
    """Times of a history are in seconds, and its head says so."""
    assert History().columns()[0].name == "time [s]"
