"""Plots of a study's results; they read without colour. matplotlib is imported when one is drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, Any

from gsopt.errors import InvalidInput, shorten
from gsopt.schedule.figures import Kind, figure_of
from gsopt.studies.report import CELL_FIGURES, baselines, headline, numeric_figures, values_of
from gsopt.studies.results import Results
from gsopt.studies.rows import Row
from gsopt.studies.statistics import percentile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "---", "ooo")
_SHADES = ("0.9", "0.7", "1.0", "0.8", "0.6", "0.95")
_LINES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "x", "D", "v", "+")

#: Bands of more than a few lines lie on each other and would hide them.
_FEW, _BAND, _FAINT_BAND = 3, 0.15, 0.06

_LOW, _HIGH = 25, 75

#: Panels in a row; more of them would be too wide for a page.
_MOST_PANELS = 4

#: From here on an axis groups digits.
_THOUSAND = 1000

_Bases = Mapping[tuple[str, str], float] | None


def bars(
    found: Results, *, figure: str = "", by: str = "method", relative_to: str = "", axes: "Axes | None" = None
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
    axes = _axes(axes, "", _title(chosen, relative_to), wide=len(groups) * len(series))
    looks = zip(cycle(_HATCHES), cycle(_SHADES), strict=False)
    for place, ((name, members), (hatch, shade)) in enumerate(zip(series.items(), looks, strict=False)):
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
                color=shade,
                edgecolor="black",
                linewidth=0.7,
                hatch=hatch,
                label=name if name not in axes.get_legend_handles_labels()[1] else None,
            )
    axes.set_xticks(range(len(groups)), [_wrapped(group) for group in groups], fontsize=8)
    if axes.dataLim.ymin >= 0:
        axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    _finish(axes, chosen, relative_to)
    return axes


def lines(
    found: Results,
    x: str,
    *,
    figure: str = "",
    by: str = "method",
    relative_to: str = "",
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw a figure over an option: a line of medians per method, in a band from 25th to 75th percentile.

    A method that has no such option is a horizontal line at its median, so that a sweep has its baselines.

    Parameters
    ----------
    found
        The results.
    x
        The option, of methods or instances.
    figure, by, relative_to, axes
        As in `bars`.

    Raises
    ------
    InvalidInput
        There is nothing of the kind to draw, or matplotlib is not installed.
    """
    chosen, bases = _chosen(found, figure, relative_to)
    rows = [row for row in found.rows if values_of([row], chosen, bases)]
    _refuse_absent(x, rows)
    series = _series(rows, by, without=x)
    axes = _axes(axes, x, _title(chosen, relative_to))
    looks = zip(cycle(_MARKERS), cycle(_LINES), strict=False)
    for (name, members), (marker, line) in zip(series.items(), looks, strict=False):
        points: dict[float, list[Row]] = {}
        for row in members:
            if row.columns.get(x) is not None:
                points.setdefault(row.columns[x], []).append(row)
        if not points:
            middle = _quartiles(values_of(members, chosen, bases))[1]
            axes.axhline(middle, linestyle=line, color="0.45", linewidth=1, label=name)
            continue
        places = sorted(points)
        low, middles, high = zip(
            *(_quartiles(values_of(points[place], chosen, bases)) for place in places), strict=True
        )
        (drawn,) = axes.plot(
            places, middles, line, marker=marker, markersize=5, fillstyle="none", color="black", label=name
        )
        if any(len(points[place]) > 1 for place in places):
            axes.fill_between(
                places,
                low,
                high,
                color=drawn.get_color(),
                alpha=_BAND if len(series) <= _FEW else _FAINT_BAND,
                linewidth=0,
            )
    axes.grid(alpha=0.3)
    _finish(axes, chosen, relative_to)
    return axes


def panels(
    found: Results, x: str, *, figure: str = "", by: str = "method", relative_to: str = ""
) -> "Figure | SubFigure":
    """Draw `lines`, one panel per group of instances.

    Parameters
    ----------
    found
        The results.
    x
        The option, of methods or instances.
    figure, by, relative_to
        As in `bars`.

    Raises
    ------
    InvalidInput
        There is nothing of the kind to draw, or matplotlib is not installed.
    """
    chosen, _ = _chosen(found, figure, relative_to)
    _refuse_absent(x, found.rows)
    groups: dict[str, list[Row]] = {}
    for row in found.rows:
        groups.setdefault(row.labels.group.without(x), []).append(row)
    shown = {
        group: rows
        for group, rows in groups.items()
        if any(x in row.columns and values_of([row], chosen) for row in rows)
    }
    if not shown:
        raise InvalidInput("", "figure", shorten(chosen), f"no cell with the option {x} has it")
    all_axes = _panels(len(shown))
    for axes, (group, rows) in zip(all_axes, shown.items(), strict=True):
        part = replace(found, rows=tuple(rows))
        lines(part, x, figure=chosen, by=by, relative_to=relative_to, axes=axes)
        axes.set_title(group, fontsize=9)
        place = axes.get_subplotspec()
        if place is not None and not place.is_first_col():
            axes.set_ylabel("")
        legend = axes.get_legend()
        if legend is not None and axes is not all_axes[-1]:
            legend.remove()
    return all_axes[0].figure


def _chosen(found: Results, figure: str, relative_to: str) -> tuple[str, _Bases]:
    known = numeric_figures(found.rows)
    usual = headline(found.rows) or tuple(known)
    if not usual:
        raise InvalidInput("", "plot", "", "there are no figures yet")
    if figure and figure not in known:
        raise InvalidInput("", "figure", shorten(figure), f"must be one of {', '.join(known)}")
    chosen = figure or usual[0]
    return chosen, baselines(found.rows, relative_to, [chosen]) if relative_to else None


def _refuse_absent(x: str, rows: Sequence[Row]) -> None:
    known = dict.fromkeys(
        name
        for row in rows
        for name, value in row.columns.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    if x not in known:
        rule = f"must be an option with numbers: {', '.join(known)}" if known else "no option has numbers"
        raise InvalidInput("", "x", shorten(x), rule)


def _series(rows: Iterable[Row], by: str, *, without: str = "") -> dict[str, list[Row]]:
    """Group rows by a column; methods and groups of instances are called without the option on the axis."""
    rows = list(rows)
    if by not in dict.fromkeys(name for row in rows for name in row.columns):
        known = dict.fromkeys(name for row in rows for name in row.columns)
        raise InvalidInput("", "by", shorten(by), f"must be one of {', '.join(known)}")
    groups = {row.labels.group.without(without) for row in rows}
    found: dict[str, list[Row]] = {}
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
    return key if known is None else known.title


def _wrapped(text: str) -> str:
    return text.replace("(", "\n(", 1).replace(", ", ",\n")


def _finish(axes: "Axes", figure: str, relative_to: str) -> None:
    known = figure_of(figure, CELL_FIGURES)
    if known is not None and known.kind is Kind.SHARE and not relative_to:
        from matplotlib.ticker import PercentFormatter

        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    elif axes.get_ylim()[1] >= _THOUSAND:
        axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)


def _axes(given: "Axes | None", horizontal: str, vertical: str, wide: int = 0) -> "Axes":
    size = (min(max(7.0, 3 + 0.28 * wide), 24), 4)
    axes = given or _figure(size).subplots()
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    return axes


def _panels(count: int) -> "list[Axes]":
    """Give panels on a new figure, side by side and in as few rows as a page is wide."""
    rows = ceil(count / _MOST_PANELS)
    columns = ceil(count / rows)
    grid = _figure((3.5 * columns + 3, 3.2 * rows + 0.8)).subplots(rows, columns, squeeze=False)
    found: list[Axes] = list(grid.flat)
    for axes in found[count:]:
        axes.remove()
    return found[:count]


def _figure(size: tuple[float, float]) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput("plot", "", "", "needs matplotlib; install gsopt[report]") from None
    return Figure(figsize=size, layout="constrained")
