"""The heuristics of consolidation."""

from collections.abc import Sequence
from typing import Any

import pytest

from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from gsopt.testing import check_heuristic
from heuristics.consolidation import fifo, greedy, most_sensitive_first
from heuristics.consolidation.offering import offer
from tests.heuristics.results import solved
from tests.strategies.consolidation import committed


def offered(*gpus: int, busy: Sequence[int] = (), **cluster: Any) -> dict[str, tuple[int, ...]]:
    """Offer the GPUs of a cluster to jobs a, b, ... in their order."""
    jobs = [Job(name=name, gpus=each) for name, each in zip("abcd", gpus, strict=False)]
    problem = Consolidation(cluster=Cluster.uniform(**cluster), busy=busy, jobs=jobs)
    return {name: tuple(held) for name, held in offer(problem, problem.jobs).placed.items()}


def test_the_tightest_machine_is_taken() -> None:
    """Two GPUs go to the machine that has just two, not to the first."""
    assert offered(2, busy=[0, 4, 5], machines=2, gpus=4) == {"a": (6, 7)}


def test_the_tightest_rack_is_taken_where_no_machine_has_room() -> None:
    """Five GPUs go to the rack that has just five, its emptiest machine first."""
    assert offered(5, busy=[8, 12, 13], racks=2, machines=2, gpus=4) == {"a": (9, 10, 11, 14, 15)}


def test_the_network_is_accepted() -> None:
    """A job that fits in no rack is spread over the emptiest machines at once: no timer makes it wait."""
    assert offered(4, busy=[1, 2], racks=2, machines=1, gpus=3) == {"a": (3, 4, 5, 0)}


def test_a_job_that_is_too_large_is_passed_over() -> None:
    """The next job is offered the GPUs that are too few for the one before."""
    assert offered(3, 2, machines=1, gpus=2) == {"b": (0, 1)}


def placed(method: Method, jobs: Sequence[Job]) -> dict[str, tuple[int, ...]]:
    """Place jobs on two racks with one GPU each."""
    solution = solved(method(Consolidation(cluster=Cluster.uniform(racks=2, machines=1, gpus=1), jobs=jobs)))
    return dict(solution.placed)


def test_the_order_is_that_of_the_instance() -> None:
    """The first job takes both GPUs, however much more the second is worth."""
    jobs = [Job(name="first", gpus=2), Job(name="second", gpus=1, weight=9.0)]
    assert placed(fifo, jobs) == {"first": (0, 1)}


def test_the_order_is_that_of_the_worth_for_each_gpu() -> None:
    """Two light GPUs wait for one heavy one, whatever the order of the jobs."""
    jobs = [Job(name="wide", gpus=2, weight=1.5), Job(name="dear", gpus=1, weight=2.0)]
    assert placed(greedy, jobs) == {"dear": (0,)}


def test_any_tier_is_accepted() -> None:
    """A MobileNet of great weight takes GPUs of two racks, though they are worth next to nothing there."""
    jobs = [Job(name="m", gpus=2, weight=9.0, model="mobilenetv3"), Job(name="v", gpus=1)]
    assert placed(greedy, jobs) == {"m": (0, 1)}


def test_the_order_is_that_of_what_the_network_leaves() -> None:
    """A MobileNet chooses before an AlexNet, and that before a job on one GPU, which has nothing to lose."""
    jobs = [Job(name="one", gpus=1, model="mobilenetv3"), Job(name="a", gpus=2, model="alexnet")]
    assert placed(most_sensitive_first, jobs) == {"a": (0, 1)}
    assert placed(most_sensitive_first, [*jobs, Job(name="m", gpus=2, model="mobilenetv3")]) == {"m": (0, 1)}


def test_weights_do_not_matter() -> None:
    """A job of no weight loses nothing, and the others keep their order at any weight."""
    jobs = [Job(name="none", gpus=2, weight=0.0, model="mobilenetv3"), Job(name="v", gpus=2, model="vgg11")]
    assert placed(most_sensitive_first, jobs) == {"v": (0, 1)}


HEURISTICS = heuristics("consolidation")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_places_jobs_on_every_small_instance(method: Method) -> None:
    """Every heuristic finds a placement that no rule forbids and that is no better than the optimum."""
    assert check_heuristic(method, committed()) == len(committed())


def test_the_best_stands_first() -> None:
    """Whoever has little time begins with the greedy order."""
    assert next(iter(HEURISTICS)) == "greedy"
