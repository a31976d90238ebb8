"""Runs beside each other over time."""

from itertools import pairwise
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from gsopt.simulation import simulate
from gsopt.simulation.plots import jobs_remaining, utilisation
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.plots.samples import large, legend, small
from tests.gsopt.simulation.scenarios import bundle


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

    assert legend(axes) == ["first", "second"]
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
