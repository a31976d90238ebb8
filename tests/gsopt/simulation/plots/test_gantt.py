"""Gantt charts."""

from typing import Any

import pytest
from matplotlib.figure import Figure

from gsopt.simulation.plots import gantt
from tests.gsopt.simulation.plots.samples import boxes, large, legend, schedule_of, small


@pytest.mark.parametrize("origin", [0.0, 1.7e9])
def test_every_gpu_of_every_segment_is_drawn(origin: float) -> None:
    """The blocks cover the GPU seconds of the schedule, within the GPUs, below a line at the capacity."""
    run = small(origin=origin)
    schedule = schedule_of(run)
    axes = gantt(schedule, run.scenario)

    drawn = boxes(axes)
    rows = sum((right - left) * round(top - bottom + 0.1) for left, bottom, right, top in drawn)
    assert rows == pytest.approx(sum(float(each.end - each.start) * each.gpus for each in schedule.segments))
    assert max(top for *_, top in drawn) <= 4
    (line,) = list[Any](axes.lines)
    assert line.get_ydata().tolist() == [4, 3, 3]
    assert {text.get_text() for text in axes.texts} == {f"j{number}" for number in range(5)}


def test_neighbouring_gpus_make_one_block() -> None:
    """A job is framed once where its GPUs lie together."""
    run = small()
    cut = sum(each.start < 7 < each.end for each in schedule_of(run).segments)
    assert len(boxes(gantt(schedule_of(run), run.scenario))) == len(schedule_of(run).segments) + cut


def test_a_large_chart_has_colours_and_no_frames() -> None:
    """With many jobs, blocks have no frame that could cover them and no label; a legend tells the colours."""
    run = large()
    axes = gantt(schedule_of(run), run.scenario)

    assert not any(len(drawn.get_edgecolor()) for drawn in list[Any](axes.collections))
    assert not axes.texts
    held = legend(axes)
    assert held[0] == "up to 1.1"
    assert held[-1] == "capacity"
    assert len(held) == len(axes.collections) + 1 > 4


def test_time_is_counted_from_the_first_release() -> None:
    """On the clock of the epoch the axis says 0 where the first job is released."""
    run = small(origin=1.7e9)
    axes = gantt(schedule_of(run), run.scenario, title="fifo")
    assert axes.get_xlabel() == "time since the first release [s]"
    assert axes.xaxis.get_major_formatter()(1.7e9 + 3, 0) == "3"
    assert axes.get_title() == "fifo"


def test_it_draws_where_it_is_told() -> None:
    """Given axes are drawn on, and can be limited afterwards."""
    run = small()
    axes = Figure().subplots()
    assert gantt(schedule_of(run), run.scenario, axes=axes) is axes
    axes.set_xlim(0, 5)
    assert axes.get_xlim() == (0, 5)
