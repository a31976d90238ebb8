"""What is known of a waiting problem, and its grid."""

from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance
from gsopt.core.budget import Budget
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job


def test_the_grid_stays_beside_the_problem() -> None:
    """The problem is the instance's, and at first nothing is known of it."""
    job = Job(name="a", release_date=0, duration=3, gpus=2)
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=[job]))
    best = Best(instance, Budget(), "test")

    assert best.instance is instance
    assert best.problem is instance.problem
    assert (best.solution, best.bound) == (None, 0)
