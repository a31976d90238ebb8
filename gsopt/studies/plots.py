"""Plots of a study's results; they read without colour too. matplotlib is imported when needed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from statistics import median
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from gsopt.core.drawing import (
    COLOURS,
    Look,
    legend_beside,
    looks,
    new_figure,
    pad_equal,
    set_log_time_axis,
    tick_time,
    titled,
)
from gsopt.core.errors import InvalidInput, escape, require_one_of, shorten
from gsopt.schedule.figures import FigureKind, figure_of
from gsopt.studies.report import CELL_FIGURES, baselines, headline, is_number, numeric_figures, values_of
from gsopt.studies.results import Results
from gsopt.studies.rows import CellRow
from gsopt.studies.statistics import percentile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Characters in a line of a legend, and below an axis.
_LINE, _TICK = 48, 28

_HATCHES = ("", "///", "...", "xxx")  # one for each round of colours

#: Bands of more than a few lines lie on each other and would hide them.
_FEW, _BAND, _FAINT_BAND = 3, 0.15, 0.06

_LOW, _HIGH = 25, 75

#: Panels in a row; more of them would be too wide for a page.
_MOST_PANELS = 4

#: From here on an axis groups digits.
_THOUSAND = 1000

#: Panels whose medians differ by more have a logarithmic axis in common.
_FAR_APART = 20

_Bases = Mapping[tuple[str, str], float] | None


def bars(
    found: Results,
    *,
    figure: str = "",
    by: str = "method",
    relative_to: str = "",
    log_y: bool = False,
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw a figure's median per group of instances, one bar per method; whiskers from 25th to 75th percentile.

    Parameters
    ----------
    found
        The results.
    figure
        The figure; the first usual one when empty.
    by
        The column that tells bars apart.
    relative_to
        A method by whose figure on the same instance every figure is divided.
    log_y
        Whether the vertical axis is logarithmic.
    axes
        Where to draw; on a new figure when None.

    Raises
    ------
    InvalidInput
        There is nothing of the kind to draw, or matplotlib is not installed.
    """
    chosen, bases = _chosen(found, figure, relative_to)
    rows = [row for row in found.rows if values_of([row], chosen, bases)]
    groups = list(dict.fromkeys(str(row.labels.group) for row in rows))
    series = _series(rows, by)
    width = 0.8 / max(len(series), 1)
    wide = len(groups) * len(series)
    axes = titled(axes, "", _title(chosen, relative_to), size=(min(max(7.0, 3 + 0.28 * wide), 24), 4))
    for place, (name, members) in enumerate(series.items()):
        shown = _shown(name)
        for index, group in enumerate(groups):
            values = values_of([row for row in members if str(row.labels.group) == group], chosen, bases)
            if not values:
                continue
            low, middle, high = _quartiles(values)
            axes.bar(
                index + (place - (len(series) - 1) / 2) * width,
                middle,
                0.92 * width,
                yerr=[[middle - low], [high - middle]] if len(values) > 1 else None,
                capsize=2,
                error_kw={"linewidth": 1},
                color=COLOURS[place % len(COLOURS)],
                edgecolor="black",
                linewidth=0.5,
                hatch=_HATCHES[place // len(COLOURS) % len(_HATCHES)],
                label=shown if shown not in axes.get_legend_handles_labels()[1] else None,
            )
    axes.set_xticks(range(len(groups)), [_wrapped(group) for group in groups], fontsize=8)
    if axes.dataLim.ymin >= 0:
        axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    _finish([axes], chosen, relative_to, log_y=log_y)
    legend_beside(axes)
    return axes


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
    """Draw a figure over an option: a line of medians per method, in a band from 25th to 75th percentile.

    A method that has no such option is a horizontal line at its median, so that a sweep has its baselines.
    Later lines are thinner, so that lines on top of each other are all seen.

    Parameters
    ----------
    found
        The results.
    x
        The option, of methods or instances.
    figure, by, relative_to, log_y, axes
        As in `bars`.
    log_x
        Whether the horizontal axis is logarithmic.

    Raises
    ------
    InvalidInput
        There is nothing of the kind to draw, or matplotlib is not installed.
    """
    chosen, bases = _chosen(found, figure, relative_to)
    rows = [row for row in found.rows if values_of([row], chosen, bases)]
    _refuse_absent(x, rows)
    series = _series(rows, by, without=x)
    axes = titled(axes, x, _title(chosen, relative_to), size=(7, 4))
    look_of = dict(zip(series, looks(len(series)), strict=True))
    _draw_lines(axes, series, x, look_of, lambda members: values_of(members, chosen, bases))
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
    """Draw `lines`, one panel per group of instances, all with the same vertical axis.

    The axis is logarithmic where it is asked for, and where panels lie so far apart that one would be flat.

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
        There is nothing of the kind to draw, or matplotlib is not installed.
    """
    chosen, bases = _chosen(found, figure, relative_to)
    _refuse_absent(x, found.rows)
    shown = _groups_with(found.rows, x, chosen)
    if not shown:
        raise InvalidInput("figure", shorten(chosen), f"no cell with the option {x} has it")
    series_of = {group: _series(rows, by, without=x) for group, rows in shown.items()}
    names = list(dict.fromkeys(name for series in series_of.values() for name in series))
    look_of = dict(zip(names, looks(len(names)), strict=True))
    whole, all_axes = _panels(len(shown))
    for axes, (group, series) in zip(all_axes, series_of.items(), strict=True):
        _draw_lines(axes, series, x, look_of, lambda members: values_of(members, chosen, bases))
        axes.set_title(_shown(group), fontsize=9)
        axes.set_xlabel(x)
        axes.set_xscale("log" if log_x else "linear")
        place = axes.get_subplotspec()
        if place is None or place.is_first_col():
            axes.set_ylabel(_title(chosen, relative_to))
    medians = [median(values) for rows in shown.values() if (values := values_of(rows, chosen, bases))]
    far = min(medians) > 0 and max(medians) > _FAR_APART * min(medians)
    _finish(all_axes, chosen, relative_to, log_y=log_y or far)
    known: dict[str, Any] = {}
    for axes in all_axes:
        handles, labels = axes.get_legend_handles_labels()
        known |= zip(labels, handles, strict=True)
    ordered = [name for name in map(_shown, names) if name in known]
    handles = [known[name] for name in ordered]
    whole.legend(handles, ordered, loc="outside right upper", fontsize=8, frameon=False)
    return whole


def _draw_lines(
    axes: "Axes",
    series: Mapping[str, Sequence[CellRow]],
    x: str,
    look_of: Mapping[str, Look],
    values: Callable[[Sequence[CellRow]], list[float]],
) -> None:
    for name, members in series.items():
        points: dict[float, list[CellRow]] = {}
        for row in members:
            if row.columns.get(x) is not None:
                points.setdefault(row.columns[x], []).append(row)
        look = look_of[name]
        if not points:
            if held := values(members):
                style = {key: value for key, value in look._asdict().items() if key != "marker"}
                axes.axhline(median(held), label=_shown(name), **style)
            continue
        drawn = {place: found for place in sorted(points) if (found := values(points[place]))}
        low, middles, high = zip(*map(_quartiles, drawn.values()), strict=True) if drawn else ((), (), ())
        axes.plot(list(drawn), middles, markersize=5, fillstyle="none", label=_shown(name), **look._asdict())
        if any(len(found) > 1 for found in drawn.values()):
            alpha = _BAND if len(series) <= _FEW else _FAINT_BAND
            axes.fill_between(list(drawn), low, high, color=look.color, alpha=alpha, linewidth=0)
    axes.grid(alpha=0.3)


def _groups_with(rows: Iterable[CellRow], x: str, figure: str) -> dict[str, list[CellRow]]:
    """Group rows by their instances; groups in which nothing has both option and figure are left out."""
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
    """Group rows by a column; methods and groups of instances are called without the option on the axis."""
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


def _title(figure: str, relative_to: str) -> str:
    return f"{figure} / {figure} of {relative_to}" if relative_to else _label(figure)


def _label(key: str) -> str:
    known = figure_of(key, CELL_FIGURES)
    return _shown(key) if known is None else known.title


def _wrapped(text: str) -> str:
    return _shown(text, _TICK).replace("(", "\n(", 1).replace(", ", ",\n")


def _shown(name: str, width: int = _LINE) -> str:
    """Return a name as matplotlib can show it, whoever chose it: printable, in lines, and no formula.

    Names that begin with an underscore would have no place in a legend.
    """
    lines = "\n".join(wrap(escape(name), width)).replace("$", r"\$")
    return f" {lines}" if lines.startswith("_") else lines


def _finish(all_axes: "Sequence[Axes]", figure: str, relative_to: str, *, log_y: bool) -> None:
    """Set, for axes that share their vertical axis limits and ticks that suit the figure."""
    first = all_axes[0]
    title = _title(figure, relative_to)
    if log_y:
        first.set_yscale("log")
    else:
        heights = [axes.dataLim.y0 for axes in all_axes] + [axes.dataLim.y1 for axes in all_axes]
        first.set_ylim(pad_equal(first.get_ylim(), heights))
    low, high = first.get_ylim()
    known = figure_of(figure, CELL_FIGURES)
    if known is not None and known.kind is FigureKind.SHARE and not relative_to:
        from matplotlib.ticker import PercentFormatter

        first.yaxis.set_major_formatter(PercentFormatter(1.0))
    elif title.endswith("[s]"):
        unit = set_log_time_axis(first.yaxis, low, high) if log_y else tick_time(first.yaxis, 0.0, high)
        for axes in all_axes:
            axes.set_ylabel(axes.get_ylabel().replace(" [s]", f" [{unit}]" if unit else ""))
    elif high >= _THOUSAND and not log_y:
        first.yaxis.set_major_formatter("{x:,.0f}")


def _panels(count: int) -> "tuple[Figure, list[Axes]]":
    """Return panels on a new figure, side by side and in as few rows as a page is wide."""
    rows = ceil(count / _MOST_PANELS)
    columns = ceil(count / rows)
    whole = new_figure(3.5 * columns + 3, 3.2 * rows + 0.8)
    grid = whole.subplots(rows, columns, squeeze=False, sharey=True)
    found: list[Axes] = list(grid.flat)
    for axes in found[count:]:
        axes.remove()
    return whole, found[:count]
