"""Pods that arrive at the openb cluster, and how much of it they get."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.placement import PlacementSolution
from heuristics.placement import fgd, gpu_packing
from instances import data_folder
from instances.placement.arrivals import allocation, arrivals

NODES = """sn,cpu_milli,memory_mib,gpu,model
n0,8000,1000,2,T4
n1,16000,1000,2,V100
"""
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time
p0,1000,10,1,600,,0,1
p1,2000,10,1,1000,V100|A100,0,1
p2,3000,10,0,0,,0,1
p3,4000,10,2,1000,T4,0,1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a trace of two nodes and four pods."""
    inside = tmp_path / "alibaba_openb_gpu2023" / "csv"
    inside.mkdir(parents=True)
    for name, text in (("node_list_gpu_node", NODES), ("pod_list_default", PODS)):
        (inside / f"openb_{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_pods_become_workers(folder: Path) -> None:
    """Every pod arrives once before any is drawn again, with its part of a GPU and its types."""
    problem = arrivals(folder, load=3.0, seed=1)
    by_name = {line.job: line for line in problem.workers}

    assert {line.job for line in problem.workers[:4]} == {"p0", "p1", "p2", "p3"}
    assert (by_name["p0"].gpu_part, by_name["p0"].demand.gpu, by_name["p0"].gpu_types) == (600, 0, ())
    assert (by_name["p1"].demand.gpu, by_name["p1"].gpu_types) == (1, ("V100", "A100"))
    assert by_name["p2"].thousandths == 0
    assert by_name["p3"].demand.vector() == (2, 4000, 10)
    assert {server.gpu_type for server in problem.servers} == {"T4", "V100"}
    assert 3.0 * 4_000 - 2_000 <= sum(line.thousandths for line in problem.workers) <= 3.0 * 4_000


def test_the_seed_decides(folder: Path) -> None:
    """The same seed gives the same pods in the same order, and others another order."""
    orders = [
        tuple(line.job for line in arrivals(folder, load=5.0, seed=seed).workers) for seed in (1, 1, 2, 3)
    ]
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1
    with pytest.raises(InvalidInput, match="load"):
        arrivals(folder, load=-1.0)


def test_allocation_follows_the_arrivals(folder: Path) -> None:
    """GPUs requested and allocated add up pod by pod; without a placement nothing is allocated."""
    problem = arrivals(folder, load=1.0, seed=1)
    nothing = allocation(problem, PlacementSolution(placed=[]))
    found = gpu_packing(problem)
    last = allocation(problem, found.solution)[-1]  # type: ignore[arg-type]

    assert [entry.allocated for entry in nothing] == [0.0] * len(problem.workers)
    assert last.arrived == sum(line.thousandths for line in problem.workers) / 40
    assert 100 - last.allocated == pytest.approx(found.objective / 40)  # type: ignore[operator]


def test_the_whole_trace() -> None:
    """On the trace, FGD as the authors' program has it leaves a third less unallocated than GPU packing."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA is unset")
    problem = arrivals(folder)
    assert Counter(bool(line.gpu_part) for line in problem.workers).keys() == {True, False}
    assert problem.size == 1_213
    rounded, packed = fgd(problem, rounded=True, popular=0.95), gpu_packing(problem)

    assert rounded.objective is not None
    assert packed.objective is not None
    assert rounded.objective < packed.objective * 2 / 3
