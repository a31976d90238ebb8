"""Pictures of runs beside each other: boxes, shares, jobs remaining and utilisation."""

from itertools import pairwise
from statistics import quantiles
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Start, replay, simulate
from gsopt.simulation.plots import JobTime, boxes, jobs_remaining, shares, utilisation
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.plots.samples import large, legend, small
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing


@pytest.mark.parametrize("part", JobTime)
def test_parts_have_the_means_of_the_figures(part: JobTime) -> None:
    """The mean of each part is that of the run's metrics, and running and queueing make up the whole."""
    run = large()
    metrics = run.metrics
    means = {
        JobTime.JCT: metrics.mean_jct,
        JobTime.EXECUTION: metrics.mean_execution,
        JobTime.QUEUEING: metrics.mean_queueing,
    }
    assert sum(part.of(run)) / len(part.of(run)) == pytest.approx(means[part])
    together = [sum(each) for each in zip(JobTime.EXECUTION.of(run), JobTime.QUEUEING.of(run), strict=True)]
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
    axes = shares(runs, JobTime.QUEUEING)
    assert legend(axes) == ["any", "other"]
    for run, line in zip(runs.values(), axes.lines, strict=True):
        waited = JobTime.QUEUEING.of(run)
        drawn: Any = line.get_xydata()
        points = dict(drawn.tolist())
        assert points == {
            limit: pytest.approx(sum(each <= limit for each in waited) / len(waited)) for limit in waited
        }


def test_jobs_that_do_not_queue_have_a_tick() -> None:
    """Where some jobs queue for no time and others for long, the axis has zero on it and names of moments."""
    axes = boxes({"any": large(200)}, JobTime.QUEUEING)
    assert axes.get_yscale() == "symlog"
    ticks = [text.get_text() for text in axes.get_yticklabels()]
    assert {"0 s", "1 min"} <= set(ticks)


def test_empty_runs_have_no_boxes() -> None:
    """No runs make an empty picture, and a part that there is not is refused."""
    assert not boxes({}).patches
    assert not shares({}).lines
    with pytest.raises(InvalidInput, match=r"part: .*anything.* must be one of job completion time"):
        boxes({}, "anything")


def _heights(line: Any) -> list[float]:
    return [float(value) for value in line.get_ydata()]


def test_jobs_remain_until_they_complete() -> None:
    """At every moment the line is at the number of jobs that are released and not complete."""
    run = large()
    (line,) = list[Any](jobs_remaining({"any": run}).lines)
    spans = list(zip(run.scenario.workload.jobs, run.completion_times, strict=True))
    for moment, height in line.get_xydata().tolist():
        assert height == sum(job.release_date <= moment < end for job, end in spans), moment
    assert _heights(line)[-1] == 0


def test_jobs_that_never_complete_remain() -> None:
    """A line ends at the number of jobs that are left."""
    late = [
        Job(name="a", release_date=5, duration=2, gpus=1),
        Job(name="b", release_date=7, duration=2, gpus=2),
    ]
    changes = [{"time": 6, "gpus": 1}]
    run = simulate(bundle(late), fifo, cluster=2, capacity_changes=changes, record=True)

    (line,) = list[Any](jobs_remaining({"any": run}).lines)

    assert line.get_xydata().tolist() == [[5.0, 1.0], [7.0, 1.0]]


def test_the_shares_add_up_to_the_gpu_time() -> None:
    """The mean share over the time shown, times that time and the GPUs, is the GPU time in use."""
    runs = {"first": small(fifo), "second": small(srtf)}
    axes = utilisation(runs)
    begin, end = axes.get_xlim()

    assert legend(axes) == ["first", "second (on first)"]
    for run, line in zip(runs.values(), axes.lines, strict=True):
        shares = _heights(line)
        used = sum(shares) / len(shares) * (end - begin) * run.scenario.cluster.gpus
        assert used == pytest.approx(run.metrics.gpu_seconds)


def test_points_stand_in_the_middle_of_equal_spans() -> None:
    """The points of a line are equally far apart, whatever the clock."""
    job = Job(name="a", release_date=1.7e9, duration=60, gpus=1)
    run = simulate(bundle([job]), fifo, cluster=1, record=True)
    (line,) = list[Any](utilisation({"any": run}).lines)
    gaps = {round(float(late - early), 3) for early, late in pairwise(line.get_xdata())}

    assert gaps == {1.0}
    assert set(_heights(line)) == {1.0}


def test_shared_gpus_stay_in_sight() -> None:
    """Two jobs that share all GPUs are a line at 200 %, inside the picture, which otherwise ends at 100 %."""
    jobs = [Job(name=name, release_date=0, duration=60, gpus=2) for name in "ab"]
    scenario = Scenario.of(bundle(jobs), Cluster.uniform(machines=1, gpus=2), share_limit=2)
    run = replay(scenario, doing(lambda state: [Start(job, (0, 1)) for job in state.arrived]), record=True)
    axes = utilisation({"shared": run})

    assert set(_heights(axes.lines[0])) == {2.0}
    assert axes.get_ylim() == (0, 2.04)
    assert utilisation({"alone": small(fifo)}).get_ylim() == utilisation({}).get_ylim() == (0, 1.02)


def test_a_run_that_is_not_recorded_has_no_utilisation() -> None:
    """Nobody knows who held which GPUs of a run that was not recorded."""
    run = simulate(bundle([Job(name="a", release_date=0, duration=2, gpus=1)]), fifo, cluster=1)
    with pytest.raises(InvalidInput, match=r"^runs: 'mine': must be recorded \(record=True\)$"):
        utilisation({"mine": run})


def test_nothing_is_drawn_of_nothing() -> None:
    """No runs, and a run without jobs, make an empty picture."""
    empty = simulate(bundle([]), fifo, cluster=1, record=True)

    assert not jobs_remaining({}).lines
    assert _heights(utilisation({"empty": empty}).lines[0]) == [0.0] * 60
