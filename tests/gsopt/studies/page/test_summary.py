"""What a page says of the results as a whole."""

from dataclasses import replace

from gsopt.studies import Results, State
from gsopt.studies.page.summary import remarks, summary
from gsopt.studies.provenance import Source, StudyRun
from tests.gsopt.studies.samples import found, row

RUN = StudyRun("2026-01-31T12:00:00+00:00", "0.1.0", "3.11.9", "Linux", 2, 2, 4)


def test_a_summary_counts_cells_and_names_days() -> None:
    """It says how many cells have a result, what became of the others, when and by which versions."""
    later = replace(RUN, begun="2026-02-01T08:00:00+00:00")
    rows = [row({"objective": 1}), row({}, error="Crash"), row({}, state=State.UNSUPPORTED)]
    assert summary(found(rows[0], rows[0]), [RUN, RUN]) == (
        "All 2 cells have a result. Computed on 2026-01-31 by gsopt 0.1.0."
    )
    assert summary(Results("a", tuple(rows), 5), [RUN, later]) == (
        "3 of 5 cells have a result, 1 failed and 1 that the method does not handle among them. "
        "Computed from 2026-01-31 to 2026-02-01 by gsopt 0.1.0."
    )


def test_remarks_are_what_a_reader_must_know() -> None:
    """Missing cells, several versions and files that changed are told, and nothing where there is none."""
    whole, sources = found(row({}), row({})), [Source("a", "1"), Source("b", "1")]
    assert list(remarks(whole, sources)) == []
    mixed = Results("a", (row({}), replace(row({}), version="0.2.0")), 3)
    assert list(remarks(mixed, [*sources, Source("b", "2")])) == [
        "1 cell is missing: the study is not finished.",
        "Cells were computed by different versions of gsopt.",
        "b was changed between cells that read it.",
    ]
