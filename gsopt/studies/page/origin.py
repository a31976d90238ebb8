"""Origin: when, where, with what and from what a study was computed, and how to do so once more."""

from collections.abc import Mapping, Sequence
from shlex import quote

from gsopt.schedule.figures import FigureKind
from gsopt.studies.page.table import Head, Table, number, table, text
from gsopt.studies.provenance import Source, StudyRun

#: Lines of a table.
_MOST = 1000


def runs_table(runs: Sequence[StudyRun]) -> Table:
    """Return a line per run: when it began, and what it computed on."""
    heads = [
        Head("begun"),
        Head("cells", number=True),
        Head("gsopt"),
        Head("Python"),
        Head("machine"),
        Head("CPUs", number=True),
        Head("workers", number=True),
    ]
    lines = (
        [
            text(_moment(run)),
            number(run.cells, FigureKind.COUNT),
            text(run.version),
            text(run.python),
            text(run.machine),
            number(run.cpus, FigureKind.COUNT),
            number(run.workers, FigureKind.COUNT),
        ]
        for run in runs
    )
    return table(heads, lines, most=_MOST)


def packages_table(runs: Sequence[StudyRun]) -> Table:
    """Return the versions of packages, each of which some run had."""
    versions: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, version in run.packages.items():
            versions.setdefault(name, {})[version] = None
    heads = [Head("package"), Head("version")]
    lines = ([text(name), text(", ".join(found))] for name, found in versions.items())
    return table(heads, lines, most=_MOST)


def sources_table(sources: Sequence[Source]) -> Table:
    """Return the files that instances were read from."""
    lines = ([text(source.path), text(source.digest)] for source in sources)
    return table([Head("file"), Head("SHA-256")], lines, most=_MOST)


def commands(options: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    r"""Return what to type to compute a study and to make its page once more, with the page's own options."""
    further = "".join(f" {name} {quote(value)}" for name, values in options.items() for value in values)
    return (
        "gsopt study run study.json --out results",
        f"gsopt study report results --out report.html{further}",
    )


def _moment(run: StudyRun) -> str:
    day, _, time = run.begun.partition("T")
    return f"{day} {time[:5]} UTC" if time else day
