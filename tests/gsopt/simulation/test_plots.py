"""The plots show what they are given."""

from typing import Any

from gsopt.cluster import Cluster
from gsopt.job import Job
from gsopt.scenario import CapacityChange
from gsopt.simulation import Policy, Replay, simulate
from gsopt.simulation.plots import gantt, gpus_in_use, jct_distribution
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.scenarios import bundle


def _heights(line: Any) -> list[float]:
    return [float(value) for value in line.get_ydata()]


def _replay(policy: Policy = fifo) -> Replay:
    sizes = [(3, 2), (1, 1), (2, 2), (2.5, 1), (4, 3)]
    jobs = [Job(name=f"j{i}", release_date=i / 2, duration=d, gpus=g) for i, (d, g) in enumerate(sizes)]
    change = CapacityChange(time=7.0, gpus=3)
    return simulate(bundle(jobs), policy, cluster=Cluster.plain(4), capacity_changes=(change,), record=True)


def test_gantt_draws_every_gpu_of_every_segment() -> None:
    """A Gantt chart has one bar per segment and GPU, and the capacity as a line."""
    run = _replay()
    assert run.schedule is not None
    axes = gantt(run.schedule, run.scenario)

    bars = [float(path.get_extents().y1) for bar in axes.collections for path in bar.get_paths()]
    cut = [segment for segment in run.schedule.segments if segment.start < 7.0 < segment.end]
    assert len(bars) == sum(segment.gpus for segment in [*run.schedule.segments, *cut])
    assert max(bars) <= 4
    assert _heights(axes.lines[0]) == [4, 3, 3]


def test_gpus_in_use_ends_at_none() -> None:
    """The GPUs in use never exceed the capacity and are 0 in the end."""
    run = _replay()
    assert run.schedule is not None
    held = _heights(gpus_in_use(run.schedule, run.scenario).lines[0])

    assert max(held) <= 4
    assert held[-1] == 0


def test_jct_distribution_ends_at_one() -> None:
    """Each run has a line that rises to 1."""
    axes = jct_distribution([_replay(fifo), _replay(srtf)])

    assert [line.get_label() for line in axes.lines] == ["fifo", "srtf"]
    assert all(_heights(line)[-1] == 1 for line in axes.lines)
