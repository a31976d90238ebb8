"""The pictures of runs on a page and as files."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.simulation.plots import overview, save
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.plots.samples import large, schedule_of, small

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def test_chart_and_queue_share_the_axis_of_time() -> None:
    """Both show the same hours, and the title stands above."""
    run = large()
    upper, lower = overview(schedule_of(run), run.scenario, colour="waiting", title="fifo").axes
    assert upper.get_xlim() == lower.get_xlim()
    assert (upper.get_title(), upper.get_xlabel()) == ("fifo", "")


@pytest.mark.parametrize("ending", STARTS)
def test_pictures_are_saved_in_every_format(tmp_path: Path, ending: str) -> None:
    """Every recorded run has three pictures under its policy's name; all runs have one of completion times."""
    runs = [small(fifo), small(srtf)]
    saved = save(runs, tmp_path, ending=ending)
    names = {f"{kind}-{name}{ending}" for kind in ("gantt", "jobs", "gpus") for name in ("fifo", "srtf")}
    assert {path.name for path in saved} == names | {f"jct{ending}"}
    assert all(path.read_bytes().startswith(STARTS[ending]) for path in saved)


def test_what_cannot_be_saved_is_one_line(tmp_path: Path) -> None:
    """Another format and a folder that is not there are named."""
    with pytest.raises(InvalidInput, match=r"ending: '\.bmp': must be one of \.png, \.svg, \.pdf"):
        save([], tmp_path, ending=".bmp")
    with pytest.raises(InvalidInput, match=r"none/gantt-fifo\.png: cannot be written: No such file"):
        save([small()], tmp_path / "none")
