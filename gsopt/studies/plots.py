"""Plots: dot plots and line plots of a study's results, which are readable without colour.

matplotlib is imported only when needed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from statistics import median
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from gsopt.core.drawing import (
    COLOURS,
    COLUMN,
    legend_beside,
    looks,
    name_twins,
    new_figure,
    pad_equal,
    scale_for,
    set_log_time_axis,
    show_zero,
    tick_numbers,
    tick_shares,
    tick_time,
    time_unit,
    titled,
)
from gsopt.core.errors import InvalidInput, escape, require_one_of, shorten
from gsopt.schedule.figures import FigureKind, figure_of, percentile
from gsopt.studies.report import CELL_FIGURES, baselines, headline, is_number, numeric_figures, values_of
from gsopt.studies.results import Results
from gsopt.studies.rows import CellRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Maximum number of characters in a line of a legend, and in a line of a tick label.
_LINE, _TICK = 48, 28

#: Ratio of the ends of a logarithmic time axis from which its ticks are round durations, such as 10 min or 1
#: day.
_NAMED = 100

#: Colour of the line behind a dot, on light and on dark paper.
_SOFT = "#56B4E9"

#: Height of a line in a dot plot, in inches.
_LINE_HEIGHT = 0.23

#: Number of lines up to which bands are darker, and the opacity of darker and of lighter bands. If there are
#: many lines, overlapping dark bands would hide them.
_FEW, _BAND, _FAINT_BAND = 3, 0.15, 0.06

_LOW, _HIGH = 25, 75

#: Maximum number of panels in a row, as more would be too wide for a page.
_MOST_PANELS = 4

_Bases = Mapping[tuple[str, str], float] | None


class Dot(NamedTuple):
    """A row of a dot plot: its name, its dot, the ends of the line through the dot, and further marks."""

    name: str
    middle: float
    low: float
    high: float
    marks: Sequence[float] = ()


def dots(
    found: Results,
    *,
    figure: str = "",
    by: str = "method",
    relative_to: str = "",
    log: bool = False,
    axes: "Axes | None" = None,
) -> "Axes":
    """Plot the median of a figure for each group and method, with a line between quartiles.

    Parameters
    ----------
    found
        The results.
    figure
        The figure; if empty, the first one that tables show by default.
    by
        The column that distinguishes the dots of a group.
    relative_to
        Method to compare with, whose figure on the same instance is the divisor of every figure, as in
        `gsopt.studies.report.report`. If empty, figures are not divided.
    log
        Whether the axis is logarithmic even if values are close to each other. Ignored unless all values are
        positive.
    axes
        Axes to plot on; None for a new figure.

    Raises
    ------
    InvalidInput
        There is nothing to plot, a name is unknown, or matplotlib is not installed.
    """
    chosen, bases = _chosen(found, figure, relative_to)
    groups: dict[str, dict[str, Dot]] = {}
    for name, members in _series([row for row in found.rows if values_of([row], chosen, bases)], by).items():
        for group in dict.fromkeys(str(row.labels.group) for row in members):
            values = values_of([row for row in members if str(row.labels.group) == group], chosen, bases)
            low, middle, high = _quartiles(values)
            groups.setdefault(group, {})[name] = Dot(name, middle, low, high)
    order = list(dict.fromkeys(str(row.labels.group) for row in found.rows))
    axes = draw_dots([(group, list(groups[group].values())) for group in order if group in groups], axes=axes)
    values = [place for each in groups.values() for dot in each.values() for place in dot[1:4]]
    scale_dots(axes, _title(chosen, relative_to), values, _kind(chosen, relative_to), log=log)
    return axes


def draw_dots(groups: Sequence[tuple[str, Sequence[Dot]]], *, axes: "Axes | None" = None) -> "Axes":
    """Plot dots from top to bottom, one per line, below the name of their group if there are several groups."""
    lines = sum(len(found) for _, found in groups) + len(groups) * (len(groups) > 1)
    axes = titled(axes, "", "", size=(COLUMN, 0.7 + _LINE_HEIGHT * lines))
    names: dict[float, str] = {}
    place = 0
    for group, found in groups:
        if len(groups) > 1:
            axes.annotate(
                _shown(group), (0, place), (2, 0), ("axes fraction", "data"), "offset points", va="center"
            )
            place += 1
        for dot in found:
            names[place] = _shown(dot.name, _TICK)
            axes.plot([dot.low, dot.high], [place, place], color=_SOFT, linewidth=2.5)
            axes.plot(dot.marks, [place] * len(dot.marks), "|", color="black", markersize=7, alpha=0.6)
            axes.plot([dot.middle], [place], "o", color=COLOURS[0], markersize=6, clip_on=False)
            place += 1
    axes.set_yticks(list(names), list(names.values()))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(place - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return axes


def scale_dots(
    axes: "Axes", title: str, values: Sequence[float], kind: FigureKind, *, log: bool = False
) -> None:
    """Scale and label the horizontal axis so that dots are distinguishable, with ticks that suit the figure."""
    unit = _scale(axes.xaxis, values, kind, log=log)
    axes.set_xlabel(title.replace("[s]", unit).strip())


def _scale(axis: "Axis", values: Sequence[float], kind: FigureKind, *, log: bool) -> str:
    """Scale an axis and set its ticks.

    Return the time unit in brackets for the axis label, or an empty string if the tick labels contain it.
    """
    scale = {"value": "log"} if log and min(values, default=1) > 0 else scale_for(values)
    (axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale)(**scale)
    low, high = axis.get_view_interval()
    axis.set_view_interval(*pad_equal((low, high), values), ignore=True)
    show_zero(axis)
    low, high = axis.get_view_interval()
    if kind is FigureKind.SHARE:
        tick_shares(axis)
    elif kind is not FigureKind.SECONDS:
        tick_numbers(axis)
    elif scale["value"] == "linear":
        return f"[{tick_time(axis, 0.0, high)}]"
    elif scale["value"] == "log" and high < _NAMED * low:
        seconds, name = time_unit(high)
        tick_numbers(axis, unit=seconds)
        return f"[{name}]"
    else:
        unit = set_log_time_axis(axis, max(low, 0.0), high)
        return f"[{unit}]" if unit else ""
    return ""


def lines(
    found: Results,
    x: str,
    *,
    figure: str = "",
    by: str = "method",
    relative_to: str = "",
    log_x: bool = False,
    log_y: bool = False,
    axes: "Axes | None" = None,
) -> "Axes":
    """Plot a figure against an option, as a line of medians for each method and group of instances.

    If there are several values for a point, a band extends from their 25th to their 75th percentile. A method
    that lacks the option appears as a baseline, a horizontal line at its median. The legend says which lines
    coincide.

    Parameters
    ----------
    found
        The results.
    x
        The option, of methods or instances.
    figure, by, relative_to, axes
        As in `dots`.
    log_x, log_y
        Whether an axis is logarithmic. The vertical axis is also logarithmic if values would otherwise be
        indistinguishable.

    Raises
    ------
    InvalidInput
        There is nothing to plot, a name is unknown, or matplotlib is not installed.
    """
    chosen, bases = _chosen(found, figure, relative_to)
    rows = [row for row in found.rows if values_of([row], chosen, bases)]
    _refuse_absent(x, rows)
    series = _series(rows, by, without=x)
    axes = titled(axes, x, _title(chosen, relative_to), size=(COLUMN, 3))
    _draw_lines([axes], [series], x, lambda members: values_of(members, chosen, bases))
    axes.set_xscale("log" if log_x else "linear")
    _finish([axes], chosen, relative_to, log_y=log_y)
    legend_beside(axes)
    return axes


def panels(
    found: Results,
    x: str,
    *,
    figure: str = "",
    by: str = "method",
    relative_to: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> "Figure":
    """Plot `lines` in one panel per group of instances, with a shared vertical axis.

    Parameters
    ----------
    found
        The results.
    x
        The option, of methods or instances.
    figure, by, relative_to, log_x, log_y
        As in `lines`.

    Raises
    ------
    InvalidInput
        There is nothing to plot, a name is unknown, or matplotlib is not installed.
    """
    chosen, bases = _chosen(found, figure, relative_to)
    _refuse_absent(x, found.rows)
    shown = _groups_with(found.rows, x, chosen)
    if not shown:
        raise InvalidInput("figure", shorten(chosen), f"no cell with the option {x} has it")
    series = [_series(rows, by, without=x) for rows in shown.values()]
    whole, all_axes = _panels(len(shown))
    _draw_lines(all_axes, series, x, lambda members: values_of(members, chosen, bases))
    for axes, group in zip(all_axes, shown, strict=True):
        axes.set_title(_shown(group), fontsize="medium")
        axes.set_xlabel(x)
        axes.set_xscale("log" if log_x else "linear")
        place = axes.get_subplotspec()
        if place is None or place.is_first_col():
            axes.set_ylabel(_title(chosen, relative_to))
    _finish(all_axes, chosen, relative_to, log_y=log_y)
    known: dict[str, Any] = {}
    for axes in all_axes:
        handles, labels = axes.get_legend_handles_labels()
        known |= zip(labels, handles, strict=True)
    whole.legend(known.values(), known, loc="outside right upper", frameon=False)
    return whole


class _Curve(NamedTuple):
    """A line of medians with percentiles, or a single median if the method lacks the option."""

    x: tuple[float, ...]
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]
    several: bool  # whether there are several values somewhere


def _draw_lines(
    all_axes: "Sequence[Axes]",
    all_series: Sequence[Mapping[str, Sequence[CellRow]]],
    x: str,
    values: Callable[[Sequence[CellRow]], list[float]],
) -> None:
    """Draw the curves of each panel.

    Curves with the same name look the same in all panels. The legend says which curves coincide.
    """
    curves = [{name: _curve(rows, x, values) for name, rows in series.items()} for series in all_series]
    names = list(dict.fromkeys(name for panel in curves for name in panel))
    middles = {name: tuple(panel[name][:3:2] if name in panel else () for panel in curves) for name in names}
    told = dict(zip(names, name_twins([_shown(name) for name in names], list(middles.values())), strict=True))
    look_of = dict(zip(names, looks(len(names)), strict=True))
    for axes, panel in zip(all_axes, curves, strict=True):
        for name, curve in panel.items():
            look = look_of[name]
            if not curve.x:
                style = {key: value for key, value in look._asdict().items() if key != "marker"}
                for level in curve.middle:
                    axes.axhline(level, label=told[name], **style)
                continue
            axes.plot(
                curve.x,
                curve.middle,
                markersize=5,
                fillstyle="none",
                label=told[name],
                **look._asdict(),
            )
            if curve.several:
                alpha = _BAND if len(panel) <= _FEW else _FAINT_BAND
                axes.fill_between(curve.x, curve.low, curve.high, color=look.color, alpha=alpha, linewidth=0)
        axes.grid(alpha=0.3)


def _curve(rows: Sequence[CellRow], x: str, values: Callable[[Sequence[CellRow]], list[float]]) -> _Curve:
    points: dict[float, list[CellRow]] = {}
    for row in rows:
        if row.columns.get(x) is not None:
            points.setdefault(row.columns[x], []).append(row)
    if not points:
        held = values(rows)
        return _Curve((), (), (median(held),) if held else (), (), several=False)
    found = {place: values(points[place]) for place in sorted(points)}
    found = {place: each for place, each in found.items() if each}
    low, middle, high = zip(*map(_quartiles, found.values()), strict=True) if found else ((), (), ())
    return _Curve(tuple(found), low, middle, high, several=any(len(each) > 1 for each in found.values()))


def _groups_with(rows: Iterable[CellRow], x: str, figure: str) -> dict[str, list[CellRow]]:
    """Group rows by group of instances, omitting groups in which no row has both the option and the figure."""
    groups: dict[str, list[CellRow]] = {}
    for row in rows:
        groups.setdefault(row.labels.group.without(x), []).append(row)
    return {
        group: members
        for group, members in groups.items()
        if any(x in row.columns and values_of([row], figure) for row in members)
    }


def _chosen(found: Results, figure: str, relative_to: str) -> tuple[str, _Bases]:
    known = numeric_figures(found.rows)
    if not known:
        raise InvalidInput("plot", "", "there are no figures yet")
    if figure:
        require_one_of("figure", figure, known)
    chosen = figure or (*headline(found.rows), *known)[0]
    return chosen, baselines(found.rows, relative_to, [chosen]) if relative_to else None


def _refuse_absent(x: str, rows: Sequence[CellRow]) -> None:
    known = dict.fromkeys(name for row in rows for name, value in row.columns.items() if is_number(value))
    if x not in known:
        rule = f"must be an option with numbers: {', '.join(known)}" if known else "no option has numbers"
        raise InvalidInput("x", shorten(x), rule)


def _series(rows: Iterable[CellRow], by: str, *, without: str = "") -> dict[str, list[CellRow]]:
    """Group rows by a column, omitting the option on the axis from the names of methods and groups."""
    rows = list(rows)
    require_one_of("by", by, dict.fromkeys(name for row in rows for name in row.columns))
    groups = {row.labels.group.without(without) for row in rows}
    found: dict[str, list[CellRow]] = {}
    for row in rows:
        name = row.labels.method.without(without) if by == "method" else str(row.columns.get(by))
        if by == "group":
            name = row.labels.group.without(without)
        elif without and len(groups) > 1:
            name = f"{name}, {row.labels.group.without(without)}"
        found.setdefault(name, []).append(row)
    return found


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    return percentile(values, _LOW), median(values), percentile(values, _HIGH)


def _kind(figure: str, relative_to: str) -> FigureKind:
    known = figure_of(figure, CELL_FIGURES)
    return FigureKind.RATIO if relative_to or known is None else known.kind


def _title(figure: str, relative_to: str) -> str:
    return f"{figure} / {figure} of {relative_to}" if relative_to else _label(figure)


def _label(key: str) -> str:
    known = figure_of(key, CELL_FIGURES)
    return _shown(key) if known is None else known.title


def _shown(name: str, width: int = _LINE) -> str:
    """Return a name in a form that matplotlib can show: printable, wrapped, and not taken for a formula.

    Names that begin with an underscore get a leading space, as legends would otherwise omit them.
    """
    lines = "\n".join(wrap(escape(name), width)).replace("$", r"\$")
    return f" {lines}" if lines.startswith("_") else lines


def _finish(all_axes: "Sequence[Axes]", figure: str, relative_to: str, *, log_y: bool) -> None:
    """Set the scale, limits and ticks of the shared vertical axis to suit the figure."""
    lines: list[Any] = [line for axes in all_axes for line in axes.get_lines()]
    heights = [height for line in lines for height in line.get_ydata()]
    for axes in all_axes:
        unit = _scale(axes.yaxis, heights, _kind(figure, relative_to), log=log_y)
        axes.set_ylabel(axes.get_ylabel().replace("[s]", unit).strip())


def _panels(count: int) -> "tuple[Figure, list[Axes]]":
    """Return a new figure with the given number of panels, in as few rows as the page width allows."""
    rows = ceil(count / _MOST_PANELS)
    columns = ceil(count / rows)
    whole = new_figure(3.5 * columns + 3, 3.2 * rows + 0.8)
    grid = whole.subplots(rows, columns, squeeze=False, sharey=True)
    found: list[Axes] = list(grid.flat)
    for axes in found[count:]:
        axes.remove()
    return whole, found[:count]
