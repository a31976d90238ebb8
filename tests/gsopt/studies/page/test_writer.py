"""A study's folder as one page, which is read the way a browser does."""

import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import Contradiction, InvalidInput
from gsopt.studies import Results, cells_of, report, results, write_page
from gsopt.studies.page import writer
from gsopt.studies.rows import CellOutcome, CellState
from gsopt.studies.store import writing
from tests.gsopt.studies.samples import FIGURE_5, fill, study

#: Elements that have no end.
_VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text within."""
        return "".join(self.pieces)

    def all(self, *tags: str) -> list["Element"]:
        """Return the elements within that have one of the tags; any, if none is named."""
        found = [child for child in self.children if not tags or child.tag in tags]
        return found + [each for child in self.children for each in child.all(*tags)]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        assert len(attrs) == len(element.attributes), f"an attribute of {tag} stands there twice"
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"{tag} ends within {self.open[-1].tag}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)


def parsed(html: str) -> Element:
    """Read a page, whose elements must be nested rightly."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    (root,) = parser.open
    return root


def lines_of(table: Element) -> list[list[str]]:
    """Return the texts of a table, its head first."""
    return [[cell.text for cell in line.all("th", "td")] for line in table.all("tr")]


#: Names that would be more than text in HTML, in a script, in an attribute, in a template or in a picture.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)" x="',
    "{{ 7 * 7 }} {% raise %}",
    "$\\foo{$ $x$",
    "_hidden",
    "two\nlines \x07\x1b[31m",
    "\u202ertl שלום \U0001f469\u200d\U0001f680",
    "L" * 200,
]

POISSON = {"label": "Poisson", "workload": "poisson", "jobs": 12, "gpus": 4, "load": [0.5, 1.0, 2.0]}
LAS = {"label": "LAS", "policy": "las", "quantum": [60, 600, 6000]}


def _page(folder: Path, **options: Any) -> Element:
    """Return the page of a folder."""
    write_page(folder, folder / "report.html", **options)
    return parsed((folder / "report.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a study of policies over two options, and of a decision."""
    home = tmp_path_factory.mktemp("study")
    grid = study(instances=[POISSON, FIGURE_5], methods=["fifo", LAS, "random_order", "greedy", "exact"])
    fill(home, grid.model_copy(update={"seeds": (0, 1)}))
    return home


@pytest.fixture(scope="module")
def page(folder: Path) -> Element:
    """Return the page of that study, with a chart of a run."""
    return _page(folder, gantts=["fifo on Poisson(load=2.0)"])


def test_nothing_leaves_the_page(page: Element) -> None:
    """No element names anything outside; only the page's own script and style are allowed and there."""
    addresses = [
        value
        for element in page.all()
        for name, value in element.attributes.items()
        if name in ("src", "href", "action", "srcset", "poster", "data", "background", "xlink:href")
    ]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    style, script = (page.all(tag) for tag in ("style", "script"))
    assert (len(style), len(script)) == (1, 1)
    assert "url(" not in style[0].text
    assert "@import" not in style[0].text
    (policy,) = [each.attributes["content"] for each in page.all("meta") if "http-equiv" in each.attributes]
    hashes = [b64encode(sha256(element.text.encode()).digest()).decode() for element in (style[0], script[0])]
    assert policy.startswith(
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:;"
    )
    names = {name for element in page.all() for name in element.attributes}
    assert not [name for name in names if name == "style" or name.startswith("on")]


def test_ids_are_unique_and_found(page: Element) -> None:
    """No two elements have an id in common, and whatever is referred to by its id is there."""
    ids = Counter(each.attributes["id"] for each in page.all() if "id" in each.attributes)
    values = [value for element in page.all() for value in element.attributes.values()]
    named = {found[1] for value in values if (found := re.fullmatch(r"url\(#(.+)\)", value))}
    links = {element.attributes.get("href", "") for element in page.all("use")}
    assert set(ids.values()) == {1}
    assert named | {link.removeprefix("#") for link in links} == ids.keys()
    assert named
    assert links
    assert len(page.all("svg")) > 5


def test_tables_have_heads(page: Element) -> None:
    """Every table has a head of its columns, and lines as wide as it."""
    assert len(page.all("table")) >= 7
    for table in page.all("table"):
        (head,) = table.all("thead")
        assert {cell.attributes["scope"] for cell in head.all("th")} == {"col"}
        widths = {len(line.all("td")) for body in table.all("tbody") for line in body.all("tr")}
        assert widths == {len(head.all("th"))}


def figures_of(page: Element) -> Element:
    """Return the part of a page that has the tables of figures."""
    (found,) = (each for each in page.all("div") if each.attributes.get("class") == "tables")
    return found


def test_it_opens_with_the_answers(page: Element) -> None:
    """Each group has a sentence, a ranking and a picture before any other table."""
    articles = page.all("article")
    groups = [*(f"policies: Poisson(load={load})" for load in (0.5, 1.0, 2.0)), FIGURE_5]
    assert [each.all("h2")[0].text for each in articles] == groups
    assert all(each.all("table") and each.all("svg") for each in articles)
    assert articles[-1].all("p")[0].text == "greedy and exact are equally good: proven optimal."
    assert [each.text for each in page.all("h2")][4:6] == ["Figures", "Pictures"]


def test_figures_are_those_of_the_report(folder: Path, page: Element) -> None:
    """Each group has the lines of `gsopt study table`, which sort by the exact numbers."""
    shown = figures_of(page)
    titles = [*(f"policies: Poisson(load={load})" for load in (0.5, 1.0, 2.0)), FIGURE_5]
    assert [each.text for each in shown.all("h3")] == titles
    lines = [line for table in shown.all("table") for line in table.all("tr")[1:]]
    made = [line for part in results(folder).by_decision().values() for line in report(part).lines]
    values = [
        [json.loads(cell.attributes.get("data-value", "null")) for cell in line.all("td")] for line in lines
    ]
    assert [line[1:] for line in values] == [list(line[2:]) for line in made]
    assert [line.all("td")[0].text for line in lines] == [line[1] for line in made]


def test_chosen_figures_are_shown_and_drawn(folder: Path) -> None:
    """With figures the tables have these, and so have pictures: dots, and lines over every swept option."""
    page = _page(folder, figures=["makespan"])
    heads = [lines_of(table)[0] for table in figures_of(page).all("table")]
    assert [head[:2] for head in heads] == [["method", "cells"]] * 3
    assert all(head[2].startswith("makespan [") for head in heads)
    titles = [each.text for each in page.all("figcaption")]
    assert titles == [f"policies: makespan{over}" for over in ("", " over load", " over quantum")]


def test_gaps_stand_by_their_bounds(folder: Path, page: Element) -> None:
    """Every cell is there with its value, its bound, who proves it, and the gap."""
    known = {each.all("summary")[0].text: each for each in page.all("details")}
    titles = ("policies: mean JCT", "reclaiming: preemptions")
    assert list(known)[:4] == [
        f"{title}: {what}" for title in titles for what in ("gaps by instance", "every cell")
    ]
    cells = lines_of(known["reclaiming: preemptions: every cell"])
    assert [line[:-1] for line in cells[1:]] == [
        [FIGURE_5, *method, "1", "1", "exact, decomposition", "0.0 %"]
        for method in (("greedy", "0"), ("greedy", "1"), ("exact", "-"))
    ]
    runs = lines_of(known["policies: mean JCT: every cell"])
    assert len(runs) == 1 + sum(not row.word for row in results(folder))


def test_it_says_what_was_run(folder: Path, page: Element) -> None:
    """The study, its files and the commands are there, and the downloads are what they are called."""
    files = {each.attributes["download"]: each.attributes["href"] for each in page.all("a")}
    contents = {name: b64decode(address.partition(",")[2]).decode() for name, address in files.items()}
    found = results(folder)
    assert list(contents) == ["study.json", "table.csv", "cells.csv"]
    assert json.loads(contents["study.json"])["seeds"] == [0, 1]
    assert (contents["table.csv"], contents["cells.csv"]) == (report(found).csv(), found.to_csv())
    commands, spec = (each.text.strip("\n") for each in page.all("pre"))
    assert spec == contents["study.json"]
    assert commands.splitlines() == [
        "gsopt study run study.json --out results",
        "gsopt study report results --out report.html --gantt 'fifo on Poisson(load=2.0)'",
    ]
    digest = sha256(Path("instances", f"{FIGURE_5}.json").read_bytes()).hexdigest()
    assert [f"instances/{FIGURE_5}.json", digest] in lines_of(page.all("table")[-1])


def test_the_same_results_are_the_same_page(tmp_path: Path) -> None:
    """A page holds nothing of the moment at which it is made."""
    fill(tmp_path, study())
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    for path in (first, second):
        write_page(tmp_path, path, figures=["objective"])
    assert first.read_bytes() == second.read_bytes()
    assert b"<svg " in first.read_bytes()


def test_names_are_text(tmp_path: Path) -> None:
    """Whatever an entry, a study or an error is called, the page shows it and has no further element."""
    plain_names = [f"instance {place}" for place in range(len(HOSTILE))]
    shapes = []
    for place, (name, labels) in enumerate([(HOSTILE[0], HOSTILE), ("plain", plain_names)]):
        workloads = [
            {"label": label, "workload": "batch", "jobs": 3 + number, "gpus": 8}
            for number, label in enumerate(labels)
        ]
        policies = [
            {"label": label, "policy": way} for label, way in zip(labels, ("fifo", "srtf"), strict=False)
        ]
        grid = study(study=name, instances=workloads, methods=policies)
        with writing(tmp_path / str(place)) as store:
            cells = cells_of(grid)
            store.adopt(grid, cells, 1)
            for number, cell in enumerate(cells):
                done = CellOutcome(CellState.DONE, {"mean_jct": 5.0, "gap": 0.1}, 0.1)
                failed = CellOutcome(CellState.FAILED, {}, 0.1, HOSTILE[0], "Crash")
                store.commit(cell, done if number else failed)
        shapes.append(_page(tmp_path / str(place)))
    hostile, plain = shapes
    kinds = [Counter(each.tag for each in page.all() if each.tag in ("script", "img", "a")) for page in shapes]
    assert kinds[0] == kinds[1] == {"script": 1, "a": 3}
    attributes = [{name for each in page.all() for name in each.attributes} for page in shapes]
    assert attributes[0] == attributes[1]
    assert [each.text for each in hostile.all("title", "h1")] == [HOSTILE[0]] * 2
    shown = {each.text for each in figures_of(hostile).all("h3")}
    assert shown >= {*HOSTILE[:6], "two\\nlines \\x07\\x1b[31m", HOSTILE[-1]}
    assert "\\u202ertl שלום \U0001f469\\u200d\U0001f680" in shown
    assert plain.all("title")[0].text == "plain"


def test_contradictions_are_refused(tmp_path: Path) -> None:
    """A page of results that contradict each other is not written."""
    (cell,) = cells_of(study(methods=["exact"]))
    with writing(tmp_path) as store:
        store.adopt(study(), [cell], 1)
        liar = {"objective": 1, "bound": 2, "resolution": 0, "sense": "minimize"}
        store.commit(cell, CellOutcome(CellState.DONE, liar, 0.1))
    with pytest.raises(Contradiction):
        write_page(tmp_path, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_study_without_results_has_a_page(tmp_path: Path) -> None:
    """Before the first cell is finished the page says how many are missing."""
    with writing(tmp_path) as store:
        store.adopt(study(), cells_of(study()), 1)
    page = _page(tmp_path)
    assert "0 of 2 cells have a result." in page.text
    assert "2 cells are missing: the study is not finished." in page.text
    assert page.all("svg") == []


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_what_is_not_installed_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Without one of the packages of the extra a line says what to install."""
    monkeypatch.setattr(
        "gsopt.evaluation.listing.find_spec", lambda name: None if name == package else object()
    )
    with pytest.raises(InvalidInput, match=rf"page: needs {package}: pip install .*{package}"):
        write_page(folder, folder / "none.html")
    assert not (folder / "none.html").exists()


def test_what_is_missing_in_a_template_is_no_blank() -> None:
    """A page without a part that its template names is an error, and no page with a hole."""
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        writer.html_of(Results("a", (), 0))  # type: ignore[arg-type]  # which has no summary
