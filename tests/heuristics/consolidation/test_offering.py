"""GPUs offered to one job after the other."""

from collections.abc import Sequence
from typing import Any

from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from heuristics.consolidation.offering import offer


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


def test_nothing_is_free() -> None:
    """On a full cluster nobody starts."""
    assert offered(1, 1, busy=[0, 1], machines=1, gpus=2) == {}
