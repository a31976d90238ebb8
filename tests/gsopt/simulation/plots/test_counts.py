"""Counts over time, and completion times."""

from typing import Any

import pytest
from matplotlib.figure import Figure

from gsopt.scenario.job import Job
from gsopt.schedule import Schedule
from gsopt.simulation import simulate
from gsopt.simulation.plots import gpus_in_use, jct_distribution, queue
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.plots.samples import large, legend, schedule_of, small
from tests.gsopt.simulation.scenarios import bundle


def _heights(line: Any) -> list[float]:
    return [float(value) for value in line.get_ydata()]


def test_gpus_in_use_end_at_none() -> None:
    """The GPUs in use never exceed the capacity and are 0 in the end."""
    run = small()
    held = _heights(gpus_in_use(schedule_of(run), run.scenario).lines[0])

    assert max(held) <= 4
    assert held[-1] == 0


def test_the_queue_is_as_long_as_jobs_wait() -> None:
    """At every moment the line is at the number of jobs that are released and not yet started."""
    run = large()
    (line,) = list[Any](queue(schedule_of(run), run.scenario).lines)
    spans = [
        (job.release_date, start)
        for job, start in zip(run.scenario.workload.jobs, run.start_times, strict=True)
    ]
    for moment, height in line.get_xydata().tolist():
        assert height == sum(release <= moment < start for release, start in spans), moment
    assert max(_heights(line)) > 10


def test_a_queue_that_nobody_stands_in() -> None:
    """Where no job waits the axis still has a height, and nothing ran where nothing is."""
    run = simulate(bundle([Job(name="a", release_date=0, duration=2, gpus=1)]), fifo, cluster=1, record=True)
    assert queue(schedule_of(run), run.scenario).get_ylim() == (0, 1)
    assert queue(Schedule(()), run.scenario).get_ylim() == (0, 1)


def test_sizes_lie_on_top_of_each_other() -> None:
    """The upper edge of the largest class is the line, and each class begins where the one before ends."""
    run = large()
    axes = queue(schedule_of(run), run.scenario)
    tops = [drawn.get_paths()[0].get_extents().y1 for drawn in list[Any](axes.collections)]
    assert tops == sorted(tops)
    assert tops[-1] == max(_heights(axes.lines[0]))
    assert legend(axes) == ["1", "2"]


def test_completion_times_end_at_all() -> None:
    """Each run has a line that rises to 1, and the legend its name."""
    axes = jct_distribution([small(fifo), small(srtf)])

    assert legend(axes) == ["fifo", "srtf"]
    assert all(_heights(line)[-1] == 1 for line in axes.lines)


def test_equal_lines_are_all_seen() -> None:
    """No two of twelve runs share line style and marker, and of equal lines the later is the thinner."""
    lines = jct_distribution([small()] * 12).lines
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 12
    widths = [line.get_linewidth() for line in lines[-5:]]
    assert widths == sorted(set(widths), reverse=True)


def test_long_times_have_names() -> None:
    """Completion times of seconds to days are marked in minutes, hours and days, without a unit beside."""
    jobs = [Job(name=f"j{power}", release_date=0, duration=10.0**power, gpus=1) for power in range(6)]
    axes = jct_distribution([simulate(bundle(jobs), fifo, cluster=6)])
    labels = [axes.xaxis.get_major_formatter()(tick, 0) for tick in axes.xaxis.get_majorticklocs()]
    assert {"1 min", "1 h", "1 day"} <= set(labels)
    assert axes.get_xlabel() == "job completion time"


@pytest.mark.parametrize("draw", [gpus_in_use, queue])
def test_they_draw_where_they_are_told(draw: Any) -> None:
    """Given axes are drawn on, with a title."""
    run, axes = small(), Figure().subplots()
    assert draw(schedule_of(run), run.scenario, title="fifo", axes=axes) is axes
    assert axes.get_title() == "fifo"
