"""Drawing: helpers shared by all plots, such as a colour-blind-safe palette and axes in hours and days.

matplotlib is imported only when something is drawn.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import StrEnum
from itertools import cycle
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import replacing
from gsopt.core.numbers.tolerances import SUM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Colours of unordered categories: those of Okabe and Ito, with grey instead of yellow and black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")

#: Width of a figure in inches. In a column of a paper, its 10-point text shrinks to 7 points.
COLUMN = 4.8

LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "x", "D", "v", "+")


class Picture(StrEnum):
    """File format of a saved figure.

    Examples
    --------
    >>> [kind.value for kind in Picture]
    ['png', 'svg', 'pdf']
    """

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


#: File name extensions of saved figures.
ENDINGS = tuple(f".{kind}" for kind in Picture)

#: Time units in descending order of length: length in seconds, name, and possible tick spacings.
_UNITS = (
    (86_400.0, "days", (1, 2, 5, 7, 14, 28, 50, 100, 200, 500, 1000)),
    (3600.0, "h", (1, 2, 3, 6, 12, 24)),
    (60.0, "min", (1, 2, 5, 10, 15, 30, 60)),
)
_SECONDS: tuple[float, str, tuple[int, ...]] = (1.0, "s", ())
_FEWEST = 5  # units on an axis, so that its ticks are whole numbers
_MOST_TICKS = 10

#: Ticks of a logarithmic time axis, and those kept where there is not enough room for all.
_MOMENTS = (
    *((seconds, f"{seconds} s") for seconds in (1, 2, 5, 10, 20, 30)),
    *((60 * minutes, f"{minutes} min") for minutes in (1, 2, 5, 10, 20, 30)),
    *((3600 * hours, f"{hours} h") for hours in (1, 2, 4, 6, 12)),
    *((86_400 * days, f"{days} day{'s' * (days > 1)}") for days in (1, 2, 4, 7, 14, 30, 90, 365)),
)
_COARSE = frozenset({"1 s", "10 s", "1 min", "10 min", "1 h", "1 day", "7 days", "30 days", "365 days"})
_FEWEST_MOMENTS = 3

#: Width and height of a tick label on a time axis, in inches.
_NAME_WIDTH, _NAME_HEIGHT = 0.6, 0.25

_THINNEST, _THICKER = 1.3, 0.6

#: Ratio of the largest to the smallest value above which an axis is logarithmic. On a linear axis, all
#: values except the largest would look the same.
_FAR_APART = 4

#: Tick positions within a decade of a logarithmic axis, from many to few, and the maximum number of ticks.
_WITHIN_DECADE = (tuple(range(1, 10)), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
_MOST_NUMBERS = 5

#: How far below zero a symlog axis begins, relative to its linear threshold, so that values at zero are
#: visible.
_BELOW_ZERO = 0.3


class Look(NamedTuple):
    """The style of one line in a plot of several lines.

    Thin lines are drawn on top of thick ones, so that coinciding lines stay visible.
    """

    color: str
    linestyle: str
    marker: str
    linewidth: float


def looks(number: int) -> list[Look]:
    """Return styles for the given number of lines.

    No two of the first 28 lines share both line style and marker.
    """
    styles = zip(range(number), cycle(COLOURS), cycle(LINES), cycle(MARKERS), strict=False)
    return [
        Look(colour, line, marker, _THINNEST + _THICKER * min(number - 1 - place, 4))
        for place, colour, line, marker in styles
    ]


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of the given size in inches.

    Raise `InvalidInput` if matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput("", "", "needs matplotlib: pip install matplotlib", source="plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def titled(given: "Axes | None", horizontal: str, vertical: str, *, size: tuple[float, float]) -> "Axes":
    """Label and return the given axes or, if None, the axes of a new figure of the given size in inches."""
    axes = given or new_figure(*size).subplots()
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    return axes


def time_unit(span: float) -> tuple[float, str]:
    """Return the length in seconds and the name of the most readable unit for a time span in seconds."""
    unit, name, _ = _unit_of(span)
    return unit, name


def set_time_axis(axes: "Axes", begin: float, end: float) -> None:
    """Limit the horizontal axis to a range in seconds, and label the time since `begin` in a suitable unit."""
    name = tick_time(axes.xaxis, begin, end)
    axes.set_xlabel(f"time since the first release [{name}]" if begin else f"time [{name}]")
    if end > begin:
        axes.set_xlim(begin, end)


def tick_time(axis: "Axis", begin: float, end: float, name: str = "") -> str:
    """Place ticks on a time axis at round multiples of a unit, counted from `begin`; return the unit's name.

    The unit is the one called `name` if that is ``days``, ``h``, ``min`` or ``s``. Otherwise, it is chosen to
    suit the time from `begin` to `end`, and is ``s`` for less than 5 minutes. With ``s``, ticks stay where
    matplotlib places them.
    """
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    units = (*_UNITS, _SECONDS)
    unit, name, steps = next((each for each in units if each[1] == name), _unit_of(end - begin))
    wanted = (end - begin) / unit / _MOST_TICKS
    if steps:
        step = next((step for step in steps if step >= wanted), ceil(wanted / steps[-1]) * steps[-1])
        axis.set_major_locator(MultipleLocator(step * unit, offset=begin))
    axis.set_major_formatter(FuncFormatter(lambda moment, _: f"{(moment - begin) / unit:g}"))
    return name


def _unit_of(span: float) -> tuple[float, str, tuple[int, ...]]:
    return next((unit for unit in _UNITS if span >= _FEWEST * unit[0]), _SECONDS)


def set_log_time_axis(axis: "Axis", least: float, most: float) -> str:
    """Place ticks on a logarithmic time axis at familiar durations such as a minute or an hour.

    The axis runs from `least` to `most` seconds. If there is not enough room for all these durations, some are
    left out. If fewer than three remain, the axis keeps plain seconds. Return the unit for the axis label:
    ``s`` in that case, otherwise an empty string.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    inner = {moment: name for moment, name in _MOMENTS if least <= moment <= most}
    if len(inner) > _room(axis):
        coarse = {moment: name for moment, name in inner.items() if name in _COARSE}
        inner = coarse if len(coarse) >= _FEWEST_MOMENTS else inner
    while len(inner) >= _FEWEST_MOMENTS and len(inner) > _room(axis):
        inner = dict(list(inner.items())[::2])
    if len(inner) < _FEWEST_MOMENTS:
        return "s"
    if least <= 0:
        inner[0] = "0 s"
    axis.set_major_locator(FixedLocator(list(inner)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda moment, _: inner.get(round(moment), "")))
    return ""


def _room(axis: "Axis") -> float:
    """Return how many tick labels fit on an axis."""
    box, dots = axis.axes.bbox, axis.axes.figure.dpi
    across = axis is axis.axes.xaxis
    inches = (box.width if across else box.height) / dots
    return min(_MOST_TICKS, inches / (_NAME_WIDTH if across else _NAME_HEIGHT))


def scale_for(values: Iterable[float]) -> dict[str, Any]:
    """Return an axis scale that keeps values distinguishable: logarithmic if they lie far apart, else linear.

    Values lie far apart if the largest is more than four times the smallest positive one. If some value is 0, a
    logarithmic scale is linear near 0. If some value is negative, the scale is always linear.

    Examples
    --------
    >>> scale_for([1, 3]), scale_for([1, 50]), scale_for([0, 0.02, 50])
    ({'value': 'linear'}, {'value': 'log'}, {'value': 'symlog', 'linthresh': 0.01})
    """
    known = [value if abs(value) > SUM else 0.0 for value in values]
    positive = [value for value in known if value > 0]
    if min(known, default=0) < 0 or not positive or max(positive) <= _FAR_APART * min(positive):
        return {"value": "linear"}
    if len(positive) == len(known):
        return {"value": "log"}
    return {"value": "symlog", "linthresh": 10.0 ** floor(log10(min(positive)))}


def tick_numbers(axis: "Axis", write: Callable[[float], str] = "{:,.10g}".format, *, unit: float = 1.0) -> None:
    """Place a few ticks on an axis, and label each with its value divided by `unit`, formatted by `write`.

    On a logarithmic axis, the ticks are at round multiples of the unit if at least two of these are on it.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    axis.set_major_formatter(FuncFormatter(lambda number, _: write(number / unit)))
    if axis.get_scale() == "linear":
        axis.set_major_locator(MaxNLocator(_MOST_NUMBERS + 1))
        return
    least, most = (each / unit for each in sorted(axis.get_view_interval()))
    zero = axis.get_scale() == "symlog"
    low = getattr(axis.get_transform(), "linthresh", least * unit) / unit
    decades = range(floor(log10(low)), floor(log10(most)) + 1)
    for steps in _WITHIN_DECADE:
        places = [step * 10.0**decade for decade in decades for step in steps]
        inner = [place for place in places if low * (1 - SUM) <= place <= most * (1 + SUM)]
        if len(inner) + zero <= _MOST_NUMBERS:
            break
    else:
        inner = inner[:: -(-len(inner) // _MOST_NUMBERS)]
    if len(inner) > 1 or zero:
        axis.set_major_locator(FixedLocator([*([0.0] if zero else []), *(unit * place for place in inner)]))
        axis.set_minor_locator(NullLocator())


def tick_shares(axis: "Axis") -> None:
    """Label an axis of fractions in per cent."""
    tick_numbers(axis, lambda share: f"{100 * share:,.10g} %")


def show_zero(axis: "Axis") -> None:
    """Make zero visible: start a linear axis at zero, and a symlog axis slightly below it.

    A linear axis with negative data and a logarithmic axis stay as they are.
    """
    least, most = sorted(axis.get_view_interval())
    if axis.get_scale() == "symlog":
        least = -_BELOW_ZERO * axis.get_transform().linthresh  # type: ignore[attr-defined]
    elif axis.get_scale() == "linear" and axis.get_data_interval()[0] >= 0:
        least = 0.0
    axis.set_view_interval(least, most, ignore=True)


def name_twins(names: Sequence[str], curves: Sequence[Hashable]) -> list[str]:
    """Return legend labels that say which curves coincide with an earlier one.

    Examples
    --------
    >>> name_twins(["sjf", "srtf", "srsf"], [(1, 2), (3, 4), (1, 2)])
    ['sjf', 'srtf', 'srsf (on sjf)']
    """
    first: dict[Hashable, str] = {}
    earlier = [first.setdefault(curve, name) for name, curve in zip(names, curves, strict=True)]
    return [
        name if name == other else f"{name} (on {other})" for name, other in zip(names, earlier, strict=True)
    ]


def legend_beside(axes: "Axes") -> None:
    """Put the legend to the right of the plot, where it hides no data."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="medium", frameon=False)


def tick_counts(axis: "Axis") -> None:
    """Place ticks at integers, or only at round ones if the axis contains many.

    An axis without an integer has other ticks.
    """
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def pad_equal(axis_limits: tuple[float, float], values: Sequence[float]) -> tuple[float, float]:
    """Return the axis limits or, if all values are equal up to rounding, limits from 0 to twice the value.

    If all values are zero, the limits are 0 and 1.
    """
    if not values or max(values) - min(values) > SUM * max(1.0, *map(abs, values)):
        return axis_limits
    level = float(values[0]) if abs(values[0]) > SUM else 0.0
    return (0.0, 2 * level or 1.0) if level >= 0 else (2 * level, 0.0)


def save(figure: Any, path: str | Path) -> None:
    """Save a figure in the format given by the extension of the file name.

    Raises
    ------
    InvalidInput
        The extension is not supported, or the file cannot be written.

    Examples
    --------
    >>> save(None, "gantt.doc")
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: picture: 'gantt.doc': must end in .png, .svg or .pdf
    """
    if Path(path).suffix.lower() not in ENDINGS:
        raise InvalidInput("", shorten(str(path)), "must end in .png, .svg or .pdf", source="picture")
    with replacing(path) as beside:
        figure.savefig(beside, dpi=150, format=Path(path).suffix[1:].lower())
