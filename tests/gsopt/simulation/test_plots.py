"""The plots show what they are given."""

from typing import Any

from matplotlib.figure import Figure

from gsopt.cluster import Cluster
from gsopt.job import Job
from gsopt.scenario import CapacityChange
from gsopt.simulation import Policy, Replay, simulate
from gsopt.simulation.plots import gantt, gpus_in_use, jct_distribution
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.scenarios import bundle


def _heights(line: Any) -> list[float]:
    return [float(value) for value in line.get_ydata()]


def _colours(colours: Any) -> list[tuple[float, ...]]:
    return [tuple(colour) for colour in colours]


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


def test_large_gantt_is_shaded_and_not_framed() -> None:
    """With many jobs a bar has a shade of grey and no frame that could cover it, and no job is labelled."""
    jobs = bundle(Job(name=f"j{i}", release_date=i / 2, duration=3, gpus=2) for i in range(60))
    run = simulate(jobs, fifo, cluster=4, record=True)
    assert run.schedule is not None
    axes = gantt(run.schedule, run.scenario)

    shades = {shade for bar in axes.collections for shade in _colours(bar.get_facecolor())}
    assert sum(len(bar.get_paths()) for bar in axes.collections) == 120
    assert len(shades) > 1
    assert all(max(shade[:3]) < 1 for shade in shades)
    assert not any(_colours(bar.get_edgecolor()) for bar in axes.collections)
    assert not axes.texts


def test_plots_draw_on_given_axes() -> None:
    """Each plot draws where it is told, with the horizontal limits set afterwards."""
    run = _replay()
    assert run.schedule is not None
    panels = Figure().subplots(3)
    gantt(run.schedule, run.scenario, axes=panels[0]).set_xlim(0, 5)
    gpus_in_use(run.schedule, run.scenario, axes=panels[1])
    jct_distribution([run], axes=panels[2])

    assert panels[0].get_xlim() == (0, 5)
    assert [len(axes.lines) for axes in panels] == [1, 2, 1]


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


def test_jct_distribution_reads_without_colour() -> None:
    """No two of twelve runs share line style and marker."""
    lines = jct_distribution([_replay()] * 12).lines
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 12
