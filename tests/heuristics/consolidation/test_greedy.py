"""The most valuable jobs for each GPU first."""

from collections.abc import Sequence

from gsopt.core.method import Method
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from heuristics.consolidation import greedy


def placed(method: Method, jobs: Sequence[Job]) -> dict[str, tuple[int, ...]]:
    """Place jobs on two racks with one GPU each."""
    solution = method(Consolidation(cluster=Cluster.uniform(racks=2, machines=1, gpus=1), jobs=jobs)).solution
    assert solution is not None
    return dict(solution.placed)


def test_the_order_is_that_of_the_worth_for_each_gpu() -> None:
    """Two light GPUs wait for one heavy one, whatever the order of the jobs."""
    jobs = [Job(name="wide", gpus=2, weight=1.5), Job(name="dear", gpus=1, weight=2.0)]
    assert placed(greedy, jobs) == {"dear": (0,)}


def test_any_tier_is_accepted() -> None:
    """A MobileNet of great weight takes GPUs of two racks, though they are worth next to nothing there."""
    jobs = [Job(name="m", gpus=2, weight=9.0, model="mobilenetv3"), Job(name="v", gpus=1)]
    assert placed(greedy, jobs) == {"m": (0, 1)}
