"""Picture: a cluster drawn as nested boxes, with GPUs coloured by the jobs that hold them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from math import isclose
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from gsopt.core.drawing import COLOURS, new_figure
from gsopt.core.errors import require
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats.layout import Box, laid_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 11.0, 14.0  # largest figure, in inches
_LEGEND, _NARROWEST, _TITLE = 3.0, 2.0, 0.4  # width of a legend and a picture, height of a title, in inches
_CELL = 0.5  # largest side of a cell, in inches
_POINTS = 72  # of an inch
_SMALLEST, _LARGEST = 4.0, 9.0  # sizes of letters, in points
_LETTER = 0.62  # width of a letter, relative to its size
_ROOM = 0.85  # share of a cell's height taken by letters
_LINE = 1.5  # height of a line, relative to its letters
_EDGE = 0.1  # around the picture, in cells, so that its frame is not cut
_MOST_VECTORS = 3000  # boxes that a vector picture does not rasterise
_MOST_IN_LEGEND, _LONGEST_NAME = 20, 20

_ONE_GPU = "one GPU"  # in place of a tier
_IDLE, _FRAME, _TEXT = "#FFFFFF", "#9A9A9A", "#333333"
_LUMINANCE = (0.299, 0.587, 0.114)  # of red, green and blue
_DARK = 0.5  # luminance below which text is white


class _RunOfCells(NamedTuple):
    """Neighbouring cells in a row held by one job, which may share them with others."""

    job: str
    x: float
    y: float
    width: float
    height: float


def draw(
    cluster: Cluster,
    placements: Mapping[str, Sequence[int]] | None = None,
    *,
    colour: str = "job",
    title: str = "",
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw a cluster: machines in the boxes of their switches, and the jobs that hold each GPU.

    Idle GPUs are white. Neighbouring GPUs of a job form one block, labelled with the job's name if there is
    room. Jobs that share a GPU divide its square among them, one below the other.

    Parameters
    ----------
    cluster
        The cluster.
    placements
        GPU indices of every job, keyed by the job's name. For one moment of a schedule, this is ``{segment.job:
        segment.placement}`` over the segments that run then.
    colour
        What colours stand for: ``job``, or ``tier``, the innermost level that connects a job's GPUs. With
        ``tier``, jobs on a single GPU form a class of their own.
    title
        Title above the picture; none if empty.
    axes
        Axes to draw on; if None, a new figure of suitable size is created.

    Raises
    ------
    InvalidInput
        A GPU does not exist, `colour` is neither ``job`` nor ``tier``, or matplotlib is not installed.

    Examples
    --------
    >>> axes = draw(Cluster.uniform(racks=2, machines=2, gpus=4), {"a": [0, 1, 4], "b": [8]})
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['a: 3 GPUs, rack', 'b: 1 GPU', 'idle: 12 GPUs']
    """
    held = _checked(cluster, placements or {})
    require(colour in {"job", "tier"}, "colour", colour, "must be job or tier")
    inches = _scale(laid_out(cluster))
    root = laid_out(cluster, _LINE * _letters(inches) / (inches * _POINTS))
    inches = min(inches, _scale(root))
    if axes is None:
        height = root.height * inches + (_TITLE if title else 0.0)
        size = max(root.width * inches, _NARROWEST) + _LEGEND, max(height, _NARROWEST)
        axes = new_figure(*size).subplots()
    axes.set(xlim=(-_EDGE, root.width + _EDGE), ylim=(root.height + _EDGE, -_EDGE), aspect="equal", anchor="NW")
    axes.set_axis_off()
    points = inches * _POINTS
    cells = _draw_boxes(axes, root, points, _letters(inches))
    kinds = _kinds(cluster, held, colour)
    _draw_runs(axes, list(_runs(cells, held)), kinds, points)
    _add_legend(axes, cluster, held, kinds, colour)
    axes.set_title(_literal(title), fontsize=11)
    return axes


def _scale(root: Box) -> float:
    """Return the side length of a cell, in inches."""
    return min(_CELL, _WIDTH / root.width, _HEIGHT / root.height)


def _letters(inches: float) -> float:
    """Return the font size in points for cells with the given side length."""
    return min(_LARGEST, inches * _POINTS * _ROOM)


def _checked(cluster: Cluster, placements: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Return the jobs that hold GPUs, in the order of their first GPUs, with sorted GPUs.

    Raise `InvalidInput` for GPUs that do not exist.
    """
    for job, gpus in placements.items():
        for index, gpu in enumerate(gpus):
            is_there = isinstance(gpu, Integral) and 0 <= gpu < cluster.gpus
            require(is_there, f"placements.{job}[{index}]", gpu, f"must be a GPU from 0 to {cluster.gpus - 1}")
    held = {job: tuple(sorted(set(gpus))) for job, gpus in placements.items() if len(gpus)}
    return dict(sorted(held.items(), key=lambda each: each[1]))


class _JobLook(NamedTuple):
    """The label and colour of a job."""

    label: str
    colour: str


def _kinds(cluster: Cluster, held: Mapping[str, Sequence[int]], colour: str) -> dict[str, _JobLook]:
    """Return the label and colour of every job: its own (colours may repeat), or those of its tier."""
    tiers = {job: _tier(cluster, gpus) for job, gpus in held.items()}
    if colour == "job":
        return {job: _JobLook(job, each) for job, each in zip(held, cycle(COLOURS), strict=False)}
    of_tier = dict(zip((_ONE_GPU, *cluster.levels), cycle(COLOURS), strict=False))
    return {job: _JobLook(tiers[job], of_tier[tiers[job]]) for job in held}


def _tier(cluster: Cluster, gpus: Sequence[int]) -> str:
    return str(cluster.tier(gpus)) if len(gpus) > 1 else _ONE_GPU


# Drawing


def _draw_boxes(axes: "Axes", root: Box, points: float, size: float) -> list[tuple[float, float]]:
    """Draw the frames and names of boxes and the cells of GPUs, and return the cells' corners by GPU."""
    from matplotlib.collections import PolyCollection

    frames: list[Any] = []
    cells: list[tuple[float, float]] = []
    for x, y, box in root.walk():
        cells += [(x + right, y + down) for right, down in box.cells]
        if box.inside:
            frames.append(_corners(x, y, box.width, box.height))
        if box.name and size >= _SMALLEST:
            label = box.name if box.name.startswith(box.level) or box.cells else f"{box.level} {box.name}"
            room = max(1, int(box.width * points / (size * _LETTER)) + 1)
            text = label if len(label) <= room else f"{label[: max(1, room - 1)]}…"
            left = x + (0.2 if box.inside else 0.0)
            axes.text(left, y + box.top / 2, _literal(text), fontsize=size, color=_TEXT, va="center")
    squares = [_corners(x, y, 1, 1) for x, y in cells]
    for boxes, fill, thickest in ((frames, "none", 1.0), (squares, _IDLE, 0.5)):
        width = min(thickest, thickest * points / 12)
        drawn = PolyCollection(boxes, facecolors=fill, edgecolors=_FRAME, linewidths=width)
        drawn.set_rasterized(len(boxes) > _MOST_VECTORS)
        axes.add_collection(drawn)
    return cells


def _corners(x: float, y: float, width: float, height: float) -> list[tuple[float, float]]:
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def _runs(cells: Sequence[tuple[float, float]], held: Mapping[str, Sequence[int]]) -> Iterator[_RunOfCells]:
    """Yield the runs of neighbouring cells of a job that are shared by the same number of jobs."""
    jobs_of: dict[int, list[str]] = {}
    for job, gpus in held.items():
        for gpu in gpus:
            jobs_of.setdefault(gpu, []).append(job)
    for job, gpus in held.items():
        run: _RunOfCells | None = None
        for gpu in gpus:
            sharers = len(jobs_of[gpu])
            x, y = cells[gpu][0], cells[gpu][1] + jobs_of[gpu].index(job) / sharers
            if run and (run.y, run.height) == (y, 1 / sharers) and isclose(run.x + run.width, x):
                run = run._replace(width=run.width + 1)
                continue
            if run:
                yield run
            run = _RunOfCells(job, x, y, 1.0, 1 / sharers)
        if run:
            yield run


def _draw_runs(axes: "Axes", runs: Sequence[_RunOfCells], kinds: Mapping[str, _JobLook], points: float) -> None:
    from matplotlib.collections import PolyCollection

    axes.add_collection(
        PolyCollection(
            [_corners(run.x, run.y, run.width, run.height) for run in runs],
            facecolors=[kinds[run.job].colour for run in runs],
            edgecolors="white",
            linewidths=min(1.0, points / 12),
        )
    )
    for run in runs:
        fitting = run.width * points / (_LETTER * max(len(run.job), 1)) * _ROOM
        size = min(_LARGEST, run.height * points * _ROOM, fitting)
        if size >= _SMALLEST:
            middle = run.x + run.width / 2, run.y + run.height / 2
            shade = _contrast(kinds[run.job].colour)
            axes.text(*middle, _literal(run.job), fontsize=size, color=shade, ha="center", va="center_baseline")


def _literal(text: str) -> str:
    r"""Escape text for matplotlib, which reads ``$`` as mathematics and hides labels that begin with ``_``."""
    return f"{' ' * text.startswith('_')}{text}".replace("$", r"\$")


def _contrast(colour: str) -> str:
    """Return a text colour that is readable on the given background colour."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    luminance = sum(weight * part for weight, part in zip(_LUMINANCE, parts, strict=True))
    return "white" if luminance < _DARK else "black"


def _add_legend(
    axes: "Axes",
    cluster: Cluster,
    held: Mapping[str, Sequence[int]],
    kinds: Mapping[str, _JobLook],
    colour: str,
) -> None:
    """Explain the colours next to the picture. If there are too many jobs, the last ones are only counted."""
    from matplotlib.patches import Patch

    entries = list(_entries(cluster, held, kinds, colour))
    shown = entries[: _MOST_IN_LEGEND - 1] if len(entries) > _MOST_IN_LEGEND else entries
    handles = [Patch(facecolor=shade, edgecolor=_FRAME, linewidth=0.5, label=label) for label, shade in shown]
    if len(shown) < len(entries):
        handles.append(Patch(facecolor="none", label=f"... and {len(entries) - len(shown):,} more jobs"))
    idle = cluster.gpus - len({gpu for gpus in held.values() for gpu in gpus})
    handles.append(Patch(facecolor=_IDLE, edgecolor=_FRAME, linewidth=0.5, label=f"idle: {_counted(idle)}"))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)


def _entries(
    cluster: Cluster, held: Mapping[str, Sequence[int]], kinds: Mapping[str, _JobLook], colour: str
) -> Iterator[tuple[str, str]]:
    """Yield the labels of the legend with their colours."""
    if colour == "job":
        for job, gpus in held.items():
            tier = f", {_tier(cluster, gpus)}" if len(gpus) > 1 and not cluster.is_plain else ""
            name = job if len(job) <= _LONGEST_NAME else f"{job[: _LONGEST_NAME - 1]}…"
            yield _literal(f"{name}: {_counted(len(gpus))}{tier}"), kinds[job].colour
        return
    tiers = (_ONE_GPU, *cluster.levels)
    for kind in sorted(set(kinds.values()), key=lambda kind: tiers.index(kind.label)):
        sizes = [len(gpus) for job, gpus in held.items() if kinds[job] == kind]
        plural = "s" * (len(sizes) != 1)
        yield _literal(f"{kind.label}: {len(sizes):,} job{plural}, {_counted(sum(sizes))}"), kind.colour


def _counted(gpus: int) -> str:
    return f"{gpus:,} GPU{'s' * (gpus != 1)}"
