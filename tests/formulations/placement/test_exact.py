"""Exact methods for placement, and the packing that they share."""

from collections.abc import Callable
from itertools import product
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.placement import buckets, column_generation, exact, milp, patterns, racks
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import FillPatterns, Packing
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import Method
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.evaluation.catalogue import exact_methods, heuristics, names
from gsopt.problems.placement import Placed, Placement, PlacementSolution, Resources, Server, Workers
from gsopt.scenario.cluster import Cluster
from gsopt.solvers.backends import CpSat, Highs
from gsopt.testing import brute_force, check_formulation, check_heuristic
from heuristics.placement import best_fit_decreasing, best_of_three
from instances.placement import elastic, vector_packing, vectors, whole_gpus
from tests.effort import cases
from tests.strategies.placement import committed, gpu_line, placements, tiny, tiny_vectors
from tests.unwrap import unwrap

SMALL = names("placement/small/")


@pytest.mark.parametrize(
    ("draw", "fifty"),
    [*((tiny, fifty) for fifty in range(cases(10))), *((tiny_vectors, fifty) for fifty in range(6))],
)
def test_all_methods_equal_enumeration(draw: Callable[[int], Placement], fifty: int) -> None:
    """On 500 random instances, and 300 of one to five resources, what applies proves what enumeration finds."""
    for seed in range(50 * fifty, 50 * fifty + cases(50)):
        problem = draw(seed)
        best = brute_force(problem)
        for method in exact_methods("placement").values():
            try:
                result = method(problem)
            except Unsupported:
                assert draw is tiny or method not in (patterns, column_generation, exact)
                continue
            where = f"{method.__name__} on seed {seed}"
            assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL), where
            assert result.objective == (None if best is None else best[0]), where
            assert result.bound == result.objective, where


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
    assert 0 < unwrap(result.bound) <= unwrap(result.objective) <= unwrap(start.objective)


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
    """HiGHS and CP-SAT prove the optimum of every small instance; patterns know no racks or single GPUs."""
    suited = [name for name in SMALL if method is milp or "racks" not in name]
    problems = [committed(name.removeprefix("placement/")) for name in suited]
    problems = [problem for problem in problems if method is milp or not problem.beyond_amounts]
    assert check_formulation(method, problems, backends=[Highs(), CpSat()]) == 2 * len(problems)
    assert check_formulation(method, problems[:3]) == 3  # by the backend that is chosen where none is named


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
        alone = exact(Placement(**{**dict(problem), "minimize": "servers"}))
        split = exact(Placement(**{**dict(problem), "split_jobs": True}))
        assert unwrap(alone.objective) <= problem.servers_in_use(unwrap(apart.solution))
        assert unwrap(split.objective) <= unwrap(apart.objective)


@given(placements())
@settings(deadline=None, max_examples=cases(30, least=10))
def test_no_heuristic_is_better(problem: Placement) -> None:
    """No heuristic beats the optimum, nor finds a placement where there is none."""
    best = exact(problem)
    for heuristic in heuristics("placement").values():
        found = heuristic(problem).objective
        if found is not None:
            assert unwrap(best.objective) <= found


@given(placements(minimize=["servers", "preferences"]), st.integers(0, 100))
@settings(deadline=None, max_examples=cases(30, least=10))
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
    for method in (column_generation, patterns, exact):
        try:
            result = method(problem, time_limit=0.0)
        except Unsupported:
            continue
        assert unwrap(result.bound) <= unwrap(best.objective)


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
    oracle = unwrap(brute_force(problem))
    result = method(problem)
    assert (result.objective, result.bound) == (oracle[0], oracle[0])


def test_one_column_per_line_and_server() -> None:
    """Three lines on four servers are twelve columns and one for every server."""
    form = milp.standard_form(committed("small/six-items"))
    assert len(form.columns) == 3 * 4 + 4
    assert form.integral_objective


def test_the_model_has_groups_only_for_preferences() -> None:
    """Groups and sharing have columns where preferences are minimized, whole jobs where they are not split."""
    named = {name: milp.standard_form(committed(f"small/{name}")).columns for name in NAMES}
    kinds = {name: {column.partition("[")[0] for column in columns} for name, columns in named.items()}

    assert kinds == {
        "six-items": {"x", "y"},
        "preferences": {"x", "y", "m", "f"},
        "whole-jobs": {"x", "y", "h"},
        "preferences-whole-jobs": {"x", "y", "f", "h"},
    }


NAMES = ("six-items", "preferences", "whole-jobs", "preferences-whole-jobs")


def test_amounts_too_fine_are_refused() -> None:
    """Bytes that have no common divisor are refused, because no solver can be trusted with them."""
    problem = Placement(
        servers=(Server(name="s", count=2, capacity=Resources(gpu=1, memory=999_999_937)),),
        workers=tuple(
            Workers(job=str(memory), demand=Resources(memory=memory)) for memory in (700_001, 900_007)
        ),
    )
    with pytest.raises(Unsupported, match="milp: amounts up to 1,600,008 are too fine"):
        milp(problem)


def test_nothing_to_place_is_solved() -> None:
    """Without workers the servers in use are counted."""
    result = milp(committed("small/no-workers"))
    assert (result.status, result.objective) == (Status.OPTIMAL, 1)


@pytest.mark.parametrize("seed", range(4))
def test_it_equals_the_assignment_model(seed: int) -> None:
    """With a few dozen workers of four types pattern and assignment model have the same optimum."""
    for minimize in ("servers", "fragmentation"):
        problem = vectors(
            types=4, workers=16, training=4, inference=4, occupied=0.5, minimize=minimize, seed=seed
        )
        first, second = patterns(problem), milp(problem)
        assert first.status is second.status
        assert first.objective == second.objective
    problem = elastic(jobs=4, training=4, inference=4, seed=seed)
    assert patterns(problem).objective == milp(problem).objective


def test_thousands_of_workers_are_no_more_work() -> None:
    """2,000 workers of 8 types on 963 servers are proven optimal."""
    result = patterns(vectors(types=8, workers=2000, seed=1))
    assert result.status is Status.OPTIMAL
    assert result.message.endswith("maximal patterns of 2 kinds of servers")


def test_too_many_patterns_are_refused() -> None:
    """More patterns than asked for is refused with the way out."""
    with pytest.raises(Unsupported, match="more than 5; use column_generation"):
        patterns(vectors(types=8, workers=100), most=5)


@given(placements())
@settings(deadline=None, max_examples=cases(40, least=14))
def test_they_are_the_maximal_ones_of_all_fillings(problem: Placement) -> None:
    """The patterns of every zone and kind are the feasible fillings to which nothing can be added."""
    packing = Packing.of(problem)
    patterns = unwrap(maximal_patterns(packing, limit=10_000, budget=Budget()))
    found = {
        (z, k, tuple(c)) for z, k, c in zip(patterns.zone, patterns.kind, patterns.counts.tolist(), strict=True)
    }
    expected = set()
    for z, zone in enumerate(packing.zones):
        most = [total if i in zone.demands else 0 for i, total in enumerate(packing.totals.tolist())]
        for k in zone.kinds:
            fillings = [c for c in product(*(range(m + 1) for m in most)) if fits(packing, k, c)]
            for filling in fillings:
                steps = (np.add(filling, unit) for unit in np.eye(len(most), dtype=int))
                if not any((step <= most).all() and fits(packing, k, step) for step in steps):
                    expected.add((z, k, filling))

    assert found == expected
    assert len(found) == len(patterns)


def fits(packing: Packing, kind: int, counts: object) -> bool:
    """Check whether a filling fits on a server of a kind."""
    return bool((np.asarray(counts) @ packing.demands <= packing.rooms[kind]).all())


def test_whole_gpus_on_eight() -> None:
    """Sizes 4, 3 and 2 without a limit on their number fill 8 GPUs in six maximal ways."""
    problem = Placement(
        servers=(Server(name="s", count=9, capacity=Resources(gpu=8)),),
        workers=tuple(Workers(job=str(gpu), count=9, demand=Resources(gpu=gpu)) for gpu in (4, 3, 2)),
    )
    patterns = unwrap(maximal_patterns(Packing.of(problem), limit=100, budget=Budget()))

    assert patterns.counts.tolist() == [[2, 0, 0], [1, 1, 0], [1, 0, 2], [0, 2, 1], [0, 1, 2], [0, 0, 4]]


@pytest.mark.parametrize("limit", [0, 10, 1000])
def test_it_gives_up_beyond_the_limit(limit: int) -> None:
    """With more maximal patterns than the limit there is no answer."""
    assert maximal_patterns(Packing.of(vectors(types=30, workers=2000)), limit=limit, budget=Budget()) is None


def test_hundreds_of_demands_are_refused_at_once() -> None:
    """With more than 200 demands that fit on a server there is no answer, and no deep recursion."""
    assert maximal_patterns(Packing.of(vectors(types=450, workers=450)), limit=10**9, budget=Budget()) is None


@given(st.lists(st.sampled_from([1, 2, 4, 8]), max_size=60))
@settings(deadline=None, max_examples=cases(60))
def test_powers_of_two_need_the_sum_over_eight(sizes: list[int]) -> None:
    """With powers of two on servers of 8 the optimum is the sum over 8, rounded up, proven by counting."""
    result = buckets(gpu_line(*sizes))
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound == ceil(sum(sizes) / 8)
    assert result.solver == ""


@pytest.mark.parametrize("seed", range(5))
def test_thousands_of_workers(seed: int) -> None:
    """3,000 workers of powers of two need the sum over 8, rounded up; of any size they are proven as well."""
    powers = whole_gpus(workers=3000, seed=seed)
    total = sum(line.demand.gpu * line.count for line in powers.workers)
    assert buckets(powers).objective == ceil(total / 8)
    assert buckets(whole_gpus(workers=3000, powers_of_two=False, seed=seed)).status is Status.OPTIMAL


@given(st.lists(st.integers(1, 8), max_size=14), st.integers(0, 3))
@settings(deadline=None, max_examples=cases(40, least=14))
def test_any_sizes_equal_the_pattern_model(sizes: list[int], used: int) -> None:
    """Sizes from 1 to 8, some servers partly used: the value is that of the pattern model."""
    servers = (
        Server(name="old", count=2, capacity=Resources(gpu=8), used=Resources(gpu=used)),
        Server(name="small", count=2, capacity=Resources(gpu=4)),
        Server(name="new", count=14, capacity=Resources(gpu=8)),
    )
    problem = Placement(servers=servers, workers=gpu_line(*sizes).workers)

    assert buckets(problem).objective == patterns(problem).objective


def test_six_items_are_settled_by_a_solver() -> None:
    """{4, 3, 3, 2, 2, 2} is where counting does not prove best fit, and the optimum of 2 is found."""
    result = buckets(committed("small/six-items"))
    assert (result.objective, result.status, result.method) == (2, Status.OPTIMAL, "buckets")
    assert result.solver == "highs"


def test_too_few_gpus_are_counted() -> None:
    """More GPUs asked for than there are is infeasible, proven by counting."""
    result = buckets(gpu_line(8, 8, 8, servers=2))
    assert (result.status, result.message) == (Status.INFEASIBLE, "there are not enough GPUs")


def test_lines_of_several_workers_may_span_servers() -> None:
    """A line of 5 workers of 3 GPUs stands on three servers, two on each at most."""
    line = Workers(job="a", count=5, demand=Resources(gpu=3))
    problem = Placement(servers=gpu_line(1, servers=4).servers, workers=(line,))
    result = buckets(problem)
    assert sorted(entry.number for entry in unwrap(result.solution).placed) == [1, 2, 2]


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (vectors(types=2, workers=4), "workers need more than GPUs"),
        (elastic(jobs=2), "it minimizes servers, not preferences"),
        (vectors(types=2, workers=4, minimize="fragmentation"), "it minimizes servers, not fragmentation"),
        (committed("small/whole-jobs"), "jobs that must not be split can choose between two"),
    ],
    ids=["cpu", "preferences", "fragmentation", "whole jobs"],
)
def test_other_problems_are_refused(problem: Placement, reason: str) -> None:
    """What needs more than counting GPUs is refused with the reason."""
    with pytest.raises(Unsupported, match=reason):
        buckets(problem)


@pytest.mark.parametrize("method", [racks, milp, exact], ids=lambda method: method.__name__)
def test_tiny_problems(method: object) -> None:
    """Every optimum of enumeration is proven, by counting, by the model, and by the default method."""
    problems = [tiny(seed, minimize=["racks"]) for seed in range(cases(24))]
    assert check_formulation(method, problems) == len(problems)  # type: ignore[arg-type]  # of three types


def test_a_heuristic_minimizes_nothing_else() -> None:
    """Best fit decreasing, which does not look at racks, is judged by them."""
    problems = [tiny(seed, minimize=["racks"]) for seed in range(20)]
    assert check_heuristic(best_fit_decreasing, problems)


@given(placements(minimize=["racks"]), st.integers(0, 3))
@settings(deadline=None, max_examples=cases(12))
def test_more_racks_touched_before_cost_no_less(problem: Placement, index: int) -> None:
    """Work that is there already touches its rack, and takes nothing off the others."""
    busy = [
        server.model_copy(update={"used": Resources(gpu=server.capacity.gpu)}) if number == index else server
        for number, server in enumerate(problem.servers)
    ]
    before, after = racks(problem), racks(Placement(**{**dict(problem), "servers": busy}))
    if after.objective is not None:
        assert unwrap(before.objective) <= after.objective


def test_the_graph_says_what_is_near() -> None:
    """Twelve GPUs fit beside the work of two racks that are touched already, whichever they are."""
    graph = Cluster.uniform(racks=4, machines=2, gpus=4).graph()
    lines = [Workers(job="a", count=3, demand=Resources(gpu=4))]
    problem = Placement.on_cluster(Cluster.from_graph(graph), lines, taken=[0, 31])
    assert exact(problem).objective == 3
    small = Placement.on_cluster(Cluster.from_graph(graph), lines[:1], taken=[])
    result = exact(small)

    assert (result.status, result.objective, result.message.split(":")[0]) == (Status.OPTIMAL, 2, "racks")
    fitting = Placement.on_cluster(
        Cluster.from_graph(graph), [lines[0].model_copy(update={"count": 2})], taken=[0, 31]
    )
    placed = unwrap(exact(fitting).solution)
    assert set(fitting.racks_touched(placed)) == {"rack 0", "rack 3"}


def test_counting_is_enough_for_many() -> None:
    """A thousand workers on 1,024 machines are settled without a solver."""
    cluster = Cluster.uniform(racks=32, machines=32, gpus=8)
    lines = [Workers(job=f"j{size}", count=250, demand=Resources(gpu=size)) for size in (1, 2, 4, 8)]
    result = racks(Placement.on_cluster(cluster, lines))
    assert (result.status, result.objective, result.solver) == (Status.OPTIMAL, 15, "")


def test_too_little_room_is_counted() -> None:
    """More GPUs than there are prove that there is no placement."""
    problem = Placement.on_cluster(
        Cluster.uniform(machines=2, gpus=4), [Workers(job="a", count=9, demand=Resources(gpu=1))]
    )
    assert racks(problem).status is Status.INFEASIBLE


def test_no_time_leaves_a_placement_and_a_bound() -> None:
    """Whatever the limit there is a placement, a bound, and the word that time was up."""
    servers = [
        Server(name=f"s{index}", capacity=Resources(gpu=5, cpu=9), rack=f"r{index // 2}") for index in range(40)
    ]
    lines = [Workers(job=f"j{need}", count=8, demand=Resources(gpu=need, cpu=6 - need)) for need in (1, 2, 3)]
    result = racks(Placement(servers=servers, workers=lines, minimize="racks"), budget=Budget(time_limit=0.0))

    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert result.solution is not None
    assert result.bound is not None


def test_other_methods_say_what_they_lack() -> None:
    """Patterns know no racks, and racks nothing else."""
    problem = tiny(0, minimize=["racks"])
    for method in (patterns, column_generation):
        with pytest.raises(Unsupported, match="use racks or milp to minimize racks"):
            method(problem)
    with pytest.raises(Unsupported, match="racks: it minimizes racks, not servers"):
        racks(committed("small/six-items"))


def test_servers_and_workers_that_are_alike_are_one() -> None:
    """A thousand servers in two lines are two kinds, and lines with the same demand one demand."""
    problem = vectors(types=3, workers=30)
    doubled = Placement(**{**dict(problem), "workers": (*problem.workers, *problem.workers)})
    packing = Packing.of(doubled)

    assert packing.limits.tolist() == [443, 520]
    assert packing.demands.shape == (3, 3)
    assert packing.totals.tolist() == [2 * line.count for line in problem.workers]


def test_amounts_are_divided_by_what_divides_every_demand() -> None:
    """Demands of 400 and 600 against 1,300 free become 2 and 3 against 6; what nobody needs is left out."""
    problem = Placement(
        servers=(Server(name="s", capacity=Resources(gpu=1300, memory=7)),),
        workers=tuple(Workers(job=str(gpu), demand=Resources(gpu=gpu)) for gpu in (400, 600)),
    )
    packing = Packing.of(problem)

    assert packing.demands.tolist() == [[2], [3]]
    assert packing.rooms.tolist() == [[6]]


def test_servers_without_room_are_left_out() -> None:
    """A server on which no worker fits is no kind, but counts when it is in use."""
    full = Server(name="full", count=3, capacity=Resources(gpu=8), used=Resources(gpu=8))
    problem = Placement(
        servers=(full, Server(name="s", capacity=Resources(gpu=8))),
        workers=(Workers(job="a", demand=Resources(gpu=1)),),
    )
    packing = Packing.of(problem)

    assert [kind.names for kind in packing.kinds] == [("s",)]
    assert packing.offset == 3


def test_zones_follow_the_problem() -> None:
    """One zone for servers alone, two for whole jobs, three for preferences with flexible workers."""
    problem = elastic(jobs=20)
    alone = Placement(**{**dict(problem), "minimize": "servers", "split_jobs": True})
    whole = Placement(**{**dict(problem), "minimize": "servers"})
    assert [len(Packing.of(p).zones) for p in (alone, whole, problem)] == [1, 2, 3]


def test_whole_jobs_of_one_profile_are_one_unit() -> None:
    """Jobs with the same workers move as copies of one unit; split jobs move worker by worker."""
    need = Resources(gpu=2)
    lines = tuple(Workers(job=f"j{k}", count=3, demand=need, kind="base") for k in range(4))
    servers = (Server(name="t", count=9, capacity=Resources(gpu=8)),)
    whole = Packing.of(Placement(servers=servers, workers=lines, minimize="preferences", split_jobs=False))
    split = Packing.of(Placement(servers=servers, workers=lines, minimize="preferences"))

    assert [unit.number for unit in whole.units] == [4]
    assert [unit.number for unit in split.units] == [12]


@given(placements())
@settings(deadline=None, max_examples=cases(40, least=14))
def test_the_model_counts_what_the_judge_counts(problem: Placement) -> None:
    """The optimum of the program over all maximal patterns is read as a placement of the same value."""
    if problem.misfit:
        return
    packing = Packing.of(problem)
    patterns = unwrap(maximal_patterns(packing, limit=10_000, budget=Budget()))
    outcome = Highs().solve(packing.form(patterns))
    best = brute_force(problem)
    if outcome.values is None:
        assert best is None
        return
    solution = packing.solution(outcome.values.astype(int), patterns)

    assert best is not None
    assert problem.violations(solution) == []
    assert problem.objective(solution) == round(outcome.objective or 0) == best[0]
    assert packing.floor <= best[0]


def test_patterns_know_each_other() -> None:
    """Patterns add up in order, and leaving out known ones leaves out repetitions too."""
    first = FillPatterns.of([(0, 0, [1, 2]), (0, 1, [1, 2])], 2)
    second = FillPatterns.of([(0, 1, [1, 2]), (0, 1, [0, 2]), (0, 1, [0, 2])], 2)
    assert (first + second).counts.tolist() == [[1, 2], [1, 2], [1, 2], [0, 2], [0, 2]]
    assert second.without(set(first.keys())).counts.tolist() == [[0, 2]]
    assert len(FillPatterns.of([], 2) + first) == 2


def test_the_committed_problem_of_all_kinds() -> None:
    """On the example of all kinds training, shared and flexible servers are filled from their own workers."""
    problem = committed("small/preferences")
    packing = Packing.of(problem)
    patterns = FillPatterns.of([(0, 0, [2, 0]), (1, 1, [0, 2]), (2, 1, [0, 2])], 2)
    moved = np.zeros(packing.moves, dtype=np.int64)
    moved[1:3] = 2  # base and flexible workers go to inference servers
    solution = packing.solution(np.append(moved, [1, 1, 1]), patterns)

    assert set(solution.placed) == {("t", 0, 2), ("i[0]", 1, 2), ("i[1]", 2, 2)}


def test_flexible_workers_on_a_server_in_use_share_it() -> None:
    """Beside what an inference server runs already flexible workers are misplaced, in the model as well."""
    problem = Placement(
        servers=(
            Server(name="used", pool="inference", capacity=Resources(gpu=8), used=Resources(gpu=4)),
            Server(name="empty", pool="inference", capacity=Resources(gpu=8)),
        ),
        workers=(Workers(job="a", kind="flexible", count=2, demand=Resources(gpu=1)),),
        minimize="preferences",
    )
    packing = Packing.of(problem)
    for server in ("used", "empty"):
        solution = PlacementSolution(placed=(Placed(server, 0, 2),))
        filled = packing.encode(solution)
        point = np.asarray(filled.values, dtype=np.float64)

        assert (filled.patterns.zone == packing.shared_zone).all() == (server == "used")
        assert packing.value(filled) == problem.objective(solution)
        assert packing.form(filled.patterns).violation(point) == 0
