"""Plots of results, and the performance profiles of Dolan and More."""

from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest

from gsopt.studies import CellRow, Results, plots
from gsopt.studies.profiles import SHORTEST, PerformanceProfile, draw_profiles, profiles, profiles_of
from tests.gsopt.studies.samples import found, row
from tests.refusals import assert_refused, refusal


def _sweep() -> Results:
    rows = []
    for group, number in product(("a", "b"), range(1, 6)):
        where = {"group": group, "instance": f"{group}/{number}", "word": ""}
        rows.append(row({"mean_jct": 100.0 * number, "gap": 0.5}, "fifo", **where))
        rows += [
            row({"mean_jct": alpha * number, "gap": 0.1}, "efq", options={"alpha": alpha}, **where)
            for alpha in (0.5, 1.0, 1.5)
        ]
    return found(*rows)


def _names_in_legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def _swept(*values: float, level: float = 1.0, group: str = "a") -> list[CellRow]:
    """Return cells of one method with an option, whose mean JCT is a multiple of that."""
    return [
        row({"mean_jct": level * alpha}, "efq", group=group, options={"alpha": alpha}, word="")
        for alpha in values
    ]


def _heights(line: Any) -> set[float]:
    return {height for _, height in line.get_xydata().tolist()}


def _dots(axes: Any) -> list[float]:
    return [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]


def test_dots_are_medians_with_quartiles() -> None:
    """Each method has a line below its group from the 25th to the 75th percentile, and a dot at the median."""
    axes = plots.dots(_sweep())
    assert _dots(axes) == [300.0, 1.5, 3.0, 4.5] * 2
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "fifo",
        *(f"efq(alpha={alpha})" for alpha in (0.5, 1.0, 1.5)),
    ] * 2
    assert [text.get_text() for text in axes.texts] == ["a", "b"]
    spans = [tuple(line.get_xdata()) for line in list[Any](axes.lines) if line.get_marker() == "None"]
    assert spans[0] == (200.0, 400.0)
    assert axes.get_legend() is None


def test_an_axis_names_its_unit() -> None:
    """Times close to each other are in one unit, moments far apart are named, and shares in per cent."""
    for values, label, tick in (
        ((300.0, 400.0), "mean JCT [min]", "2"),
        ((3e4, 3e5), "mean JCT [h]", "10"),
        ((10.0, 3e5), "mean JCT", "1 min"),
    ):
        axes = plots.dots(found(*(row({"mean_jct": value}, str(value), word="") for value in values)))
        assert axes.get_xlabel() == label
        assert tick in [text.get_text() for text in axes.get_xticklabels()]
    axes = plots.dots(_sweep(), figure="gap")
    assert {"10 %", "20 %"} <= {text.get_text() for text in axes.get_xticklabels()}


def test_rounding_is_no_gap() -> None:
    """Gaps that differ by rounding lie at zero of an axis whose ticks differ."""
    rows = [row({"gap": gap}, str(gap)) for gap in (0.0, 3e-14, 4e-14)]
    axes = plots.dots(found(*rows), figure="gap")
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert (axes.get_xlim(), axes.get_xscale()) == ((0, 1), "linear")
    assert len(set(ticks)) == len(ticks) > 2


def test_lines_on_each_other_say_so() -> None:
    """A method whose curve is that of an earlier one is named with it in the legend."""
    rows = [
        row({"mean_jct": level * alpha}, name, options={"alpha": alpha}, word="")
        for name, level in (("a", 1.0), ("b", 2.0), ("c", 1.0))
        for alpha in (1.0, 2.0)
    ]
    assert _names_in_legend(plots.lines(found(*rows), "alpha")) == ["a", "b", "c (on a)"]


def test_lines_are_medians_in_a_band_with_the_baselines() -> None:
    """Over an option there is one line per method, a band, and a level for a method that has no such option."""
    figure = plots.panels(_sweep(), "alpha")
    first, second = figure.get_axes()
    (legend,) = figure.legends
    level, line = list[Any](first.get_lines())
    assert line.get_xydata().tolist() == [[0.5, 1.5], [1.0, 3.0], [1.5, 4.5]]
    assert _heights(level) == {300.0}
    (band,) = first.collections
    edges: Any = band.get_paths()[0].vertices
    assert {(0.5, 1.0), (0.5, 2.0), (1.5, 3.0), (1.5, 6.0)} <= set(map(tuple, edges.tolist()))
    assert (first.get_title(), second.get_title()) == ("a", "b")
    assert [text.get_text() for text in legend.get_texts()] == ["fifo", "efq"]


def test_medians_are_those_of_tables() -> None:
    """Of an even number of values the dot is at the mean of the two in the middle."""
    rows = [row({"mean_jct": value}, instance=f"a/{value}", word="") for value in (1.0, 2.0, 4.0, 9.0)]
    assert _dots(plots.dots(found(*rows))) == [3.0]


def test_many_panels_are_put_in_rows() -> None:
    """Five groups make two rows of at most four panels, with the figure's name on the first of each row."""
    rows = [each for group in "abcde" for each in _swept(1.0, 2.0, level=1000, group=group)]
    all_axes = plots.panels(found(*rows), "alpha").get_axes()
    assert [axes.get_title() for axes in all_axes] == list("abcde")
    assert [axes.get_ylabel() != "" for axes in all_axes] == [True, False, False, True, False]


def test_panels_have_one_vertical_axis() -> None:
    """All panels have the same limits; those whose medians lie far apart a logarithmic axis."""
    for factor, scale in ((2.0, "linear"), (1000.0, "log")):
        rows = _swept(1.0, 2.0) + _swept(1.0, 2.0, level=factor, group="b")
        all_axes = plots.panels(found(*rows), "alpha").get_axes()
        assert {axes.get_ylim() for axes in all_axes} == {all_axes[0].get_ylim()}
        assert {axes.get_yscale() for axes in all_axes} == {scale}
        low, high = all_axes[0].get_ylim()
        assert low <= 1 <= 2 * factor <= high


def test_equal_values_have_an_axis_from_none() -> None:
    """Where all values are the same the axis begins at 0, and its labels are not those of rounding."""
    rows = [
        row({"gap": 0.0}, "efq", instance=f"a/{alpha}", options={"alpha": alpha}, word="")
        for alpha in (1.0, 2.0)
    ]
    assert plots.lines(found(*rows), "alpha", figure="gap").get_ylim() == (0, 1)
    assert plots.dots(found(*rows), figure="gap").get_xlim() == (0, 1)


def test_logarithmic_axes() -> None:
    """Both axes can be logarithmic, and times are then marked by name."""
    rows = [
        row({"mean_jct": 10.0**power}, "efq", instance=f"a/{power}", options={"alpha": 2.0**power}, word="")
        for power in range(6)
    ]
    axes = plots.lines(found(*rows), "alpha", log_x=True, log_y=True)
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_ylabel()) == ("log", "log", "mean JCT")
    assert axes.yaxis.get_major_formatter()(3600, 0) == "1 h"
    close = found(*(row({"mean_jct": value}, str(value), word="") for value in (4.0, 5.0)))
    assert [plots.dots(close, log=log).get_xscale() for log in (False, True)] == ["linear", "log"]


def test_many_series_are_told_apart() -> None:
    """Lines differ by line style and marker, and of equal lines the later ones are thinner."""
    methods = [f"m{number}" for number in range(12)]
    rows = [
        row({"mean_jct": 5.0}, name, instance=f"a/{alpha}", options={"alpha": alpha}, word="")
        for name, alpha in product(methods, (1.0, 2.0))
    ]
    drawn = list[Any](plots.lines(found(*rows), "alpha").get_lines())
    assert len({(line.get_linestyle(), line.get_marker()) for line in drawn}) == 12
    assert drawn[-2].get_linewidth() > drawn[-1].get_linewidth()


def test_relative_figures() -> None:
    """Relative to a method, that method lies at 1."""
    axes = plots.lines(_sweep(), "alpha", relative_to="fifo", by="method")
    assert _heights(axes.get_lines()[0]) == {1.0}


@pytest.mark.parametrize(
    ("draw", "line"),
    [
        (lambda: plots.dots(found()), "plot: there are no figures yet"),
        (lambda: plots.dots(_sweep(), figure="colour"), "figure: 'colour': must be one of mean_jct, gap"),
        (lambda: plots.dots(_sweep(), by="colour"), "by: 'colour': must be one of group, instance"),
        (lambda: plots.panels(_sweep(), "colour"), "x: 'colour': must be an option with numbers: alpha"),
        (lambda: plots.panels(_sweep(), "method"), "x: 'method': must be an option with numbers"),
        (lambda: plots.dots(_sweep(), relative_to="x"), "relative_to: 'x': must be one of fifo"),
    ],
)
def test_what_cannot_be_drawn(draw: Any, line: str) -> None:
    """What does not exist is named with what does."""
    assert refusal(draw).startswith(line)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where matplotlib is missing, one line says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert_refused("needs matplotlib: pip install matplotlib", plots.dots, _sweep())


TIMES: dict[str, dict[str, float | None]] = {
    "fast": {"one": 1.0, "two": 2.0, "three": None, "four": None},
    "sure": {"one": 4.0, "two": 2.0, "three": 9.0, "four": None},
    "idle": {"one": None, "two": None, "three": None, "four": None},
}


def test_ratios_are_to_the_best_of_each_instance() -> None:
    """A time counts in multiples of the shortest on its instance, and what is not solved never counts."""
    fast, sure, idle = profiles(TIMES)
    assert (fast.ratios, sure.ratios, idle.ratios) == ((1.0, 1.0), (1.0, 1.0, 4.0), ())
    assert [fast.share(ratio) for ratio in (0.99, 1.0, 100.0)] == [0.0, 0.5, 0.5]
    assert [sure.share(ratio) for ratio in (1.0, 3.99, 4.0, inf)] == [0.5, 0.5, 0.75, 0.75]
    assert (fast.solved, sure.solved, idle.solved) == (0.5, 0.75, 0.0)


def test_profiles_of_hardly_anything() -> None:
    """Moments too short to be measured do not tell methods apart; without instances no share is solved."""
    short, shorter = profiles({"a": {"one": SHORTEST / 2}, "b": {"one": 0.0}})
    assert short.ratios == shorter.ratios == (1.0,)
    assert PerformanceProfile("a", (), 0).solved == 0.0
    assert profiles({"a": {}})[0].share(1.0) == 0.0


def test_a_study_counts_proofs_on_common_instances() -> None:
    """Solved is what is proven; heuristics, and instances that a method was not given, are left out."""
    optimal, feasible = {"status": "optimal", "bound": 1}, {"status": "feasible", "bound": 1}
    heuristic = {"status": "feasible", "bound": None}
    cells = [
        row({**figures, "runtime": seconds}, method, instance=instance)
        for instance, method, seconds, figures in (
            ("a", "exact", 1.0, optimal),
            ("b", "exact", 1.0, optimal),
            ("c", "exact", 1.0, optimal),
            ("a", "milp", 3.0, optimal),
            ("b", "milp", 0.5, feasible),
            ("a", "greedy", 0.1, heuristic),
        )
    ]
    exact, milp = profiles_of(found(*cells))
    assert (exact.method, exact.ratios, exact.instances) == ("exact", (1.0, 1.0), 2)
    assert (milp.method, milp.ratios, milp.instances) == ("milp", (3.0,), 2)
    assert_refused("no cell of an exact method", profiles_of, found(cells[-1]))


def test_lines_are_steps_that_end_at_the_right() -> None:
    """A line rises where a ratio is reached, holds until the next, and all end at the same place."""
    axes = draw_profiles([PerformanceProfile("a", (1.0, 4.0), 4), PerformanceProfile("b", (), 4)])
    first, second = axes.get_lines()
    assert first.get_xydata() == pytest.approx(np.array([(1.0, 0.25), (4.0, 0.5), (6.0, 0.5)]))
    assert second.get_xydata() == pytest.approx(np.array([(1.0, 0.0), (6.0, 0.0)]))
    assert first.get_drawstyle() == second.get_drawstyle() == "steps-post"
    assert axes.get_xscale() == "log"
    assert _names_in_legend(axes) == ["a", "b"]
