"""Runs that the tests of pictures share."""

from typing import Any

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange
from gsopt.simulation import Policy, Replay, simulate
from heuristics.policies import fifo
from tests.gsopt.simulation.scenarios import bundle


def small(policy: Policy = fifo, origin: float = 0.0) -> Replay:
    """Run five jobs on four GPUs of which one goes, on a clock that begins anywhere."""
    sizes = [(3, 2), (1, 1), (2, 2), (2.5, 1), (4, 3)]
    jobs = [
        Job(name=f"j{i}", release_date=origin + i / 2, duration=d, gpus=g) for i, (d, g) in enumerate(sizes)
    ]
    change = CapacityChange(time=origin + 7.0, gpus=3)
    return simulate(bundle(jobs), policy, cluster=Cluster.plain(4), capacity_changes=(change,), record=True)


def large(jobs: int = 60, *, last: float = 3.0) -> Replay:
    """Run many jobs of 2 GPUs on four, the last of which may be long."""
    made = [Job(name=f"j{i}", release_date=i / 2, duration=3, gpus=2) for i in range(jobs - 1)]
    made.append(Job(name="last", release_date=0, duration=last, gpus=1))
    return simulate(bundle(made), fifo, cluster=4, record=True)


def boxes(axes: Any) -> list[tuple[float, float, float, float]]:
    """Return left, bottom, right and top of everything drawn as an area."""
    found = [path.get_extents() for drawn in axes.collections for path in drawn.get_paths()]
    return [(float(box.x0), float(box.y0), float(box.x1), float(box.y1)) for box in found]


def legend(axes: Any) -> list[str]:
    """Return what the legend says."""
    return [text.get_text() for text in axes.get_legend().get_texts()]
