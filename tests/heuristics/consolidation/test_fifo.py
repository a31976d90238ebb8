"""The jobs as they stand."""

from collections.abc import Sequence

from gsopt.core.method import Method
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from heuristics.consolidation import fifo


def placed(method: Method, jobs: Sequence[Job]) -> dict[str, tuple[int, ...]]:
    """Place jobs on two racks with one GPU each."""
    solution = method(Consolidation(cluster=Cluster.uniform(racks=2, machines=1, gpus=1), jobs=jobs)).solution
    assert solution is not None
    return dict(solution.placed)


def test_the_order_is_that_of_the_instance() -> None:
    """The first job takes both GPUs, however much more the second is worth."""
    jobs = [Job(name="first", gpus=2), Job(name="second", gpus=1, weight=9.0)]
    assert placed(fifo, jobs) == {"first": (0, 1)}
