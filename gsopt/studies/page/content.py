"""Content: everything that a study's page says, in the order in which it stands there."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gsopt.studies.page.download import Download, download
from gsopt.studies.page.failures import failures, unsupported
from gsopt.studies.page.gaps import Decision, decisions
from gsopt.studies.page.origin import commands, packages_table, runs_table, sources_table
from gsopt.studies.page.parts import parts
from gsopt.studies.page.pictures import Picture
from gsopt.studies.page.summary import remarks, summary
from gsopt.studies.page.table import Entry, Head, Table, table
from gsopt.studies.provenance import Source, StudyRun
from gsopt.studies.report import Report, cells_csv, numeric_figures, report
from gsopt.studies.results import Results

#: Lines of the table of figures.
_MOST = 2000


@dataclass(frozen=True)
class Content:
    """What a page says.

    Attributes
    ----------
    title
        Name of the study.
    summary
        What came of it, in a sentence or two.
    remarks
        What a reader must know before the numbers.
    figures
        The table of figures by group and method, of each decision by its name.
    decisions
        The cells with their gaps, decision by decision.
    pictures, gantts
        What is drawn of the figures, and of runs.
    failures, unsupported
        The cells that failed, and those that their methods do not handle.
    spec
        The study as JSON, line by line.
    runs, packages, sources
        When and where cells were computed, with which versions, from which files.
    commands
        What to type to compute it all once more, line by line.
    downloads
        The study and its results as files.
    """

    title: str
    summary: str
    remarks: tuple[str, ...]
    figures: Mapping[str, Table]
    decisions: tuple[Decision, ...]
    pictures: tuple[Picture, ...]
    gantts: tuple[Picture, ...]
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
    figures: Sequence[str],
    spec: str,
    runs: Sequence[StudyRun],
    sources: Sequence[Source],
    pictures: Sequence[Picture],
    gantts: Sequence[Picture],
    options: Mapping[str, Sequence[str]],
) -> Content:
    """Put together what a page says.

    Parameters
    ----------
    found, whole
        The results, and the table of all of them.
    figures
        The figures that are shown; the usual ones if none is given.
    spec, runs, sources
        Where they come from.
    pictures, gantts
        What is drawn.
    options
        Those of the command that makes the page.
    """
    pretty = _pretty(json.loads(spec))
    return Content(
        title=found.study,
        summary=summary(found, runs),
        remarks=tuple(remarks(found, sources)),
        figures=dict(_figures(found, figures)),
        decisions=tuple(decisions(found)),
        pictures=tuple(pictures),
        gantts=tuple(gantts),
        failures=failures(found),
        unsupported=unsupported(found),
        spec=tuple(pretty.splitlines()),
        runs=runs_table(runs),
        packages=packages_table(runs),
        sources=sources_table(sources),
        commands=commands(options),
        downloads=(
            download("study.json", "application/json", pretty),
            download("table.csv", "text/csv", whole.csv()),
            download("cells.csv", "text/csv", cells_csv(found)),
        ),
    )


def _pretty(spec: Mapping[str, Any]) -> str:
    """Write a study with one line for each of its keys, instances and methods."""
    return "{" + ",\n ".join(f"{json.dumps(key)}: {_block(value)}" for key, value in spec.items()) + "}"


def _block(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return "[\n  " + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def _figures(found: Results, figures: Sequence[str]) -> Iterator[tuple[str, Table]]:
    """Yield the table of each decision that has some of the figures."""
    for name, part in parts(found).items():
        known = numeric_figures(part.rows)
        wanted = [key for key in figures if key in known]
        if wanted or not figures:
            yield name, _figures_table(report(part, figures=wanted))


def _figures_table(made: Report) -> Table:
    heads = [Head(title, number=place >= len(made.names)) for place, title in enumerate(made.titles)]
    lines = (
        [
            Entry(shown, value if head.number else None)
            for head, value, shown in zip(heads, line, texts, strict=True)
        ]
        for line, texts in zip(made.lines, made.written(), strict=True)
    )
    return table(heads, lines, most=_MOST)
