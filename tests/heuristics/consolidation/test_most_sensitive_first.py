"""The jobs that suffer most from the network first."""

from collections.abc import Sequence

from gsopt.core.method import Method
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from heuristics.consolidation import most_sensitive_first


def placed(method: Method, jobs: Sequence[Job]) -> dict[str, tuple[int, ...]]:
    """Place jobs on two racks with one GPU each."""
    solution = method(Consolidation(cluster=Cluster.uniform(racks=2, machines=1, gpus=1), jobs=jobs)).solution
    assert solution is not None
    return dict(solution.placed)


def test_the_order_is_that_of_what_the_network_leaves() -> None:
    """A MobileNet chooses before an AlexNet, and that before a job on one GPU, which has nothing to lose."""
    jobs = [Job(name="one", gpus=1, model="mobilenetv3"), Job(name="a", gpus=2, model="alexnet")]
    assert placed(most_sensitive_first, jobs) == {"a": (0, 1)}
    assert placed(most_sensitive_first, [*jobs, Job(name="m", gpus=2, model="mobilenetv3")]) == {"m": (0, 1)}


def test_weights_do_not_matter() -> None:
    """A job of no weight loses nothing, and the others keep their order at any weight."""
    jobs = [Job(name="none", gpus=2, weight=0.0, model="mobilenetv3"), Job(name="v", gpus=2, model="vgg11")]
    assert placed(most_sensitive_first, jobs) == {"v": (0, 1)}
