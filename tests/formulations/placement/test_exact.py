"""The default method, all exact methods against enumeration, and properties of the optimum."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.placement import buckets, column_generation, exact, milp, patterns, racks
from gsopt.core.errors import Unsupported
from gsopt.core.method import Method
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import exact_methods, heuristics, load, names
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers
from gsopt.solvers.backends import CpSat, Highs
from gsopt.testing import brute_force, check_formulation
from heuristics.placement import best_of_three
from instances.placement import elastic, vector_packing, vectors, whole_gpus
from tests.effort import cases
from tests.strategies.placement import committed, placements, tiny, tiny_vectors

SMALL = names("placement/small/")


@pytest.mark.parametrize("fifty", range(cases(10)))
def test_all_methods_equal_enumeration(fifty: int) -> None:
    """On 500 random instances every exact method that applies proves what enumeration finds."""
    for seed in range(50 * fifty, 50 * fifty + cases(50)):
        problem = tiny(seed)
        best = brute_force(problem)
        for method in exact_methods("placement").values():
            try:
                result = method(problem)
            except Unsupported:
                continue
            where = f"{method.__name__} on seed {seed}"
            assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL), where
            assert result.objective == (None if best is None else best[0]), where
            assert result.bound == result.objective, where


@pytest.mark.parametrize("fifty", range(6))
def test_all_methods_equal_enumeration_on_vectors(fifty: int) -> None:
    """On 300 random instances with one to five resources every exact method that applies equals enumeration."""
    for seed in range(50 * fifty, 50 * fifty + cases(50)):
        problem = tiny_vectors(seed)
        best = brute_force(problem)
        for method in (patterns, column_generation, exact):
            result = method(problem)
            where = f"{method.__name__} on seed {seed}"
            assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL), where
            assert result.objective == (None if best is None else best[0]), where


@pytest.mark.parametrize("resources", [5, 10])
@pytest.mark.parametrize("family", [1, 6, 10])
def test_five_and_ten_resources(family: int, resources: int) -> None:
    """With five and ten resources the optimum of 24 workers is proven, and the same by all maximal patterns."""
    problem = vector_packing(family=family, workers=24, resources=resources)
    generated, enumerated = column_generation(problem), patterns(problem)

    assert generated.status is enumerated.status is Status.OPTIMAL
    assert generated.objective == enumerated.objective


def test_the_start_is_kept_when_there_is_no_time() -> None:
    """Without time the start comes back, with a bound above 0."""
    problem = vectors(types=40, workers=300, seed=2)
    start = best_of_three(problem)
    result = exact(problem, start=start.solution, time_limit=0.0)

    assert result.objective is not None
    assert start.objective is not None
    assert result.bound is not None
    assert 0 < result.bound <= result.objective <= start.objective


def test_better_solutions_are_told_and_may_stop_the_search() -> None:
    """Each better solution is told with its bound; who returns True gets the last one back."""
    problem = vector_packing(family=10, workers=30)
    told: list[Result[PlacementSolution]] = []
    result = column_generation(problem, on_incumbent=told.append)
    values = [float(each.objective or 0) for each in told]

    assert values == sorted(values, reverse=True)
    assert told[-1].objective == result.objective
    stopped = column_generation(problem, on_incumbent=lambda _: True)
    assert stopped.objective == told[0].objective


def test_a_gap_ends_the_search() -> None:
    """With a gap of one half the first placement is enough."""
    result = column_generation(vector_packing(family=10, workers=30), gap=0.5)

    assert result.message == "resources counted"
    assert result.objective is not None


def test_the_random_instances_cover_every_variant() -> None:
    """Among them are enough of every objective, with whole jobs, with partly used servers, and infeasible."""
    problems = [tiny(seed) for seed in range(500)]
    for objective in ("servers", "fragmentation", "preferences"):
        assert sum(problem.minimize == objective for problem in problems) > 120
    assert sum(not problem.split_jobs for problem in problems) > 150
    assert sum(any(server.in_use for server in problem.servers) for problem in problems) > 200
    results = [exact(problem) for problem in problems[:100]]
    assert 10 < sum(result.status is Status.INFEASIBLE for result in results) < 50
    assert {result.message.partition(":")[0] for result in results} == {"buckets", "patterns"}


@pytest.mark.parametrize("method", [patterns, milp, column_generation])
def test_two_solver_families_on_the_small_suite(method: Any) -> None:
    """HiGHS and CP-SAT prove the optimum of every committed small instance; patterns know no racks."""
    suited = [name for name in SMALL if method is milp or "racks" not in name]
    checked = check_formulation(method, [load(name) for name in suited], backends=[Highs(), CpSat()])
    assert checked == 2 * len(suited)


def test_it_chooses_by_structure_and_says_so() -> None:
    """GPUs only go to buckets, few patterns are enumerated, many generated; the message names the method."""
    assert exact(whole_gpus(workers=100, seed=3)).message == "buckets: GPUs counted"
    assert exact(vectors(types=4, workers=100)).message.startswith("patterns: ")
    assert exact(vectors(types=50, workers=1500, skew=0.5), time_limit=1.0).message.startswith(
        "column_generation: "
    )


def _suited(name: str, method: object) -> Placement:
    """Return a committed instance that minimizes what a method minimizes."""
    problem = committed(name)
    if method is not racks:
        return problem
    servers = [server.model_copy(update={"rack": "r"}) for server in problem.servers]
    return Placement(**{**dict(problem), "servers": servers, "minimize": "racks"})


@pytest.mark.parametrize("method", exact_methods("placement").values(), ids=lambda method: method.__name__)
def test_a_worker_that_fits_nowhere_is_named(method: object) -> None:
    """Every exact method reports infeasible and names the first worker that is larger than any server."""
    assert callable(method)
    result = method(_suited("small/too-large-a-worker", method))

    assert (result.status, result.solution, result.bound) == (Status.INFEASIBLE, None, None)
    assert result.message.endswith("workers[1] of job j2 (8 GPU, 0 CPU, 0 memory) fits on no server")


@pytest.mark.parametrize("method", exact_methods("placement").values(), ids=lambda method: method.__name__)
def test_too_many_workers_are_proven_to_be_so(method: object) -> None:
    """Where each worker fits but not all together every exact method proves that there is no placement."""
    assert callable(method)
    assert method(_suited("small/too-many-workers", method)).status is Status.INFEASIBLE


def test_pools_and_groups_have_a_price() -> None:
    """Preferences never need fewer servers than servers alone, and whole jobs never less than split ones."""
    for seed in range(3):
        problem = elastic(jobs=60, training=90, inference=90, seed=seed)
        apart = exact(problem)
        assert apart.solution is not None
        alone = exact(Placement(**{**dict(problem), "minimize": "servers"}))
        split = exact(Placement(**{**dict(problem), "split_jobs": True}))
        assert alone.objective is not None
        assert apart.objective is not None
        assert split.objective is not None
        assert alone.objective <= problem.servers_in_use(apart.solution)
        assert split.objective <= apart.objective


@given(placements())
@settings(deadline=None, max_examples=30)
def test_no_heuristic_is_better(problem: Placement) -> None:
    """No heuristic beats the optimum, nor finds a placement where there is none."""
    best = exact(problem)
    for heuristic in heuristics("placement").values():
        found = heuristic(problem).objective
        if found is not None:
            assert best.objective is not None
            assert best.objective <= found


@given(placements(minimize=["servers", "preferences"]), st.integers(0, 100))
@settings(deadline=None, max_examples=30)
def test_a_further_empty_server_never_hurts(problem: Placement, gpus: int) -> None:
    """With one more training server the servers in use, or the misplaced GPUs, do not increase."""
    more = Server(name="more", capacity=Resources(gpu=gpus, cpu=50, memory=50))
    larger = Placement(**{**dict(problem), "servers": (*problem.servers, more)})
    before, after = exact(problem), exact(larger)
    if before.solution is not None:
        assert after.solution is not None
        if problem.minimize == "servers":
            assert larger.servers_in_use(after.solution) <= problem.servers_in_use(before.solution)
        else:
            misplaced = problem.misplaced_gpus(before.solution).total()
            assert larger.misplaced_gpus(after.solution).total() <= misplaced


def test_amounts_scale() -> None:
    """Milli-GPUs, milli-cores and bytes give the placement that GPUs, cores and GiB give."""
    problem = committed("small/mixed-servers")
    fine = scaled(problem, (1000, 1000, 1024))

    for method in (patterns, column_generation, milp):
        assert method(fine).objective == brute_force(problem)[0]  # type: ignore[index]


def scaled(problem: Placement, factors: tuple[int, int, int]) -> Placement:
    """Return a problem with other units."""

    def finer(amounts: Resources) -> Resources:
        gpu, cpu, memory = (amount * factor for amount, factor in zip(amounts.vector(), factors, strict=True))
        return Resources(gpu=gpu, cpu=cpu, memory=memory)

    servers = tuple(
        Server(**{**dict(server), "capacity": finer(server.capacity), "used": finer(server.used)})
        for server in problem.servers
    )
    lines = tuple(Workers(**{**dict(line), "demand": finer(line.demand)}) for line in problem.workers)
    return Placement(servers=servers, workers=lines)


def test_a_time_limit_of_zero_is_a_result() -> None:
    """Without time there is a result with a valid bound, and no exception."""
    problem = vectors(types=40, workers=300, seed=2)
    best = exact(problem)
    assert best.objective is not None
    for method in (column_generation, patterns, exact):
        try:
            result = method(problem, time_limit=0.0)
        except Unsupported:
            continue
        assert result.bound is not None
        assert result.bound <= best.objective


def test_buckets_agrees_where_it_applies() -> None:
    """On random instances with GPUs only buckets equals enumeration, and applies to most."""
    applied = 0
    for seed in range(cases(100)):
        problem = tiny(seed, minimize=["servers"], whole_gpus=True)
        try:
            result = buckets(problem)
        except Unsupported:
            continue
        best = brute_force(problem)
        assert result.objective == (None if best is None else best[0])
        applied += 1
    assert applied > cases(50)


PREFERENCES = {
    "workers that differ in GPUs alone": Placement(
        minimize="preferences",
        servers=[
            Server(name="i", pool="inference", capacity=Resources(gpu=1, cpu=1)),
            Server(name="t", capacity=Resources(gpu=1, cpu=5)),
        ],
        workers=[
            Workers(job="a", demand=Resources(cpu=4)),
            Workers(job="c", demand=Resources(gpu=1, cpu=1)),
            Workers(job="a", demand=Resources(cpu=1)),
        ],
    ),
    "jobs that differ in GPUs alone": Placement(
        minimize="preferences",
        split_jobs=False,
        servers=[
            Server(name="i", pool="inference", capacity=Resources(gpu=8, cpu=8)),
            Server(
                name="j", pool="inference", count=2, capacity=Resources(gpu=9, cpu=5), used=Resources(cpu=2)
            ),
        ],
        workers=[
            Workers(job="a", demand=Resources(gpu=1, cpu=4)),
            Workers(job="b", demand=Resources(gpu=2, cpu=4)),
        ],
    ),
}


@pytest.mark.parametrize("name", PREFERENCES)
@pytest.mark.parametrize("method", [exact, patterns, column_generation], ids=lambda method: method.__name__)
def test_gpus_that_are_not_scarce_still_count_when_misplaced(method: Method, name: str) -> None:
    """Workers alike but for GPUs of which there are plenty are not alike where misplaced GPUs are counted."""
    problem = PREFERENCES[name]
    oracle = brute_force(problem)
    assert oracle is not None
    result = method(problem)
    assert (result.objective, result.bound) == (oracle[0], oracle[0])
