"""Tables of results."""

import csv
import json
from io import StringIO
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.schedule.figures import FIGURES
from gsopt.studies import Results, State, report
from gsopt.studies.report import CELL_FIGURES, cells_csv
from tests.gsopt.studies.samples import found, row


def _sweep() -> Results:
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


def test_the_default_is_a_line_per_group_and_method() -> None:
    """Without any option there is one line per group and method with its parameters, with means."""
    made = report(_sweep())
    assert made.header == ("group", "method", "cells", "mean_jct", "gap")
    assert made.lines[:3] == (
        ("a_b", "fifo", 2, 3000.0, 0.5),
        ("a_b", "efq(alpha=0.5)", 2, 750.0, 0.25),
        ("a_b", "efq(alpha=1.0)", 2, 1500.0, 0.25),
    )
    assert len(made.lines) == 6


def test_columns_figures_and_statistics_are_chosen() -> None:
    """A table can be grouped by an option and show several statistics of a figure."""
    made = report(_sweep(), by=["alpha"], figures=["mean_jct"], statistics=["median", "max"])
    assert made.header == ("alpha", "cells", "median mean_jct", "max mean_jct")
    assert made.lines == ((None, 4, 3000.0, 4000.0), (0.5, 4, 750.0, 1000.0), (1.0, 4, 1500.0, 2000.0))


def test_figures_relative_to_a_method() -> None:
    """Each figure is divided by that of the method on the same instance, before the mean is taken."""
    made = report(_sweep(), by=["method"], figures=["mean_jct"], relative_to="fifo")
    assert made.header == ("method", "cells", "mean_jct / fifo")
    assert [line[-1] for line in made.lines] == [1.0, 0.25, 0.5]


def test_figures_relative_to_the_least() -> None:
    """Each figure is divided by the least that any method has on the same instance, seeds taken together."""
    rows = [row({"mean_jct": jct}, "fifo", seed=seed) for seed, jct in enumerate((1.0, 3.0))]
    made = report(
        found(*rows, row({"mean_jct": 4.0}, "sjf"), row({}, "efq")), by=["method"], relative_to="least"
    )
    assert made.lines == (("fifo", 2, 1.0), ("sjf", 1, 2.0))


def test_a_method_of_that_name_comes_first() -> None:
    """Where a study has a method called "least", figures are relative to that one."""
    rows = [row({"mean_jct": 4.0}, "least"), row({"mean_jct": 1.0}, "fifo")]
    assert report(found(*rows), by=["method"], relative_to="least").lines[1][-1] == 0.25


def test_cells_without_result_are_counted_apart() -> None:
    """A cell that failed is in no mean, and is counted where there is one."""
    made = report(found(row({"gap": 0.5}), row({}, error="InvalidInput"), row({}, state=State.UNSUPPORTED)))
    assert made.header == ("group", "method", "cells", "without result", "gap")
    assert made.lines == (("suite", "greedy", 1, 2, 0.5),)


def test_the_forms_say_the_same() -> None:
    """CSV and JSON hold the numbers in full; Markdown and LaTeX hold them as they are shown, escaped."""
    made = report(_sweep(), figures=["mean_jct", "gap"])
    lines = list(csv.DictReader(StringIO(made.csv())))
    assert [float(line["mean_jct"]) for line in lines] == [line[3] for line in made.lines]
    assert json.loads(made.json())[1] == {
        "group": "a_b",
        "method": "efq(alpha=0.5)",
        "cells": 2,
        "mean_jct": 750.0,
        "gap": 0.25,
    }
    assert "| a_b | fifo | 2 | 3,000 | 50.0 % |\n" in made.markdown()
    assert r"a\_b & fifo & 2 & 3,000 & 50.0 \% \\" in made.latex()
    assert made.latex().startswith(
        "\\begin{tabular}{llrrr}\n\\toprule\ngroup & method & cells & mean JCT [s] & gap"
    )
    assert "efq(alpha=0.5)" in made.text()


def test_every_cell_can_be_had() -> None:
    """The CSV of cells has a line per cell, with options and figures."""
    lines = list(csv.DictReader(StringIO(cells_csv(_sweep()))))
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
    with pytest.raises(InvalidInput) as refused:
        report(_sweep(), **options)
    assert str(refused.value).startswith(line)


def test_text_fits_a_page() -> None:
    """With all usual figures and long names no line is longer than a page, and what is left out is named."""
    keys = [each.key for each in FIGURES if each.rank]
    cells = [row(dict.fromkeys(keys, 123_456.7), "a_method_with_a_very_long_name", group="g" * 40)]
    made = report(found(*cells))
    lines = made.text().splitlines()
    assert max(map(len, lines)) <= 80
    assert "left out: cells" in made.text()
    assert set(keys) <= set(made.header)
    assert "mean JCT [s]" in made.markdown()


def test_a_figure_has_one_column() -> None:
    """No two figures of a cell share a name or a label, those of a schedule included."""
    every = [*FIGURES, *CELL_FIGURES]
    assert len({each.key for each in every}) == len({each.label for each in every}) == len(every)


def test_cells_are_no_formulas() -> None:
    """Names that a spreadsheet would run stand behind an apostrophe in every CSV; negative numbers do not."""
    results = found(row({"objective": -3}, "@cmd", options={"=1+1": "-a"}, instance="=x"))
    by_option = report(results, by=["method", "=1+1"], figures=["objective"])
    for text in (by_option.csv(), cells_csv(results), results.to_csv()):
        cells = [cell for line in csv.reader(StringIO(text)) for cell in line]
        assert {"'=1+1", "'-a"} <= set(cells)
        assert any(cell.startswith("'@cmd") for cell in cells)
        assert {cell for cell in cells if cell.startswith(("=", "+", "-", "@"))} <= {"-3", "-3.0"}
