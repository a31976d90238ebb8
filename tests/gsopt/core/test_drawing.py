"""What every picture shares."""

from math import inf
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from gsopt.core.drawing import (
    legend_beside,
    looks,
    new_figure,
    pad_equal,
    save,
    scale_for,
    set_log_time_axis,
    set_time_axis,
    show_zero,
    tick_counts,
    tick_shares,
    tick_time,
    time_unit,
)
from gsopt.core.errors import InvalidInput
from tests.unwrap import unwrap


def _axes() -> Any:
    return Figure().subplots()


def _ticks(axes: Any, low: float = -inf, high: float = inf) -> list[str]:
    places = [place for place in axes.xaxis.get_majorticklocs() if low <= place <= high]
    return [axes.xaxis.get_major_formatter()(place, 0) for place in places]


@pytest.mark.parametrize(
    ("span", "label", "ticks"),
    [
        (600, "min", ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]),
        (86_400, "h", ["0", "3", "6", "9", "12", "15", "18", "21", "24"]),
        (8 * 86_400, "days", ["0", "1", "2", "3", "4", "5", "6", "7", "8"]),
        (60 * 86_400, "days", ["0", "7", "14", "21", "28", "35", "42", "49", "56"]),
    ],
)
@pytest.mark.parametrize("begin", [0.0, 1.7e9])
def test_time_is_told_in_the_unit_of_its_length(
    begin: float, span: float, label: str, ticks: list[str]
) -> None:
    """Minutes, hours or days are ticked at round numbers, counted from the beginning on every clock."""
    axes = _axes()
    set_time_axis(axes, begin, begin + span)
    assert axes.get_xlabel() == (f"time since the first release [{label}]" if begin else f"time [{label}]")
    assert _ticks(axes, *axes.get_xlim()) == ticks


@pytest.mark.parametrize("unit", ["days", "h", "min", "s"])
def test_a_unit_that_is_given_is_used(unit: str) -> None:
    """Every unit can be asked for, whatever the length of the time is."""
    assert tick_time(_axes().xaxis, 0.0, 72_000.0, unit) == unit


@pytest.mark.parametrize("span", [10.0**power for power in range(-3, 10)])
def test_axes_of_time_are_never_crowded(span: float) -> None:
    """Whatever the span, there are at most twelve ticks."""
    axes = _axes()
    set_time_axis(axes, 0.0, span)
    assert 2 <= len(_ticks(axes, *axes.get_xlim())) <= 12
    assert span / time_unit(span)[0] >= 5 or time_unit(span)[1] == "s"


def test_long_times_in_short_units_have_round_ticks() -> None:
    """Twenty days in hours have a tick every two days."""
    axes = _axes()
    axes.set_xlim(0, 20 * 86_400)
    assert tick_time(axes.xaxis, 0.0, 20 * 86_400.0, "h") == "h"
    assert _ticks(axes, 0, 20 * 86_400) == [str(48 * number) for number in range(11)]


@pytest.mark.parametrize(("most", "expected"), [(0.4, [0]), (1.5, [0, 1]), (3, [0, 1, 2, 3])])
def test_counts_are_integers(most: float, expected: list[float]) -> None:
    """An axis of counts has ticks at integers only, even if it contains a single one."""
    axes = _axes()
    axes.set_xlim(0, most)
    tick_counts(axes.xaxis)
    assert [place for place in axes.xaxis.get_majorticklocs() if 0 <= place <= most] == expected


def test_axes_and_looks() -> None:
    """Equal values lie in the middle of an axis from 0, a moment changes no limits, and 28 lines differ."""
    axes = _axes()
    set_time_axis(axes, 5.0, 5.0)
    assert axes.get_xlim() == (0, 1)
    assert pad_equal((-0.1, 0.1), [0, 0]) == (0, 1)
    assert pad_equal((4.9, 5.1), [5]) == (0, 10)
    assert pad_equal((-5.1, -4.9), [-5, -5]) == (-10, 0)
    assert pad_equal((-1e-14, 4e-14), [0, 3e-14]) == (0, 1)
    assert pad_equal((1, 2), [1, 2]) == pad_equal((1, 2), []) == (1, 2)
    assert len({(look.linestyle, look.marker) for look in looks(28)}) == 28
    assert looks(0) == []


@pytest.mark.parametrize(
    ("width", "scale", "span", "named"),
    [
        (6.4, "log", (0.1, 4000), ["1 s", "10 s", "1 min", "10 min", "1 h"]),
        (6.4, "log", (3600, 86_400), ["1 h", "2 h", "4 h", "6 h", "12 h", "1 day"]),
        (3.5, "log", (20, 4000), ["1 min", "10 min", "1 h"]),
        (3.5, "log", (60, 1500), ["1 min", "5 min", "20 min"]),
        (4.8, "log", (1, 4e7), ["1 s", "1 min", "1 h", "7 days", "365 days"]),
        (3.0, "log", (1, 4e7), ["1 s", "1 h", "365 days"]),
        (6.4, "symlog", (0, 7), ["1 s", "2 s", "5 s", "0 s"]),
    ],
)
def test_names_of_moments(width: float, scale: str, span: tuple[float, float], named: list[str]) -> None:
    """As many moments are named as fit beside each other, and zero where an axis is linear near it."""
    axes = new_figure(width, 3).subplots()
    axes.set_xscale(scale)
    assert set_log_time_axis(axes.xaxis, *span) == ""
    assert _ticks(axes) == named


def test_short_logarithmic_spans_keep_their_seconds() -> None:
    """Where there are not enough named moments, numbers of seconds stay."""
    axes = _axes()
    axes.set_xscale("log")
    assert set_log_time_axis(axes.xaxis, 0.1, 2) == "s"


@pytest.mark.parametrize("width", [0.1, 0.5, 1.5])
def test_narrow_logarithmic_axes_keep_their_seconds(width: float) -> None:
    """Where three named moments do not fit beside each other, none is drawn."""
    axes = new_figure(width, 3).subplots()
    axes.set_xscale("log")
    assert set_log_time_axis(axes.xaxis, 1, 34_560_000) == "s"


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0, 0.02, 3.8), ["0 %", "1 %", "10 %", "100 %"]),
        ((0.02, 3.8), ["3 %", "10 %", "30 %", "100 %", "300 %"]),
        ((1e-5, 10.0), ["0.001 %", "0.1 %", "10 %", "1,000 %"]),
        ((0.0, 5e-5), ["0 %", "0.001 %", "0.002 %", "0.003 %", "0.004 %", "0.005 %"]),
    ],
)
def test_ticks_are_few_and_differ(values: tuple[float, ...], ticks: list[str]) -> None:
    """Whatever the scale that suits the values, each tick is a round number of its own, and zero is one."""
    axes = _axes()
    axes.plot(values, values)
    axes.set_xscale(**scale_for(values))
    show_zero(axes.xaxis)
    tick_shares(axes.xaxis)
    assert _ticks(axes, *axes.get_xlim()) == ticks


@pytest.mark.parametrize(("ending", "start"), [(".png", b"\x89PNG"), (".SVG", b"<?xml"), (".pdf", b"%PDF")])
def test_the_ending_says_the_format(tmp_path: Path, ending: str, start: bytes) -> None:
    """A picture is what its name says."""
    save(new_figure(1, 1), tmp_path / f"a{ending}")
    assert (tmp_path / f"a{ending}").read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["a", "a.", "a.doc", "folder.d", ".png"])
def test_other_endings_are_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    """A name without a format is one line, instead of a file elsewhere."""
    with pytest.raises(InvalidInput, match=r"must end in \.png, \.svg or \.pdf"):
        save(new_figure(1, 1), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_folders_are_no_pictures(tmp_path: Path) -> None:
    """A folder in the picture's place is one line."""
    (tmp_path / "a.png").mkdir()
    with pytest.raises(InvalidInput, match=r"a\.png: must be a file, not a folder"):
        save(new_figure(1, 1), tmp_path / "a.png")


def test_a_legend_stands_beside_the_picture() -> None:
    """The legend begins where the axes end, so that it covers no line."""
    figure = new_figure(4, 3)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], label="line")
    legend_beside(axes)
    legend = unwrap(axes.get_legend())
    figure.draw_without_rendering()
    assert [text.get_text() for text in legend.get_texts()] == ["line"]
    assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
