"""Drawing: what all pictures share, from colours for the colour-blind to axes of hours and days.

matplotlib is imported when something is drawn.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Colours of unordered things: those of Okabe and Ito without yellow and black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "x", "D", "v", "+")


class Picture(StrEnum):
    """Format of pictures.

    Examples
    --------
    >>> [kind.value for kind in Picture]
    ['png', 'svg', 'pdf']
    """

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


#: Endings of names of pictures.
ENDINGS = tuple(f".{kind}" for kind in Picture)

#: Seconds of a unit, its name, and possible distances of ticks; the longest unit first.
_UNITS = (
    (86_400.0, "days", (1, 2, 5, 7, 14, 28, 50, 100, 200, 500, 1000)),
    (3600.0, "h", (1, 2, 3, 6, 12, 24)),
    (60.0, "min", (1, 2, 5, 10, 15, 30, 60)),
)
_FEWEST = 5  # units on an axis, so that its ticks are whole numbers
_MOST_TICKS = 10

#: Ticks of a logarithmic axis of time, and those kept where there is not enough room.
_MOMENTS = (
    *((seconds, f"{seconds} s") for seconds in (1, 2, 5, 10, 20, 30)),
    *((60 * minutes, f"{minutes} min") for minutes in (1, 2, 5, 10, 20, 30)),
    *((3600 * hours, f"{hours} h") for hours in (1, 2, 4, 6, 12)),
    *((86_400 * days, f"{days} day{'s' * (days > 1)}") for days in (1, 2, 4, 7, 14, 30, 90, 365)),
)
_COARSE = frozenset({"1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 day", "7 days", "30 days", "365 days"})
_FEWEST_MOMENTS = 3

#: Inches taken by the name of a moment on an axis.
_NAME_WIDTH, _NAME_HEIGHT = 0.6, 0.25

_THINNEST, _THICKER = 1.3, 0.6


class Look(NamedTuple):
    """Style of one of several lines; thin ones lie on thick ones, so that equal lines are all visible."""

    color: str
    linestyle: str
    marker: str
    linewidth: float


def looks(number: int) -> list[Look]:
    """Return styles, no two of which have line style and marker in common up to 28."""
    styles = zip(range(number), cycle(COLOURS), cycle(LINES), cycle(MARKERS), strict=False)
    return [
        Look(colour, line, marker, _THINNEST + _THICKER * min(number - 1 - place, 4))
        for place, colour, line, marker in styles
    ]


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of a size in inches; refuse where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput("", "", "needs matplotlib: pip install matplotlib", source="plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def titled(given: "Axes | None", horizontal: str, vertical: str, *, size: tuple[float, float]) -> "Axes":
    """Name both axes of a plot, made in a new figure unless given."""
    axes = given or new_figure(*size).subplots()
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    return axes


def time_unit(span: float) -> tuple[float, str]:
    """Return the most readable unit for a span of seconds, in seconds and by name."""
    unit, name, _ = _unit_of(span)
    return unit, name


def set_time_axis(axes: "Axes", begin: float, end: float) -> None:
    """Let the horizontal axis, whose data are seconds of a clock, count hours or days from a time on."""
    name = tick_time(axes.xaxis, begin, end)
    axes.set_xlabel(f"time since the first release [{name}]" if begin else f"time [{name}]")
    if end > begin:
        axes.set_xlim(begin, end)


def tick_time(axis: "Axis", begin: float, end: float) -> str:
    """Tick an axis of seconds at round numbers of a longer unit, counted from `begin`, and return its name."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    unit, name, steps = _unit_of(end - begin)
    wanted = (end - begin) / unit / _MOST_TICKS
    step = next((step for step in steps if step >= wanted), None)
    if step:
        axis.set_major_locator(MultipleLocator(step * unit, offset=begin))
    axis.set_major_formatter(FuncFormatter(lambda moment, _: f"{(moment - begin) / unit:g}"))
    return name


def _unit_of(span: float) -> tuple[float, str, tuple[int, ...]]:
    return next((unit for unit in _UNITS if span >= _FEWEST * unit[0]), (1.0, "s", ()))


def set_log_time_axis(axis: "Axis", least: float, most: float) -> str:
    """Tick a logarithmic axis of seconds at named moments such as minutes, where it spans enough of these.

    Return the unit of its numbers: seconds where there are too few such moments, else none.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    inner = {moment: name for moment, name in _MOMENTS if least <= moment <= most}
    if len(inner) > _room(axis):
        coarse = {moment: name for moment, name in inner.items() if name in _COARSE}
        inner = coarse if len(coarse) >= _FEWEST_MOMENTS else dict(list(inner.items())[::2])
    if len(inner) < _FEWEST_MOMENTS:
        return "s"
    if least <= 0:
        inner[0] = "0 s"
    axis.set_major_locator(FixedLocator(list(inner)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda moment, _: inner.get(round(moment), "")))
    return ""


def _room(axis: "Axis") -> float:
    """Return how many names of moments fit on an axis."""
    box, dots = axis.axes.bbox, axis.axes.figure.dpi
    across = axis is axis.axes.xaxis
    inches = (box.width if across else box.height) / dots
    return min(_MOST_TICKS, inches / (_NAME_WIDTH if across else _NAME_HEIGHT))


def legend_beside(axes: "Axes") -> None:
    """Put the legend to the right of a picture, where it covers nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)


def tick_counts(axis: "Axis") -> None:
    """Tick an axis at whole numbers, round ones where there are many."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def pad_equal(axis_limits: tuple[float, float], values: Sequence[float]) -> tuple[float, float]:
    """Return the limits of an axis: as they are, or around values that are all equal."""
    if not values or min(values) != max(values):
        return axis_limits
    level = float(values[0])
    return (0.0, 2 * level or 1.0) if level >= 0 else (2 * level, 0.0)


def save(figure: Any, path: str | Path) -> None:
    """Save a picture in the format of its name's ending.

    Raises
    ------
    InvalidInput
        The name has another ending, or the file cannot be written.

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
