"""Content: all content of a study's page."""

import gzip
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

from gsopt.schedule.figures import FigureKind
from gsopt.studies.page.answers import MOST_ANSWERS, Answer, answers, overall, rankings, titled
from gsopt.studies.page.gaps import Decision, decisions
from gsopt.studies.page.pictures import PagePicture
from gsopt.studies.page.table import Head, Table, table
from gsopt.studies.provenance import ReadFile, StudyRun
from gsopt.studies.report import Report, numeric_figures, report
from gsopt.studies.results import Results
from gsopt.studies.rows import CellState

#: Maximum number of lines in the table of figures, in tables of cells without figures, and in other tables. The
#: CSV file contains all lines.
_MOST_FIGURES, _MOST_FAILURES, _MOST = 2000, 200, 1000

#: Size in bytes above which a file is compressed, so that a page of a large study stays small.
_LARGE = 2**20

_COUNT = FigureKind.COUNT

#: Beginning of the title of a bound. The title of the bounded figure, which has the same unit, follows.
_BOUND_ON = "bound on "


class Download(NamedTuple):
    """A file embedded in a page: the name under which it is saved, and its content as a ``data:`` URL."""

    name: str
    address: str


@dataclass(frozen=True)
class Content:
    """The content of a page."""

    title: str
    summary: str
    remarks: tuple[str, ...]
    overall: str
    answers: tuple[Answer, ...]
    unanswered: int  # number of further groups of instances
    figures: Mapping[str, Table]  # by title: one per group, or one per decision with many groups
    decisions: tuple[Decision, ...]
    pictures: Sequence[PagePicture]
    gantts: Sequence[PagePicture]
    failures: Table
    unsupported: Table
    spec: tuple[str, ...]
    runs: Table
    packages: Table
    sources: Table
    commands: tuple[str, ...]
    downloads: tuple[Download, ...]


def content(
    found: Results,
    whole: Report,
    *,
    figures: Sequence[str] = (),
    spec: str,
    runs: Sequence[StudyRun] = (),
    sources: Sequence[ReadFile] = (),
    pictures: Sequence[PagePicture] = (),
    gantts: Sequence[PagePicture] = (),
    options: Mapping[str, Sequence[str]] | None = None,
) -> Content:
    """Return the content of a page about results.

    `whole` is the full table of the results. `figures` are the figures to show, by default those of
    `gsopt.studies.report.headline`. `options` are the options of the command that writes the page. Call this
    inside `gsopt.studies.page.svg.drawing`.
    """
    pretty = _pretty(json.loads(spec))
    found_answers = tuple(answers(found))
    return Content(
        title=found.study,
        summary=summary(found, runs),
        remarks=tuple(remarks(found, sources)),
        overall=overall(found),
        answers=found_answers,
        unanswered=len(rankings(found)) - len(found_answers),
        figures=dict(_figures(found, figures)),
        decisions=tuple(decisions(found)),
        pictures=pictures,
        gantts=gantts,
        failures=failures(found),
        unsupported=unsupported(found),
        spec=tuple(pretty.splitlines()),
        runs=runs_table(runs),
        packages=packages_table(runs),
        sources=sources_table(sources),
        commands=commands(options or {}),
        downloads=(
            download("study.json", "application/json", pretty),
            download("table.csv", "text/csv", whole.csv()),
            download("cells.csv", "text/csv", found.to_csv()),
        ),
    )


def summary(found: Results, runs: Sequence[StudyRun]) -> str:
    """Return one or two sentences on the number of finished cells, the dates and the versions."""
    count = f"{len(found):,} of {found.total:,}" if found.missing else f"All {found.total:,}"
    states = Counter(row.outcome.state for row in found.rows)
    kinds = ((CellState.FAILED, "failed"), (CellState.UNSUPPORTED, "that the method does not handle"))
    parts = [f"{states[state]:,} {word}" for state, word in kinds if states[state]]
    beside = f", {' and '.join(parts)} among them" if parts else ""
    sentences = [f"{count} cells have a result{beside}."]
    if runs:
        first, last = (run.begun.partition("T")[0] for run in (runs[0], runs[-1]))
        days = f"on {first}" if first == last else f"from {first} to {last}"
        sentences.append(f"Computed {days} by gsopt {', '.join(found.versions)}.")
    return " ".join(sentences)


def remarks(found: Results, sources: Sequence[ReadFile]) -> Iterator[str]:
    """Yield the remarks that a reader should see before the numbers."""
    if found.missing:
        cells = "1 cell is" if found.missing == 1 else f"{found.missing:,} cells are"
        yield f"{cells} missing: the study is not finished."
    if len(found.versions) > 1:
        yield "Cells were computed by different versions of gsopt."
    for path, contents in Counter(source.path for source in sources).items():
        if contents > 1:
            yield f"{path} was changed between cells that read it."


def failures(found: Results) -> Table:
    """Return a table with one line per failed cell."""
    heads = [Head("instance"), Head("method"), Head("seed", _COUNT), Head("why")]
    lines = (
        (str(row.labels.instance), str(row.labels.method), row.seed, row.outcome.message)
        for row in found.failed
    )
    return table(heads, lines, most=_MOST_FAILURES)


def unsupported(found: Results) -> Table:
    """Return a table of the reasons why methods do not handle instances, and the number of cells for each."""
    rows = (row for row in found.rows if row.outcome.state is CellState.UNSUPPORTED)
    counts = Counter((str(row.labels.method), row.outcome.message) for row in rows)
    heads = [Head("method"), Head("what it does not handle"), Head("cells", _COUNT)]
    return table(heads, ((*pair, count) for pair, count in counts.items()), most=_MOST_FAILURES)


def runs_table(runs: Sequence[StudyRun]) -> Table:
    """Return a table with one line per run: its start, versions and machine."""
    heads = [
        Head("begun"),
        Head("cells", _COUNT),
        Head("gsopt"),
        Head("Python"),
        Head("machine"),
        Head("CPUs", _COUNT),
        Head("workers", _COUNT),
    ]
    lines = (
        (_moment(run), run.cells, run.version, run.python, run.machine, run.cpus, run.workers) for run in runs
    )
    return table(heads, lines, most=_MOST)


def packages_table(runs: Sequence[StudyRun]) -> Table:
    """Return a table of packages, with all the versions that runs used."""
    versions: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, version in run.packages.items():
            versions.setdefault(name, {})[version] = None
    lines = ((name, ", ".join(found)) for name, found in versions.items())
    return table([Head("package"), Head("version")], lines, most=_MOST)


def sources_table(sources: Sequence[ReadFile]) -> Table:
    """Return a table of the files from which instances were read."""
    lines = ((source.path, source.digest) for source in sources)
    return table([Head("file"), Head("SHA-256")], lines, most=_MOST)


def commands(options: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the commands that compute the study again and write its page with the same options."""
    further = "".join(f" {name} {quote(value)}" for name, values in options.items() for value in values)
    allowed = "".join(f" --allow {quote(value)}" for value in options.get("--allow", ()))
    return (
        f"gsopt study run study.json --out results{allowed}",
        f"gsopt study report results --out report.html{further}",
    )


def download(name: str, kind: str, text: str) -> Download:
    """Return text as a file to embed in a page, compressed if it is large."""
    data = text.encode("utf-8", errors="backslashreplace")
    if len(data) <= _LARGE:
        return Download(name, f"data:{kind};charset=utf-8;base64,{b64encode(data).decode()}")
    packed = gzip.compress(data, mtime=0)  # without the time, the same results are the same page
    return Download(f"{name}.gz", f"data:application/gzip;base64,{b64encode(packed).decode()}")


def _figures(found: Results, figures: Sequence[str]) -> Iterator[tuple[str, Table]]:
    """Yield tables of the figures with their titles: one per group, or one per decision with many groups."""
    parts = found.by_decision()
    for name, part in parts.items():
        known = numeric_figures(part.rows)
        wanted = [key for key in figures if key in known]
        if wanted or not figures:
            made = report(part, figures=wanted)
            heads = [
                Head(title, kind, like=title.removeprefix(_BOUND_ON))
                for title, kind in zip(made.titles, made.kinds, strict=True)
            ]
            groups: dict[str, list[tuple[Any, ...]]] = {}
            for group, *values in made.lines:
                groups.setdefault(group, []).append(tuple(values))
            if len(groups) > MOST_ANSWERS:
                yield name, table(heads, made.lines, most=_MOST_FIGURES)
            else:
                for group, lines in groups.items():
                    title = titled(name if len(parts) > 1 else "", group)
                    yield title, table(heads[1:], lines, most=_MOST)


def _pretty(spec: Mapping[str, Any]) -> str:
    """Return a study as JSON with one line for each key, instance and method."""
    return "{" + ",\n ".join(f"{json.dumps(key)}: {_block(value)}" for key, value in spec.items()) + "}"


def _block(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return "[\n  " + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def _moment(run: StudyRun) -> str:
    day, _, time = run.begun.partition("T")
    return f"{day} {time[:5]} UTC" if time else day
