"""The generators of placement, instances from the public traces, and the suites."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from formulations.placement import column_generation, exact
from gsopt.core.result import Status
from gsopt.problems.placement import Placement
from heuristics.placement import best_fit_decreasing, best_of_three
from instances import placement
from instances.placement import elastic, fine_sizes, vector_packing, vectors, whole_gpus
from instances.placement.clusters import CAPACITY, cluster
from instances.placement.real import from_data, snapshot
from instances.placement.suites import small
from instances.traces.openb import OpenbNode, PodDemand
from tests.strategies.placement import committed as standing
from tests.unwrap import unwrap

GENERATORS = {name: getattr(placement, name) for name in placement.__all__}

#: Generators whose instances are those of papers on packing.
LITERATURE = {"vector_packing", "fine_sizes"}

Generator = Callable[..., Placement]


@pytest.fixture(params=list(GENERATORS.values()), ids=list(GENERATORS))
def generator(request: pytest.FixtureRequest) -> Generator:
    """Return each generator in turn."""
    made: Generator = request.param
    return made


def test_defaults_are_of_the_size_of_their_source(generator: Generator) -> None:
    """With defaults there are as many servers and workers as in Aryl or in the packing literature, and room."""
    problem: Any = generator()
    servers, workers = (60, 60) if generator.__name__ in LITERATURE else (963, 1501)

    assert problem.size >= servers
    assert sum(line.count for line in problem.workers) >= workers
    assert problem.misfit == ""


def test_two_pools_of_alike_servers() -> None:
    """Empty servers of a pool are one line with the pool's capacity; a pool without servers is none."""
    servers = cluster(443, 520)

    assert [(server.pool, server.count) for server in servers] == [("training", 443), ("inference", 520)]
    assert servers[0].capacity.vector() == (8, 92, 350)
    assert servers[1].capacity.vector() == (8, 92, 210)
    assert [server.pool for server in cluster(0, 5)] == ["inference"]


@pytest.mark.parametrize("seed", range(3))
def test_partly_used_servers_are_not_overfull(seed: int) -> None:
    """What is used fits, leaves a GPU free, and the counts add up."""
    servers = cluster(30, 50, occupied=0.5, random=Random(seed))

    assert sum(server.count for server in servers) == 80
    assert sum(server.count for server in servers if server.in_use) == 40
    for server in servers:
        assert server.capacity == CAPACITY[server.pool]
        assert all(free >= 0 for free in server.free())
        assert server.free_gpus > 0


def test_jobs_are_elastic_or_not() -> None:
    """An inelastic job has one line of 1 to 8 workers; an elastic one base and perhaps flexible workers."""
    problem = elastic(jobs=200, seed=1)
    jobs: dict[str, list[str]] = {}
    for line in problem.workers:
        jobs.setdefault(line.job, []).append(line.kind)
        assert 1 <= line.count <= {"inelastic": 8, "base": 4, "flexible": 4}[line.kind]

    assert len(jobs) == 200
    assert {tuple(kinds) for kinds in jobs.values()} == {("inelastic",), ("base",), ("base", "flexible")}


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_share_of_elastic_jobs(share: float) -> None:
    """About the asked share of the jobs is elastic; none or all are exactly so."""
    problem = elastic(jobs=400, elastic_share=share)
    found = len({line.job for line in problem.workers if line.kind == "base"}) / 400

    assert found == pytest.approx(share, abs=0.06 if share == 0.25 else 0.0)


def test_it_minimizes_preferences_with_whole_jobs() -> None:
    """By default preferences are minimized and a job stays in one pool; both can be changed."""
    assert (elastic().minimize, elastic().split_jobs) == ("preferences", False)
    assert elastic(minimize="servers", split_jobs=True).minimize == "servers"


def test_sizes_are_fine() -> None:
    """There are nearly as many sizes as workers, all of GPUs alone."""
    problem = fine_sizes()

    assert len({demand[0] for demand in problem.demands}) > 190
    assert not any(any(demand[1:]) for demand in problem.demands)


RANGES = {1: (100, 400), 2: (1, 1000), 3: (200, 800), 4: (50, 200), 5: (25, 100), 6: (20, 100)}


@pytest.mark.parametrize("family", RANGES)
@pytest.mark.parametrize("resources", [1, 3, 10])
def test_sizes_of_the_uniform_classes(family: int, resources: int) -> None:
    """Every size is in the range of its class, for one, three and ten resources."""
    problem = vector_packing(family=family, workers=50, resources=resources)
    least, largest = RANGES[family]

    assert problem.size == 50
    assert len(problem.resources) == max(resources, 3)
    assert all(least <= size <= largest for demand in problem.demands for size in demand[:resources])
    assert {room[:resources] for room in problem.rooms} == {(150 if family == 6 else 1000,) * resources}


def test_sizes_are_close_in_class_7_and_opposite_in_class_8() -> None:
    """The other sizes differ from the first by at most 10, or add up with it to 110 to 130."""
    for first, *others in vector_packing(family=7, workers=100).demands:
        assert all(abs(first - other) <= 10 for other in others)
    for first, *others in vector_packing(family=8, workers=100).demands:
        assert all(110 <= first + other <= 130 for other in others)


def test_triplets_fill_servers() -> None:
    """In class 10 all workers fill a third as many servers to the brim, three to a server."""
    problem = vector_packing(family=10, workers=12, resources=5)

    assert [sum(sizes) for sizes in zip(*problem.demands, strict=True)] == [400] * 5
    assert column_generation(problem).objective == 4


@pytest.mark.parametrize(("types", "workers"), [(1, 1), (12, 2000), (100, 100)])
def test_types_and_workers_are_as_many_as_asked_for(types: int, workers: int) -> None:
    """There is a line for every type, all different, and no worker too many."""
    problem = vectors(types=types, workers=workers)

    assert len({line.demand.vector() for line in problem.workers}) == types
    assert sum(line.count for line in problem.workers) == workers


def test_demands_fit_on_the_smaller_server() -> None:
    """Every type has 1, 2, 4 or 8 GPUs and fits on an inference server."""
    for line in vectors(types=200, workers=200, skew=0).workers:
        assert line.demand.gpu in {1, 2, 4, 8}
        assert 4 * line.demand.gpu <= line.demand.cpu <= 92
        assert 8 * line.demand.gpu <= line.demand.memory <= 210


def test_skew_makes_large_types_rarer() -> None:
    """With a larger skew fewer types have 8 GPUs."""
    eights = [
        sum(line.demand.gpu == 8 for line in vectors(types=100, workers=100, skew=skew).workers)
        for skew in (-1, 0, 2)
    ]

    assert eights == sorted(eights, reverse=True)
    assert eights[0] > eights[2]


@pytest.mark.parametrize("occupied", [0.0, 0.3, 1.0])
def test_a_share_of_the_servers_is_partly_used(occupied: float) -> None:
    """That share of either pool is in use, and has at least one GPU free."""
    problem = vectors(training=40, inference=60, occupied=occupied)
    used = [server for server in problem.servers if server.in_use]

    assert problem.size == 100
    assert sum(server.count for server in used) == 100 * occupied
    assert all(1 <= server.free_gpus <= 7 for server in used)


@pytest.mark.parametrize(("powers_of_two", "sizes"), [(True, {1, 2, 4, 8}), (False, set(range(1, 9)))])
def test_the_sizes(powers_of_two: bool, sizes: set[int]) -> None:
    """Every worker is a job of its own and needs GPUs of one of the sizes, nothing else."""
    problem = whole_gpus(workers=500, powers_of_two=powers_of_two)

    assert {line.demand.gpu for line in problem.workers} == sizes
    assert {(line.demand.cpu, line.demand.memory, line.count) for line in problem.workers} == {(0, 0, 1)}
    assert len({line.job for line in problem.workers}) == 500


def test_no_workers_is_an_instance_too() -> None:
    """Without workers there are servers only."""
    assert whole_gpus(workers=0, servers=3).size == 3


NODE = OpenbNode(name="n", cpu_milli=96_000, memory_mib=393_216, gpus=8, gpu_type="G2")
POD = PodDemand(name="p", cpu_milli=11_908, memory_mib=47_104, gpus=1, gpu_milli=460)


@pytest.fixture
def problems(traces: Path) -> list[Placement]:
    """Return the instances of the trace."""
    return list(from_data(traces))


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
        assert unwrap(found.objective) >= unwrap(optimum.bound)


def test_the_small_suite_tells_variants_apart() -> None:
    """Together the small instances show where the optimum is not what the simplest rule gives."""
    optimum = {problem.name.rpartition("/")[2]: exact(problem) for problem in small()}

    assert best_fit_decreasing(standing("small/six-items")).objective == 3
    assert optimum["six-items"].objective == 2
    assert optimum["too-large-a-worker"].status is optimum["too-many-workers"].status is Status.INFEASIBLE
    whole = standing("small/whole-jobs")
    assert optimum["whole-jobs"].objective == 4
    assert exact(Placement(**{**dict(whole), "split_jobs": True})).objective == 3


def test_best_fit_leaves_workers_of_crowded_clusters_behind() -> None:
    """On the crowded instances best fit does not place everybody, though there is a placement."""
    for name in ("crowded-06-1500", "crowded-06-1700"):
        problem = standing(f"production/{name}")
        assert best_fit_decreasing(problem).objective is None
        assert exact(problem).status is Status.OPTIMAL
