"""Runs that are drawn on a page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gsopt
from gsopt.core.errors import InvalidInput
from gsopt.studies import Results, Row, results
from gsopt.studies.page.gantt import gantts, runs_of
from gsopt.studies.page.svg import drawing
from gsopt.studies.store import reading
from instances.workloads import poisson
from tests.gsopt.studies.samples import FIGURE_5, fill, found, row, study


def _kept(folder: Path, **changes: Any) -> tuple[str, Results]:
    fill(folder, study(**changes))
    with reading(folder) as store:
        return store.spec(), results(folder)


def _names(rows: Any) -> list[str]:
    return list(runs_of(found(*rows)))


def test_runs_are_named_by_method_and_instance() -> None:
    """The name without seed is the first one's; decisions and cells that failed are no runs."""
    rows: list[Row] = [
        row({}, "random_order", word="", seed=4),
        row({}, "random_order", word="", seed=5),
        row({}, "fifo", word=""),
        row({}, "greedy"),
        row({}, "srtf", word="", error="Crash"),
    ]
    assert _names(rows) == [
        "random_order on suite/1",
        "random_order on suite/1, seed 4",
        "random_order on suite/1, seed 5",
        "fifo on suite/1",
    ]
    assert runs_of(found(*rows))["random_order on suite/1"].seed == 4


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


def test_another_run_than_the_one_kept_is_refused(tmp_path: Path) -> None:
    """A run whose mean JCT has changed, and one whose file has, are not drawn in place of what was kept."""
    file = tmp_path / "jobs.json"
    gsopt.write(poisson(jobs=3, gpus=8, load=2.0), file)
    spec, kept = _kept(tmp_path / "a", instances=[{"workload": str(file), "gpus": 8}], methods=["fifo"])
    (old,) = kept.rows
    name = f"fifo on {old.labels.instance}"
    other = replace(old, outcome=replace(old.outcome, figures={"mean_jct": 5.0}))
    with pytest.raises(InvalidInput, match=r"is no longer the run that was kept: its mean JCT was 5\.0 and is"):
        list(gantts(spec, found(other), [name]))
    gsopt.write(poisson(jobs=4, gpus=8, load=2.0), file)
    with pytest.raises(InvalidInput, match="its instance is no longer what it was"):
        list(gantts(spec, kept, [name]))
