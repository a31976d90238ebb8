"""What is drawn on a page: figures, runs, and how a picture becomes an element."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import gsopt
from gsopt.core.drawing import new_figure
from gsopt.core.errors import InvalidInput
from gsopt.studies import CellRow, Results, plots, results
from gsopt.studies.page.gantt import find_run, gantts, runs_of
from gsopt.studies.page.pictures import pictures, swept
from gsopt.studies.page.svg import drawing, inline
from gsopt.studies.store import reading
from instances.workloads import poisson
from tests.gsopt.studies.samples import FIGURE_5, fill, found, row, study


def _sweep(*values: float | str, groups: str = "a") -> Results:
    """Return results over an option of a method, and one method without it."""
    rows = []
    for group in groups:
        rows.append(row({"mean_jct": 5.0, "makespan": 9.0}, "fifo", group=group, word=""))
        rows += [
            row({"mean_jct": 1.0, "makespan": 9.0}, "las", group=group, word="", options={"quantum": value})
            for value in values
        ]
    return found(*rows)


def _titles(results: Results, *figures: str) -> list[str]:
    with drawing():
        return [each.title for each in pictures(results, figures) if each.element.startswith("<svg ")]


def test_an_option_is_swept_from_three_numbers_on() -> None:
    """Two values, words, what repeats an experiment, and what varies with something else are no sweep."""
    assert swept(_sweep(1, 2, 3).rows) == ["quantum"]
    assert swept(_sweep(1, 2).rows) == []
    assert swept(_sweep("x", "y", "z").rows) == []
    for name in ("seed", "number", "load"):
        rows = [row({}, instance=str(n), instance_options={name: n}, word="") for n in range(3)]
        assert swept(rows) == (["load"] if name == "load" else [])
    rows = [row({}, group=name, instance_options={"jobs": n}, word="") for n, name in enumerate("abc")]
    assert swept(rows) == []  # values that belong to different groups of instances


def test_usual_figures_are_drawn() -> None:
    """There are dots of the usual figures, and lines of the first ones over what is swept."""
    assert _titles(_sweep(1, 2, 3)) == ["mean JCT", "mean JCT over quantum"]
    assert _titles(_sweep(1, 2, 3), "makespan") == ["makespan", "makespan over quantum"]
    assert _titles(_sweep(1, 2)) == ["mean JCT"]
    assert _titles(found()) == []


def test_far_values_are_on_a_logarithmic_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    """The axis of an option is logarithmic where its values lie far apart, and above zero."""
    kept: list[Any] = []
    panels = plots.panels

    def draw(*args: Any, **options: Any) -> Any:
        kept.append(panels(*args, **options))
        return kept[-1]

    monkeypatch.setattr(plots, "panels", draw)
    for values in ((1, 2, 3), (1, 60, 6000), (0, 60, 6000)):
        _titles(_sweep(*values), "mean_jct")
    assert [figure.get_axes()[0].get_xscale() for figure in kept] == ["linear", "log", "linear"]


def test_what_nobody_could_read_is_not_drawn() -> None:
    """Of hundreds of dots and dozens of panels the page says that they are too many."""
    groups = [f"g{number}" for number in range(130)]
    rows = [row({"mean_jct": 1.0}, method, group=group, word="") for group, method in product(groups, "ab")]
    rows += [
        row({"mean_jct": 1.0}, "c", group=group, word="", options={"x": value})
        for group, value in product(groups[:25], (1, 2, 3))
    ]
    with drawing():
        dots, lines = pictures(found(*rows), ())
    assert (dots.element, dots.remark) == ("", "Not drawn here: it would have 335 dots.")
    assert (lines.element, lines.remark) == ("", "Not drawn here: it would have 25 panels.")


def _kept(folder: Path, **changes: Any) -> tuple[str, Results]:
    fill(folder, study(**changes))
    with reading(folder) as store:
        return store.spec(), results(folder)


def test_runs_are_named_by_method_and_instance() -> None:
    """The name without seed is the first one's; decisions and cells that failed are no runs."""
    rows: list[CellRow] = [
        row({}, "random_order", word="", seed=4),
        row({}, "random_order", word="", seed=5),
        row({}, "fifo", word=""),
        row({}, "greedy"),
        row({}, "srtf", word="", error="Crash"),
    ]
    runs, name = runs_of(found(*rows)), "random_order on suite/1"
    assert list(runs) == [name, f"{name}, seed 4", f"{name}, seed 5", "fifo on suite/1"]
    assert runs[name].seed == 4


def test_a_run_is_drawn(tmp_path: Path) -> None:
    """The chart has the GPUs, the jobs that wait, and what the colours say."""
    entry = {"workload": "batch", "jobs": 5, "gpus": 8}
    spec, kept = _kept(tmp_path, instances=[entry, FIGURE_5], methods=["fifo", "greedy"])
    (name,) = runs_of(kept)
    with drawing():
        (picture,) = gantts(spec, kept, [name])
    assert (picture.title, picture.on_white) == (name, True)
    assert all(f">{text}</text>" in picture.element for text in ("GPU", "jobs waiting", "slowdown"))


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    """A name that is none is told with the first that are, and of how many."""
    loads = {"workload": "poisson", "jobs": 2, "gpus": 8, "load": [1.0, 2.0], "seed": [1, 2]}
    spec, kept = _kept(tmp_path / "a", instances=[loads], methods=["fifo"])
    first, second, third, _ = runs_of(kept)
    with pytest.raises(InvalidInput) as refused, drawing():
        list(gantts(spec, kept, ["fifo"]))
    assert str(refused.value) == (
        f"gantt: 'fifo': must be METHOD on INSTANCE: {first}, {second}, {third}, ... (4 in all)"
    )
    spec, kept = _kept(tmp_path / "b", methods=["greedy"])
    with pytest.raises(InvalidInput, match="must be a policy's run, of which the study has none"), drawing():
        list(gantts(spec, kept, [f"greedy on {FIGURE_5}"]))


def test_a_run_may_be_named_by_what_matters() -> None:
    """Options may be left out and stand in any order where one run is left; of several the error tells some."""
    known = {
        f"fifo on P(jobs=8, load={load}, seed={seed})": row({}, instance=f"{load}{seed}")
        for load, seed in product((1.0, 2.0), (1, 2))
    }
    full = "fifo on P(jobs=8, load=2.0, seed=1)"
    for name in (full, "fifo on P(load=2.0, seed=1)", "fifo on P(seed=1, load=2.0)"):
        assert find_run(name, known) == full
    assert find_run("las on a", {"las(quantum=60) on a(jobs=1)": row({})}) == "las(quantum=60) on a(jobs=1)"
    with pytest.raises(InvalidInput, match=r"is 2 runs: fifo on P\(jobs=8, load=2.0, seed=1\), fifo on P"):
        find_run("fifo on P(load=2.0)", known)
    with pytest.raises(InvalidInput, match=r"must be METHOD on INSTANCE: fifo on P.* \(4 in all\)"):
        find_run("fifo on P(load=3.0)", known)
    drawn = row({}, seed=1)
    runs = {"any on a(jobs=1)": drawn, "any on a(jobs=1), seed 1": drawn, "any on a(jobs=1), seed 2": row({})}
    assert find_run("any on a", runs) == "any on a(jobs=1)"
    assert find_run("any on a, seed 2", runs) == "any on a(jobs=1), seed 2"


def test_another_run_than_the_one_kept_is_refused(tmp_path: Path) -> None:
    """A run whose mean JCT has changed, and one whose file has, are not drawn in place of what was kept."""
    file = tmp_path / "jobs.json"
    gsopt.write(poisson(jobs=3, gpus=8, load=2.0), file)
    spec, kept = _kept(tmp_path / "a", instances=[{"workload": str(file), "gpus": 8}], methods=["fifo"])
    (old,) = kept.rows
    name = f"fifo on {old.labels.instance}"
    other = replace(old, outcome=replace(old.outcome, figures={"mean_jct": 5.0}))
    with pytest.raises(InvalidInput, match=r"is no longer the run in the study: its mean JCT was 5\.0 and is"):
        list(gantts(spec, found(other), [name]))
    gsopt.write(poisson(jobs=4, gpus=8, load=2.0), file)
    with pytest.raises(InvalidInput, match="its instance has changed"):
        list(gantts(spec, kept, [name]))


def _drawn(name: str) -> ET.Element:
    """Draw two lines, a hatched bar, and text that is not in the fonts at hand."""
    figure = new_figure(3, 2)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], marker="o", color="black")
    axes.bar([0], [1], hatch="///", color="#0072B2", edgecolor="black")
    axes.set_title("<b>&\U0001f680 \u5b57")
    with drawing():
        return ET.fromstring(inline(figure, name))  # noqa: S314 - our own


def test_a_picture_is_one_element() -> None:
    """It is well-formed without name spaces, called by its name, and its text is text."""
    root = _drawn('a "title" <x>')
    assert (root.tag, root.attrib["role"], root.attrib["aria-label"]) == ("svg", "img", 'a "title" <x>')
    assert not any(each.tail for each in root.iter())
    assert "<b>&\U0001f680 \u5b57" in {text.text for text in root.iter("text")}
    tags = {"svg", "g", "defs", "path", "use", "text", "clipPath", "rect", "pattern"}
    assert {element.tag for element in root.iter()} <= tags
    names = {name for each in root.iter() for name in each.attrib}
    assert not [name for name in names if name in ("style", "font-family") or "{" in name]


def test_ink_is_that_of_the_page() -> None:
    """What is black is of the colour of text; colours stay, and text has the size that it had."""
    root = _drawn("a")
    colours = {each.attrib.get(name) for each in root.iter() for name in ("fill", "stroke")}
    assert colours >= {"currentColor", "#0072b2", "none"}
    assert "#000000" not in colours
    assert {text.attrib["font-size"] for text in root.iter("text")} == {"10", "12"}


def test_pictures_have_no_ids_in_common() -> None:
    """Ids are made of the name, plain whatever that is, and are those that are used."""
    first, second = _drawn("a b(c)"), _drawn("a b(d)")
    ids = [{each.attrib["id"] for each in root.iter() if "id" in each.attrib} for root in (first, second)]
    assert len(ids[0]) == len(ids[1]) > 0
    assert not ids[0] & ids[1]
    assert all(name.replace("-", "").isalnum() for name in ids[0])
    used = {each.attrib["href"].removeprefix("#") for each in first.iter("use")}
    used |= {each.attrib["clip-path"][5:-1] for each in first.iter() if "clip-path" in each.attrib}
    filled = {each.attrib.get("fill", "") for each in first.iter()}
    used |= {name[5:-1] for name in filled if name.startswith("url")}
    assert used == ids[0]
