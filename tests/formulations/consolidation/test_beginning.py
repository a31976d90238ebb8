"""What is known at once."""

from formulations.consolidation.beginning import begin, densest_first, knapsack_bound
from formulations.consolidation.case import Case
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from tests.exactness import consolidation as oracle
from tests.strategies.consolidation import seeds


def test_value_and_bound_enclose_the_optimum() -> None:
    """Whatever the tree and the objective: the placement is legal, and no optimum is above the bound."""
    for problem in seeds(60):
        solution, bound = begin(Case.of(problem))
        assert problem.violations(solution) == []
        assert problem.objective(solution) <= oracle.optimum(problem) <= bound


def test_good_places_go_before_poor_ones() -> None:
    """A MobileNet that would be split waits until the ResNet-50, worth less on a machine, has its GPUs."""
    jobs = [Job(name="m", gpus=4, model="mobilenetv3", weight=2.0), Job(name="r", gpus=6, model="resnet50")]
    problem = Consolidation(cluster=Cluster.uniform(racks=2, machines=1, gpus=4), busy=[0, 4], jobs=jobs)
    case = Case.of(problem)
    assert [case.kinds[k].gpus for k, _ in densest_first(case)] == [6]


def test_the_bound_takes_part_of_a_job() -> None:
    """Six free GPUs hold a job of four, and half of one of four."""
    jobs = [Job(name="a", gpus=4, weight=2.0), Job(name="b", gpus=4)]
    problem = Consolidation(cluster=Cluster.uniform(machines=1, gpus=6), jobs=jobs)
    assert knapsack_bound(Case.of(problem)) == 10


def test_nothing_competes() -> None:
    """Where every job has its best place, value and bound are one number."""
    problem = Consolidation(
        cluster=Cluster.uniform(machines=2, gpus=4), jobs=[Job(name=n, gpus=4, model="vgg11") for n in "ab"]
    )
    solution, bound = begin(Case.of(problem))
    assert problem.objective(solution) == bound
