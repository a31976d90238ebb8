"""Pictures: the plots of results on a study's page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gsopt.evaluation.tables import PAPER_RANK
from gsopt.schedule.figures import figure_of
from gsopt.studies import plots
from gsopt.studies.instance import REPEATING
from gsopt.studies.page.svg import inline
from gsopt.studies.report import CELL_FIGURES, headline, is_number, numeric_figures, values_of
from gsopt.studies.results import Results
from gsopt.studies.rows import CellRow

#: Maximum numbers of dots and of panels that a reader can distinguish. If there are more, the page states their
#: number instead.
_MOST_DOTS, _MOST_PANELS = 120, 24

#: Minimum number of values of a swept option, and their ratio above which the axis is logarithmic.
_FEWEST, _FAR_APART = 3, 50


@dataclass(frozen=True)
class PagePicture:
    """A picture on a page."""

    title: str
    element: str  # of SVG; empty if there is no drawing
    remark: str = ""  # why there is no drawing, or another note
    on_white: bool = False


def pictures(found: Results, figures: Sequence[str]) -> Iterator[PagePicture]:
    """Yield a dot plot of each figure, and line plots over every swept option (see `swept`).

    If `figures` is empty, dot plots show the figures of rank 1 to 3, and line plots show those of rank 1 (see
    `gsopt.schedule.figures.Figure`). Call this inside `gsopt.studies.page.svg.drawing`.
    """
    several = found.by_decision()
    for name, part in several.items():
        known = numeric_figures(part.rows)
        wanted = [key for key in figures if key in known]
        if wanted or not figures:
            yield from _of_part(part, wanted, f"{name}: " if len(several) > 1 else "")


def _of_part(part: Results, figures: Sequence[str], prefix: str) -> Iterator[PagePicture]:
    ranks = {key: each.rank for key in headline(part.rows) if (each := figure_of(key, CELL_FIGURES))}
    for key in figures or [key for key, rank in ranks.items() if rank <= PAPER_RANK]:
        yield _dots(part, key, f"{prefix}{_label(key)}")
    for x in swept(part.rows):
        for key in figures or [key for key, rank in ranks.items() if rank == 1]:
            yield from _lines(part, x, key, f"{prefix}{_label(key)} over {x}")


def swept(rows: Iterable[CellRow]) -> list[str]:
    """Return the options with at least three different numbers among cells whose names are otherwise equal.

    Options that distinguish repetitions, such as seeds, do not count.
    """
    values: dict[tuple[str, str, str], set[float]] = {}
    for row in rows:
        for name, value in row.columns.items():
            if is_number(value) and name.rpartition(".")[2] not in REPEATING:
                place = name, row.labels.group.without(name), row.labels.method.without(name)
                values.setdefault(place, set()).add(value)
    return list(dict.fromkeys(name for (name, *_), found in values.items() if len(found) >= _FEWEST))


def _dots(found: Results, key: str, title: str) -> PagePicture:
    rows = [row for row in found.rows if values_of([row], key)]
    count = len({(str(row.labels.group), str(row.labels.method)) for row in rows})
    if count > _MOST_DOTS:
        return PagePicture(title, "", f"Not drawn here: it would have {count:,} dots.")
    return drawn(plots.dots(found, figure=key).figure, title)


def _lines(found: Results, x: str, key: str, title: str) -> Iterator[PagePicture]:
    rows = [row for row in found.rows if x in row.columns and values_of([row], key)]
    groups = {row.labels.group.without(x) for row in rows}
    if len(groups) > _MOST_PANELS:
        yield PagePicture(title, "", f"Not drawn here: it would have {len(groups):,} panels.")
    elif rows:
        values = [row.columns[x] for row in rows if is_number(row.columns[x])]
        far = min(values) > 0 and max(values) > _FAR_APART * min(values)
        yield drawn(plots.panels(found, x, figure=key, log_x=far), title)


def _label(key: str) -> str:
    known = figure_of(key, CELL_FIGURES)
    return key if known is None else known.label


def drawn(figure: Any, title: str, remark: str = "") -> PagePicture:
    """Return a matplotlib figure as a picture on a page."""
    return PagePicture(title, inline(figure, title), remark)
