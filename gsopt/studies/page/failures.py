"""Failures: the cells without figures, with the line that says why."""

from collections import Counter

from gsopt.schedule.figures import FigureKind
from gsopt.studies.outcome import State
from gsopt.studies.page.table import Head, Table, number, table, text
from gsopt.studies.results import Results

#: Lines of a table; the CSV has them all.
_MOST = 200


def failures(found: Results) -> Table:
    """Return the cells that failed, a line for each."""
    heads = [Head("instance"), Head("method"), Head("seed", number=True), Head("why")]
    lines = (
        [
            text(str(row.labels.instance)),
            text(str(row.labels.method)),
            number(row.seed, FigureKind.COUNT),
            text(row.outcome.message),
        ]
        for row in found.failed
    )
    return table(heads, lines, most=_MOST)


def unsupported(found: Results) -> Table:
    """Return what methods do not handle, with the number of cells."""
    rows = (row for row in found.rows if row.outcome.state is State.UNSUPPORTED)
    counts = Counter((str(row.labels.method), row.outcome.message) for row in rows)
    heads = [Head("method"), Head("what it does not handle"), Head("cells", number=True)]
    lines = (
        [text(method), text(why), number(count, FigureKind.COUNT)] for (method, why), count in counts.items()
    )
    return table(heads, lines, most=_MOST)
