"""Tables of results, the rows and statistics that they are made of, and what results say together."""

import csv
import json
from collections.abc import Sequence
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis import strategies as st

from gsopt.core.errors import Contradiction
from gsopt.schedule.figures import FIGURES
from gsopt.studies import CellRow, CellState, Results, cells_of, report, results
from gsopt.studies.paired import Paired, signed_ranks
from gsopt.studies.report import CELL_FIGURES
from gsopt.studies.rows import labels_of, row_of
from gsopt.studies.statistics import statistic
from tests.effort import cases
from tests.gsopt.studies.samples import fill, found, row, study
from tests.refusals import assert_refused, refusal
from tests.unwrap import unwrap


def _report_sweep() -> Results:
    """Return two groups of two instances with two policies, one of them in two settings."""
    rows = []
    for group in ("a_b", "c"):
        for number in (1, 2):
            where = {"group": group, "instance": f"{group}/{number}", "word": ""}
            base = 1000.0 * number
            rows.append(row({"mean_jct": 2 * base, "gap": 0.5}, "fifo", **where))
            for alpha in (0.5, 1.0):
                figures = {"mean_jct": alpha * base, "gap": 0.25}
                rows.append(row(figures, "efq", options={"alpha": alpha}, **where))
    return found(*rows)


_SEEDS = [row({"mean_jct": jct}, "fifo", seed=seed) for seed, jct in enumerate((1.0, 3.0))]
_NAMED = [row({"mean_jct": 4.0}, "least"), row({"mean_jct": 1.0}, "fifo")]


def test_the_default_is_a_line_per_group_and_method() -> None:
    """Without any option there is one line per group and method with its parameters, with means."""
    made = report(_report_sweep())
    assert made.header == ("group", "method", "cells", "mean_jct", "gap")
    assert made.lines[:3] == (
        ("a_b", "fifo", 2, 3000.0, 0.5),
        ("a_b", "efq(alpha=0.5)", 2, 750.0, 0.25),
        ("a_b", "efq(alpha=1.0)", 2, 1500.0, 0.25),
    )
    assert len(made.lines) == 6


def test_columns_figures_and_statistics_are_chosen() -> None:
    """A table can be grouped by an option and show several statistics of a figure."""
    made = report(_report_sweep(), by=["alpha"], figures=["mean_jct"], statistics=["median", "max"])
    assert made.header == ("alpha", "cells", "median mean_jct", "max mean_jct")
    assert made.lines == ((None, 4, 3000.0, 4000.0), (0.5, 4, 750.0, 1000.0), (1.0, 4, 1500.0, 2000.0))


@pytest.mark.parametrize(
    ("rows", "relative_to", "means"),
    [
        (_report_sweep().rows, "fifo", {"fifo": 1.0, "efq(alpha=0.5)": 0.25, "efq(alpha=1.0)": 0.5}),
        # of "least" seeds are taken together, and methods without the figure left out
        ([*_SEEDS, row({"mean_jct": 4.0}, "sjf"), row({}, "efq")], "least", {"fifo": 1.0, "sjf": 2.0}),
        (_NAMED, "least", {"least": 1.0, "fifo": 0.25}),  # a method of that name comes first
    ],
)
def test_figures_are_relative(rows: Sequence[CellRow], relative_to: str, means: dict[str, float]) -> None:
    """A figure is divided by that of a method, or by the least, on the same instance before the mean."""
    made = report(found(*rows), by=["method"], relative_to=relative_to)
    place = made.header.index(f"mean_jct / {relative_to}")
    assert {line[0]: line[place] for line in made.lines} == means


def test_cells_without_result_are_counted_apart() -> None:
    """A cell that failed is in no mean, and is counted where there is one."""
    made = report(found(row({"gap": 0.5}), row({}, error="InvalidInput"), row({}, state=CellState.UNSUPPORTED)))
    assert made.header == ("group", "method", "cells", "without result", "gap")
    assert made.lines == (("suite", "greedy", 1, 2, 0.5),)


def test_the_forms_say_the_same() -> None:
    """CSV and JSON hold seconds in full; Markdown and LaTeX hold numbers as they are shown, escaped."""
    made = report(_report_sweep(), figures=["mean_jct", "gap"])
    lines = list(csv.DictReader(StringIO(made.csv())))
    assert [float(line["mean_jct"]) for line in lines] == [line[3] for line in made.lines]
    assert list(json.loads(made.json())[1].values()) == ["a_b", "efq(alpha=0.5)", 2, 750.0, 0.25]
    assert "| a_b | fifo | 2 | 50.0 | 50.0 % |\n" in made.markdown()
    assert r"a\_b & fifo & 2 & 50.0 & 50.0 \% \\" in made.latex()
    head = "group & method & cells & mean JCT [min] & gap"
    assert made.latex().startswith(f"\\begin{{tabular}}{{llrrr}}\n\\toprule\n{head}")
    assert "efq(alpha=0.5)" in made.text()


def test_every_cell_can_be_had() -> None:
    """The CSV of cells has a line per cell, with options and figures."""
    lines = list(csv.DictReader(StringIO(_report_sweep().to_csv())))
    assert len(lines) == 12
    assert (lines[1]["alpha"], lines[1]["mean_jct"], lines[0]["alpha"]) == ("0.5", "500.0", "")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"by": ["colour"]}, "by: 'colour': must be one of group, method, instance"),
        ({"figures": ["colour"]}, "figure: 'colour': must be one of mean_jct, gap"),
        ({"statistics": ["colour"]}, "statistic: 'colour': must be"),
        ({"relative_to": "colour"}, "relative_to: 'colour': must be one of fifo, efq"),
    ],
)
def test_what_is_not_there_is_refused(options: dict[str, Any], line: str) -> None:
    """A column, figure, statistic or method that does not exist is named with those that do."""
    assert refusal(report, _report_sweep(), **options).startswith(line)


def test_text_fits_a_page() -> None:
    """With all usual figures and long names no line is longer than a page, and what is left out is named."""
    keys = [each.key for each in FIGURES if each.rank]
    cells = [row(dict.fromkeys(keys, 123_456.7), "a_method_with_a_very_long_name", group="g" * 40)]
    made = report(found(*cells))
    lines = made.text().splitlines()
    assert max(map(len, lines)) <= 80
    assert "left out: cells" in made.text()
    assert set(keys) <= set(made.header)
    assert "mean JCT [h]" in made.markdown()


def test_counts_that_differ_are_never_left_out() -> None:
    """If the means of two methods are over different numbers of cells, even a narrow table shows these."""
    keys = [each.key for each in FIGURES if each.rank]
    methods = ("a_method_with_a_very_long_name", *["another_method_with_a_long_name"] * 2)
    made = report(found(*(row(dict.fromkeys(keys, 123_456.7), method) for method in methods)))
    shown, _, left_out = made.text().partition("left out:")
    assert "cells" in shown
    assert "cells" not in left_out


def test_a_figure_has_one_column() -> None:
    """No two figures of a cell share a name or a label, those of a schedule included."""
    every = [*FIGURES, *CELL_FIGURES]
    assert len({each.key for each in every}) == len({each.label for each in every}) == len(every)


def test_cells_are_no_formulas() -> None:
    """Names that a spreadsheet would run stand behind an apostrophe in every CSV; negative numbers do not."""
    results = found(row({"objective": -3}, "@cmd", options={"=1+1": "-a"}, instance="=x"))
    by_option = report(results, by=["method", "=1+1"], figures=["objective"])
    for text in (by_option.csv(), results.to_csv()):
        cells = [cell for line in csv.reader(StringIO(text)) for cell in line]
        assert {"'=1+1", "'-a"} <= set(cells)
        assert any(cell.startswith("'@cmd") for cell in cells)
        assert {cell for cell in cells if cell.startswith(("=", "+", "-", "@"))} <= {"-3", "-3.0"}


_LEAST = {"sense": "minimize"}
_MOST = {"sense": "maximize"}


def test_the_gap_is_to_the_best_bound_of_the_study(tmp_path: Path) -> None:
    """A heuristic's gap is measured against the bound that another method proved on the same instance."""
    grid = study(instances=["reclaiming/small"], methods=["exact", "smallest_job_first"])
    fill(tmp_path, grid)
    rows = results(tmp_path).rows
    optimum = {row.instance_key: row.figures["objective"] for row in rows if str(row.labels.method) == "exact"}
    assert {row.figures["proven_bound"] for row in rows if row.instance_key == rows[0].instance_key} == {
        optimum[rows[0].instance_key]
    }
    gaps = [row.figures["gap"] for row in rows if str(row.labels.method) != "exact"]
    assert max(gap for gap in gaps if gap is not None) > 0
    for each in rows:
        best = optimum[each.instance_key]
        if best:
            assert each.figures["gap"] == pytest.approx((each.figures["objective"] - best) / best)


@pytest.mark.parametrize(("sense", "bound"), [(_LEAST, 3), (_MOST, 1)])
def test_a_value_better_than_a_bound_is_refused(sense: dict[str, str], bound: int) -> None:
    """A value and a bound that cannot both be right raise on one instance, and on two do not."""
    value = row({"objective": 2, "bound": None, **sense})
    proof = row({"objective": None, "bound": bound, **sense}, method="liar")
    elsewhere = row({"objective": None, "bound": bound, **sense}, method="liar", instance="suite/2")
    with pytest.raises(Contradiction, match=r"suite/1: greedy found 2, better than the bound . proven by liar"):
        found(value, proof).refuse_contradictions()
    found(value, elsewhere).refuse_contradictions()


def test_a_contradiction_within_a_cell_is_refused() -> None:
    """A cell that found a contradiction by itself raises it, other failures do not."""
    found(row({}, error="InvalidInput", message="no")).refuse_contradictions()
    with pytest.raises(Contradiction, match="suite/1: greedy: below the bound"):
        found(row({}, error="Contradiction", message="below the bound")).refuse_contradictions()


def test_results_are_a_sequence_a_frame_and_a_table(tmp_path: Path) -> None:
    """A frame has a line per cell with options and figures; the print is the default table."""
    fill(tmp_path, study())
    done = results(tmp_path)
    frame = done.to_frame()
    assert list(frame["method"]) == ["greedy", "exact"]
    assert list(frame["objective"]) == [1, 1]
    assert (len(done), done.missing, done[0].labels.method.base) == (2, 0, "greedy")
    assert "exact" in str(done)
    assert "exact" in done._repr_html_()
    assert isinstance(done, Results)


def test_options_with_one_name_are_kept_apart() -> None:
    """An instance's option gives way to a method's, and an option to a figure of that name."""
    found = row({"gap": 0.5}, options={"gap": 0.01, "load": 1}, instance_options={"load": 2, "jobs": 3})
    assert found.columns["load"] == 1
    assert (found.columns["instance.load"], found.columns["jobs"]) == (2, 3)
    assert (found.as_dict()["gap"], found.as_dict()["option.gap"]) == (0.5, 0.01)
    plain = row({}, options={"wall": 7, "state": 8, "message": 9}).as_dict()
    assert [plain[f"option.{name}"] for name in ("wall", "state", "message")] == [7, 8, 9]
    assert [plain[name] for name in ("state", "message")] == ["done", ""]


def test_labels_survive_storing() -> None:
    """A cell's labels, decision, instance and seed are read back from plain JSON."""
    for cell in cells_of(study(seeds=[4])):
        stored = json.dumps(labels_of(cell))
        found = row_of(stored, "done", '{"objective": 1}', "", "", 0.5, "0.1.0", cell.key)
        assert (found.labels, found.word, found.instance_key) == (cell.labels, cell.word, cell.instance_key)
        assert (found.seed, found.figures, found.key) == (cell.options.get("seed"), {"objective": 1}, cell.key)


_VALUES = some.lists(some.floats(0.1, 1e6), min_size=1)


@given(_VALUES)
def test_statistics_lie_within_the_values(values: list[float]) -> None:
    """Means, medians and percentiles lie between the smallest and the largest value."""
    for name in ("mean", "median", "geomean", "p25", "p99.9"):
        found = unwrap(statistic(name)(values))
        assert min(values) <= found * (1 + 1e-9)
        assert found <= max(values) * (1 + 1e-9)


def test_values_that_have_no_statistic() -> None:
    """Nothing has no mean, one value no deviation, and values of 0 no geometric mean."""
    assert [statistic("mean")([]), statistic("deviation")([3.0]), statistic("geomean")([0.0, 1.0])] == [
        None
    ] * 3


@pytest.mark.parametrize("name", ["average", "p", "p1000", "P99", ""])
def test_unknown_statistics(name: str) -> None:
    """What is no statistic is refused with what there is."""
    assert_refused("must be a percentile such as p99, or one of mean, median", statistic, name)


@settings(max_examples=cases(100), deadline=None)
@given(
    magnitudes=st.lists(st.integers(1, 1000), unique=True, min_size=1, max_size=8),
    signs=st.lists(st.sampled_from([-1, 1]), min_size=8, max_size=8),
    same=st.integers(0, 2),
)
def test_p_is_the_share_of_signs(magnitudes: list[int], signs: list[int], same: int) -> None:
    """Without ties p is the share of all signs whose sum of positive ranks is as small, or as large."""
    differences = [sign * size for sign, size in zip(signs, magnitudes, strict=False)]
    found = signed_ranks([*differences, *[7] * same], [*[0] * len(differences), *[7] * same])
    ranks = {size: rank for rank, size in enumerate(sorted(magnitudes), start=1)}
    positive = sum(ranks[size] for size in differences if size > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks.values(), drawn, strict=True) if sign > 0)
        for drawn in product((-1, 1), repeat=len(ranks))
    ]
    less = sum(each <= positive for each in sums) / len(sums)
    greater = sum(each >= positive for each in sums) / len(sums)
    assert found.pairs == len(differences)
    assert (found.less, found.greater) == pytest.approx((less, greater))
    assert found.two_sided == pytest.approx(min(1, 2 * min(less, greater)))


def test_jobs_that_are_all_alike() -> None:
    """Where no pair differs nothing speaks for either schedule, as without jobs."""
    assert signed_ranks([3, 4], [3, 4]) == Paired(0, 0.0, 1.0, 1.0, 1.0)
    assert signed_ranks([], []) == Paired(0, 0.0, 1.0, 1.0, 1.0)


def test_pairs_belong_together() -> None:
    """Figures of different numbers of jobs are refused."""
    assert_refused(r"second: '?1 figures'?: must be as many as the 2", signed_ranks, [1, 2], [1])


def test_options_with_columns_of_their_own_are_not_repeated_in_names() -> None:
    """A method's name leaves out options that have a column; methods without the option have a dash there."""
    found = report(_report_sweep(), by=["method", "alpha"], figures=["mean_jct"])
    assert {(line[0], line[1]) for line in found.lines} == {("fifo", None), ("efq", 0.5), ("efq", 1.0)}
    assert "| fifo | - |" in found.markdown()
