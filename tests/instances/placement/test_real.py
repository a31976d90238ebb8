"""Instances from the public traces."""

from pathlib import Path

import pytest

from formulations.placement import exact
from gsopt.core.result import Status
from gsopt.problems.placement import Placement
from heuristics.placement import best_of_three
from instances.placement.real import from_data, snapshot
from instances.traces.openb import OpenbNode, Pod

NODE = OpenbNode(name="n", cpu_milli=96_000, memory_mib=393_216, gpus=8, gpu_type="G2")
POD = Pod(name="p", cpu_milli=11_908, memory_mib=47_104, gpus=1, gpu_milli=460)


@pytest.fixture
def problems(traces: Path) -> list[Placement]:
    """Return the instances of the trace."""
    return list(from_data(traces))


def test_nothing_without_the_trace(tmp_path: Path) -> None:
    """A folder without the trace gives no instances."""
    assert list(from_data(tmp_path)) == []


def test_demands_are_rounded_up_and_capacities_down() -> None:
    """A part of a GPU is a whole one, cores and GiB go up to the grid, and capacities lose what is no unit."""
    problem = snapshot([NODE, NODE.model_copy(update={"cpu_milli": 95_999})], [POD, POD])

    assert [server.capacity.vector() for server in problem.servers] == [(8, 96, 384), (8, 95, 384)]
    assert [(line.demand.vector(), line.count) for line in problem.workers] == [((1, 12, 48), 2)]


def test_a_pod_without_gpus_stays_without() -> None:
    """Pods that ask for CPU and memory only are workers too."""
    problem = snapshot([NODE], [POD.model_copy(update={"gpus": 0, "gpu_milli": 0})])

    assert problem.workers[0].demand.vector() == (0, 12, 48)


def test_standing_pods_fill_the_tightest_node_first() -> None:
    """Pods that stand already are on the node with the fewest free GPUs that has room."""
    small = NODE.model_copy(update={"gpus": 2})
    problem = snapshot([NODE, small], [POD], standing=[POD] * 3)

    assert [(server.capacity.gpu, server.used.vector()) for server in problem.servers] == [
        (8, (1, 12, 48)),
        (2, (2, 24, 96)),
    ]


def test_a_standing_pod_without_room_is_left_out() -> None:
    """What a full cluster cannot hold is not in the instance."""
    problem = snapshot([NODE], [POD], standing=[POD] * 9)

    assert problem.servers[0].used.vector() == (8, 96, 384)


def test_snapshots_of_the_trace(problems: list[Placement]) -> None:
    """Five instances with names of their own, all 1,213 servers in each, and at most 40 demands."""
    names = [problem.name.removeprefix("placement/real/openb-") for problem in problems]
    workers = [sum(line.count for line in problem.workers) for problem in problems]

    assert names == ["busiest", "first-1000", "first-2000", "first-4000", "arriving"]
    assert {problem.size for problem in problems} == {1213}
    assert workers == [51, 1000, 2000, 4000, 1000]
    assert all(len(problem.workers) <= 40 for problem in problems)
    assert [any(server.in_use for server in problem.servers) for problem in problems] == [False] * 4 + [True]


@pytest.mark.usefixtures("patient")
def test_the_exact_method_places_all_pods(problems: list[Placement]) -> None:
    """Every instance has a proven optimum, and no heuristic is below it."""
    for problem in problems:
        optimum, found = exact(problem), best_of_three(problem)

        assert optimum.status is Status.OPTIMAL
        assert optimum.bound is not None
        assert found.objective is not None
        assert found.objective >= optimum.bound
