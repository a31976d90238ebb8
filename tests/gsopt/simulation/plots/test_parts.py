"""Seconds of jobs, in boxes and as shares of the jobs."""

from statistics import quantiles
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.simulation.plots import Part, boxes, shares
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.plots.samples import large, legend, small


@pytest.mark.parametrize("part", Part)
def test_parts_have_the_means_of_the_figures(part: Part) -> None:
    """The mean of each part is that of the run's metrics, and running and queueing make up the whole."""
    run = large()
    metrics = run.metrics
    means = {
        Part.JCT: metrics.mean_jct,
        Part.EXECUTION: metrics.mean_execution,
        Part.QUEUEING: metrics.mean_queueing,
    }
    assert sum(part.of(run)) / len(part.of(run)) == pytest.approx(means[part])
    together = [sum(each) for each in zip(Part.EXECUTION.of(run), Part.QUEUEING.of(run), strict=True)]
    assert together == pytest.approx([float(time) for time in run.jct])


def test_boxes_lie_between_the_quartiles() -> None:
    """Each run has a box from the first to the third quartile, and its name below it, in the given order."""
    runs = {"first": small(fifo), "second": small(srtf)}
    axes = boxes(runs, "job completion time")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["first", "second"]
    assert axes.get_ylabel() == "job completion time"
    for run, box in zip(runs.values(), axes.patches, strict=True):
        corners: Any = box.get_path().vertices
        heights = [float(height) for height in corners[:, 1]]
        low, _, high = quantiles(map(float, run.jct), method="inclusive")
        assert (min(heights), max(heights)) == pytest.approx((low, high))


def test_lines_end_at_all_jobs() -> None:
    """A line is at the share of the jobs with at most so many seconds, and ends at all of them."""
    runs = {"any": large(), "other": small()}
    axes = shares(runs, Part.QUEUEING)
    assert legend(axes) == ["any", "other"]
    for run, line in zip(runs.values(), axes.lines, strict=True):
        waited = Part.QUEUEING.of(run)
        drawn: Any = line.get_xydata()
        points = dict(drawn.tolist())
        assert points == {
            limit: pytest.approx(sum(each <= limit for each in waited) / len(waited)) for limit in waited
        }


def test_jobs_that_do_not_queue_have_a_tick() -> None:
    """Where some jobs queue for no time and others for long, the axis has zero on it and names of moments."""
    axes = boxes({"any": large(200)}, Part.QUEUEING)
    assert axes.get_yscale() == "symlog"
    ticks = [text.get_text() for text in axes.get_yticklabels()]
    assert {"0 s", "1 min"} <= set(ticks)


def test_empty_runs_have_no_boxes() -> None:
    """No runs make an empty picture, and a part that there is not is refused."""
    assert not boxes({}).patches
    assert not shares({}).lines
    with pytest.raises(InvalidInput, match=r"part: .*anything.* must be one of job completion time"):
        boxes({}, "anything")
