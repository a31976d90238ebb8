"""What a page says: the tables, the gaps, where results come from, and the files within it."""

import gzip
import json
import shlex
from base64 import b64decode
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from gsopt.evaluation.tables import written
from gsopt.schedule.figures import FigureKind
from gsopt.studies import CellRow, CellState, Results, report
from gsopt.studies.page.content import (
    Content,
    commands,
    content,
    download,
    failures,
    packages_table,
    remarks,
    runs_table,
    sources_table,
    summary,
    unsupported,
)
from gsopt.studies.page.gaps import decisions
from gsopt.studies.page.svg import drawing
from gsopt.studies.page.table import Entry, Head, table
from gsopt.studies.provenance import ReadFile, StudyRun
from tests.gsopt.studies.samples import FIGURE_5, found, row, study


def _page(results: Results, spec: str) -> Content:
    with drawing():
        return content(results, report(results), spec=spec)


def test_a_large_study_is_cut() -> None:
    """Of thousands of groups the first are shown, and all are in the file of the table."""
    rows = [row({"objective": 1}, group=f"g{number}") for number in range(2005)]
    page = _page(found(*rows), study().model_dump_json())
    (shown,) = page.figures.values()
    assert (len(page.answers), page.unanswered) == (12, 1993)
    assert (len(shown.lines), shown.total) == (2000, 2005)
    (decision,) = page.decisions
    assert (len(decision.by_instance().lines), decision.by_instance().total) == (1000, 2005)
    assert (len(decision.by_cell().lines), decision.by_cell().total) == (1000, 2005)


def test_a_study_is_written_line_by_line() -> None:
    """Each of its keys has a line, and so has each of several instances and methods; nothing is changed."""
    spec = study(instances=[FIGURE_5, {"generator": "reclaiming/churn", "seed": [1, 2]}]).model_dump_json()
    page = _page(found(row({"objective": 1})), spec)
    assert json.loads("\n".join(page.spec)) == json.loads(spec)
    begins = ['{"study": "t', '"instances":', '"reclaiming/', '{"generator"']
    assert [line.strip()[:12] for line in page.spec[:4]] == begins


RUN = StudyRun("2026-01-31T12:00:00+00:00", "0.1.0", "3.11.9", "Linux", 2, 2, 4)


def test_a_summary_counts_cells_and_names_days() -> None:
    """It says how many cells have a result, what became of the others, when and by which versions."""
    later = replace(RUN, begun="2026-02-01T08:00:00+00:00")
    rows = [row({"objective": 1}), row({}, error="Crash"), row({}, state=CellState.UNSUPPORTED)]
    assert summary(found(rows[0], rows[0]), [RUN, RUN]) == (
        "All 2 cells have a result. Computed on 2026-01-31 by gsopt 0.1.0."
    )
    assert summary(Results("a", tuple(rows), 5), [RUN, later]) == (
        "3 of 5 cells have a result, 1 failed and 1 that the method does not handle among them. "
        "Computed from 2026-01-31 to 2026-02-01 by gsopt 0.1.0."
    )


def test_remarks_are_what_a_reader_must_know() -> None:
    """Missing cells, several versions and files that changed are told, and nothing where there is none."""
    whole, sources = found(row({}), row({})), [ReadFile("a", "1"), ReadFile("b", "1")]
    assert list(remarks(whole, sources)) == []
    mixed = Results("a", (row({}), replace(row({}), version="0.2.0")), 3)
    assert list(remarks(mixed, [*sources, ReadFile("b", "2")])) == [
        "1 cell is missing: the study is not finished.",
        "Cells were computed by different versions of gsopt.",
        "b was changed between cells that read it.",
    ]


def test_every_failure_has_its_line() -> None:
    """A failed cell has a line with seed and message; of those not handled there is one for each reason."""
    rows = [
        row({}, "greedy", seed=1, error="InvalidInput", message="demand: -1: must be at least 0"),
        row({}, "exact", state=CellState.UNSUPPORTED, message="no"),
        row({"objective": 1}, "exact"),
    ]
    assert _texts(failures(found(*rows)).lines) == [
        ["suite/1", "greedy", "1", "demand: -1: must be at least 0"]
    ]
    rows = [
        row({}, method, instance=str(place), state=CellState.UNSUPPORTED, message=why)
        for place, (method, why) in enumerate([("a", "x"), ("a", "x"), ("a", "y"), ("b", "x")])
    ]
    assert _texts(unsupported(found(*rows)).lines) == [["a", "x", "2"], ["a", "y", "1"], ["b", "x", "1"]]


def _decided(method: str, value: float, bound: float | None = None, **changes: Any) -> CellRow:
    figures = {"objective": value, "bound": bound, "proven_bound": 2, "gap": value / 2 - 1, "unit": "servers"}
    return row({**figures, **changes.pop("figures", {})}, method, **changes)


def _texts(lines: Any) -> list[list[str]]:
    return [[entry.text for entry in line] for line in lines]


def test_an_instance_has_one_line() -> None:
    """It has the best value, the bound, the first who proved it, and the mean gap of each method."""
    rows = [
        _decided("greedy", 3, seed=0),
        _decided("greedy", 4, seed=1),
        _decided("relaxed", 5, 1),
        _decided("exact", 2, 2, figures={"solver": "highs"}),
        _decided("other", 2, 2),
        _decided("greedy", 3, instance="b"),
    ]
    (decision,) = decisions(found(*rows))
    made = decision.by_instance()
    assert (decision.title, decision.repeats) == ("reclaiming: servers", True)
    assert [head.title for head in made.heads[4:]] == ["greedy", "relaxed", "exact", "other"]
    assert _texts(made.lines) == [
        ["suite/1", "2", "2", "exact, highs", "75.0 %", "150.0 %", "0.0 %", "0.0 %"],
        ["b", "3", "2", "-", "50.0 %", "-", "-", "-"],
    ]
    assert made.lines[0][4].value == 0.75


def test_the_best_value_is_the_largest_where_that_is_better() -> None:
    """A decision that maximizes has its largest value in the line."""
    rows = [_decided(method, value, figures={"sense": "maximize"}) for method, value in (("a", 1), ("b", 7))]
    (decision,) = decisions(found(*rows))
    assert decision.by_instance().lines[0][1].text == "7"


def test_every_cell_has_its_bound() -> None:
    """Policies have their mean JCT, and the word for what proves their bound; cells without figures no line."""
    figures = {"mean_jct": 30.0, "lower_bound": 20.0, "gap": 0.5, "proof": "prices"}
    rows = [
        row(figures, "fifo", word="", seed=3),
        row({"mean_jct": 30.0, "lower_bound": None, "gap": None, "proof": ""}, "las", word="", instance="b"),
        row({}, "srtf", word="", error="Crash"),
        row({}, "srtf", word="", state=CellState.UNSUPPORTED),
        _decided("exact", 2, 2),
    ]
    policies, reclaiming = decisions(found(*rows))
    assert policies.title == "policies: mean JCT"
    assert not policies.repeats
    assert _texts(policies.by_cell().lines) == [
        ["suite/1", "fifo", "3", "30", "20", "prices", "50.0 %", "0.1"],
        ["b", "las", "-", "30", "-", "-", "-", "0.1"],
    ]
    assert len(reclaiming.by_cell().lines) == 1


def test_runs_packages_and_sources_have_a_line_each() -> None:
    """A run says when, what and on what it computed; packages have all versions, and files their digests."""
    packages = {"numpy": "2.0", "scipy": "1.0"}, {"numpy": "2.0", "scipy": "1.1", "numba": "0.6"}
    runs = [replace(RUN, cpus=None, details={"packages": each}) for each in packages]
    line = ["2026-01-31 12:00 UTC", "4", "0.1.0", "3.11.9", "Linux", "-", "2"]
    assert _texts(runs_table(runs).lines) == [line, line]
    assert _texts(packages_table(runs).lines) == [["numpy", "2.0"], ["scipy", "1.0, 1.1"], ["numba", "0.6"]]
    assert _texts(sources_table([ReadFile("a", "1"), ReadFile("a", "2")]).lines) == [["a", "1"], ["a", "2"]]


def test_commands_survive_any_name() -> None:
    """What a shell reads is what was given, whatever is in it."""
    name = 'a\' b$(c) "d" on x;y'
    _, line = commands({"--figure": ["mean_jct"], "--gantt": [name, "b"]})
    assert shlex.split(line)[6:] == ["--figure", "mean_jct", "--gantt", name, "--gantt", "b"]
    allowed = commands({"--allow": ["my_module"]})
    assert [shlex.split(line)[6:] for line in allowed] == [["--allow", "my_module"]] * 2


def test_each_decision_has_its_cells() -> None:
    """Cells are sorted by decision, those that failed too, and policies are one more."""
    rows = [row({}, word="placement"), row({}, word=""), row({}, word="placement", error="Crash")]
    parts = found(*rows).by_decision()
    several = {name: part.rows for name, part in parts.items()}
    assert several == {"placement": (rows[0], rows[2]), "policies": (rows[1],)}
    assert [part.missing for part in parts.values()] == [0, 0]
    parts = replace(found(*rows), total=5).by_decision()
    assert [(part.total, part.missing) for part in parts.values()] == [(4, 2), (3, 2)]


def test_times_are_in_one_unit_that_is_named() -> None:
    """The longest time of a column decides on its unit, which a bound shares with its value."""
    heads = [
        Head("mean JCT [s]", FigureKind.SECONDS),
        Head("bound", FigureKind.SECONDS, like="mean JCT [s]"),
        Head("run time [s]", FigureKind.SECONDS),
    ]
    made = table(heads, [(36_000.0, 60.0, 2.0), (None, 60.0, None)], most=2)
    assert [head.title for head in made.heads] == ["mean JCT [h]", "bound", "run time [s]"]
    assert _texts(made.lines) == [["10", "0.01667", "2"], ["-", "0.01667", "-"]]
    assert made.lines[0][0].value == 36_000.0


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_table_counts_what_it_leaves_out(count: int) -> None:
    """No more lines are kept than there is room for, the first ones, and all are counted."""
    found = table([Head("name")], ([f"a{place}"] for place in range(count)), most=2)
    assert [line[0].text for line in found.lines] == ["a0", "a1"][:count]
    assert found.total == count


def test_numbers_are_written_as_in_other_tables() -> None:
    """An entry has the text of every other table, and the exact number beside it."""
    heads = [Head("a", FigureKind.RATIO), Head("b", FigureKind.SECONDS), Head("c", FigureKind.SHARE)]
    (line,) = table(heads, [(Fraction(1, 3), 1234567.89, None)], most=1).lines
    third = Entry(written(1 / 3, FigureKind.RATIO), 1 / 3)
    assert line == (third, Entry("14.29", 1234567.89), Entry("-"))


def test_a_download_is_the_file() -> None:
    """A small file stands there as it is, a large one compressed, without the time at which that was done."""
    for text, name in (("Größe,\ud800\n", "a.csv"), ("0123456789\n" * 10**5, "a.csv.gz")):
        made = download("a.csv", "text/csv", text)
        kind, _, content = made.address.partition(",")
        data = b64decode(content)
        packed = made.name.endswith(".gz")
        wanted = f"data:{'application/gzip' if packed else 'text/csv'}"
        assert (made.name, kind.partition(";")[0]) == (name, wanted)
        assert (gzip.decompress(data) if packed else data).decode() == text.replace("\ud800", "\\ud800")
        assert not packed or data[4:8] == bytes(4)
