"""Best known: a table of the best known value and bound of every committed instance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType

from gsopt.core.problem import Number
from gsopt.evaluation import catalogue
from gsopt.evaluation.listing import Listing
from gsopt.evaluation.tables import PAGE, Column, lay_out, markdown_of, percent
from gsopt.studies.suites.known import Known, Standing, described
from gsopt.studies.suites.selection import by_suite, counted, select

#: Number of digits of a value in a table; CSV and JSON contain all digits.
_DIGITS = 10


@dataclass(frozen=True, repr=False)
class BestKnown(Listing[Known]):
    """The best known values of instances.

    They print as a table and are shown as one in notebooks.

    Examples
    --------
    >>> print(best_known("reclaiming/aryl-figure-5"))
    instance       size      value  bound  standing  by                since
    ────────────────────────────────────────────────────────────────────────
    reclaiming  (preemptions, minimize)
    aryl-figure-5  demand 2      1      1  proven    brute force  2026-11-20
    """

    rows: tuple[Known, ...]

    def table(self, width: int = PAGE) -> RenderableType:
        """Return a table with one line per instance, below a heading for each suite and unit."""
        headings: dict[int, str] = {}
        rows = sorted(self.rows, key=_group)
        for place, row in enumerate(rows):
            if place == 0 or _group(row) != _group(rows[place - 1]):
                headings[place] = f"{row.suite}  ({row.unit}, {row.sense})"
        names = [row.instance.rpartition("/")[2] for row in rows]
        return lay_out(_columns(rows, names), headings=headings, width=width, elsewhere="--csv and --json")

    def to_markdown(self) -> str:
        """Return the table in Markdown with all columns."""
        return markdown_of(self.columns())

    def columns(self) -> list[Column]:
        """Return the columns of the table, with full instance names."""
        return _columns(self.rows, [row.instance for row in self.rows])

    def having(self, standing: Standing) -> "BestKnown":
        """Return the instances with a given standing."""
        return BestKnown(tuple(row for row in self.rows if row.standing is standing))

    def summary(self) -> RenderableType:
        """Return a table of suites: the number of instances, in total and by standing, and the widest gap."""
        suites = by_suite(self.rows, lambda row: row.suite)
        widest = Column("widest gap", [_widest(rows) for rows in suites.values()])
        return lay_out([*counted(suites, _COUNTED, lambda row: row.standing), widest])

    def records(self) -> list[dict[str, Any]]:
        """Return all fields of every row, as plain JSON types."""
        return [row.as_dict() for row in self.rows]


#: The standings that a summary counts. The standing of a committed instance is never unknown.
_COUNTED = (Standing.PROVEN, Standing.INFEASIBLE, Standing.CHALLENGE)


def best_known(*what: str) -> BestKnown:
    """Return the best known values of committed instances.

    Parameters
    ----------
    what
        Decisions, suites or instances, such as ``"reclaiming"`` or ``"waiting/medium"``. By default, all
        instances.

    Raises
    ------
    InvalidInput
        A decision, suite or instance does not exist.

    Examples
    --------
    >>> {row.standing.value for row in best_known("reclaiming/production")}
    {'proven'}
    """
    return BestKnown(tuple(Known.of(catalogue.load(name)) for name in select(what)))


def shown(value: Number | None) -> str:
    """Format a value for tables, with a dash for None."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{float(value):,.{_DIGITS}g}"


def _standing(row: Known) -> str:
    """Return the standing of an instance, with the gap if it is a challenge."""
    return f"{row.standing.value}, {percent(row.gap)}" if row.gap else row.standing.value


def _sizes(row: Known) -> str:
    """Return the numeric headline figures of an instance.

    All other differences between instances are visible in their names and units.
    """
    return described({name: size for name, size in row.size.items() if not isinstance(size, str)})


def _columns(rows: Sequence[Known], names: Sequence[str]) -> list[Column]:
    return [
        Column("instance", names, right=False),
        Column("size", [_sizes(row) for row in rows], right=False),
        Column("value", [shown(row.objective) for row in rows]),
        Column("bound", [shown(row.bound) for row in rows], rank=2),
        Column("standing", [_standing(row) for row in rows], right=False),
        Column("by", [row.by or "-" for row in rows], right=False, rank=3),
        Column("since", ["-" if row.since is None else row.since.isoformat() for row in rows], rank=1),
    ]


def _group(row: Known) -> tuple[str, str]:
    return row.suite, row.unit


def _widest(rows: Sequence[Known]) -> str:
    gaps = [row.gap for row in rows if row.gap]
    return percent(max(gaps)) if gaps else "-"
