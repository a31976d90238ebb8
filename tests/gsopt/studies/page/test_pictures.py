"""What is drawn on a page."""

from itertools import product
from typing import Any

import pytest

from gsopt.studies import Results, plots
from gsopt.studies.page.pictures import pictures, swept
from gsopt.studies.page.svg import drawing
from tests.gsopt.studies.samples import found, row


def _sweep(*values: float | str, groups: str = "a") -> Results:
    """Return results over an option of a method, and one method without it."""
    rows = []
    for group in groups:
        rows.append(row({"mean_jct": 5.0, "makespan": 9.0}, "fifo", group=group, word=""))
        rows += [
            row({"mean_jct": 1.0, "makespan": 9.0}, "las", group=group, word="", options={"quantum": value})
            for value in values
        ]
    return found(*rows)


def _titles(results: Results, *figures: str) -> list[str]:
    with drawing():
        return [each.title for each in pictures(results, figures) if each.element.startswith("<svg ")]


def test_an_option_is_swept_from_three_numbers_on() -> None:
    """Two values, words, truth values and what repeats an experiment are no sweep."""
    assert swept(_sweep(1, 2, 3).rows) == ["quantum"]
    assert swept(_sweep(1, 2).rows) == []
    assert swept(_sweep("x", "y", "z").rows) == []
    for name in ("seed", "number", "load"):
        rows = [row({}, instance=str(n), instance_options={name: n}, word="") for n in range(3)]
        assert swept(rows) == (["load"] if name == "load" else [])


def test_options_that_vary_with_something_else_are_not_swept() -> None:
    """Values of an option that belong to different groups of instances are no sweep."""
    rows = [row({}, group=name, instance_options={"jobs": n}, word="") for n, name in enumerate("abc")]
    assert swept(rows) == []


def test_usual_figures_are_drawn() -> None:
    """There are bars of the usual figures, and lines of the first ones over what is swept."""
    assert _titles(_sweep(1, 2, 3)) == ["mean JCT", "mean JCT over quantum"]
    assert _titles(_sweep(1, 2, 3), "makespan") == ["makespan", "makespan over quantum"]
    assert _titles(_sweep(1, 2)) == ["mean JCT"]
    assert _titles(found()) == []


def test_far_values_are_on_a_logarithmic_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    """The axis of an option is logarithmic where its values lie far apart, and above zero."""
    kept: list[Any] = []
    panels = plots.panels

    def draw(*args: Any, **options: Any) -> Any:
        kept.append(panels(*args, **options))
        return kept[-1]

    monkeypatch.setattr(plots, "panels", draw)
    for values in ((1, 2, 3), (1, 60, 6000), (0, 60, 6000)):
        _titles(_sweep(*values), "mean_jct")
    assert [figure.get_axes()[0].get_xscale() for figure in kept] == ["linear", "log", "linear"]


def test_what_nobody_could_read_is_not_drawn() -> None:
    """Of hundreds of bars and dozens of panels the page says that they are too many."""
    groups = [f"g{number}" for number in range(130)]
    rows = [row({"mean_jct": 1.0}, method, group=group, word="") for group, method in product(groups, "ab")]
    rows += [
        row({"mean_jct": 1.0}, "c", group=group, word="", options={"x": value})
        for group, value in product(groups[:25], (1, 2, 3))
    ]
    with drawing():
        bars, lines = pictures(found(*rows), ())
    assert (bars.element, bars.remark) == ("", "Not drawn here: it would have 335 bars.")
    assert (lines.element, lines.remark) == ("", "Not drawn here: it would have 25 panels.")
