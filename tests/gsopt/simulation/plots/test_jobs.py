"""Job charts."""

import pytest

from gsopt.simulation.plots import jobs
from tests.gsopt.simulation.plots.samples import boxes, large, legend, schedule_of


def test_every_second_of_every_job_is_drawn() -> None:
    """In a job's row grey and colour together last from its release to its completion."""
    run = large()
    axes = jobs(schedule_of(run), run.scenario, title="fifo")

    lengths: dict[int, float] = {}
    for left, bottom, right, top in boxes(axes):
        assert top - bottom == pytest.approx(1)
        lengths[round(bottom)] = lengths.get(round(bottom), 0) + right - left
    order = sorted(range(60), key=lambda number: run.scenario.workload.jobs[number].release_date)
    assert lengths == pytest.approx({row: run.jct[number] for row, number in enumerate(order)})
    assert legend(axes) == ["1", "2", "waiting"]
    assert axes.get_title() == "fifo"
