"""Exact methods where single GPUs matter: the model, the search and the ceiling, against brute force."""

from fractions import Fraction
from importlib.util import find_spec
from random import Random

import pytest

import gsopt
from formulations.placement import buckets, column_generation, exact, milp, patterns, racks, search
from formulations.placement.ceiling import ceiling
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers
from gsopt.solvers.backends import CpSat
from gsopt.testing import brute_force
from tests.effort import cases
from tests.exactness.placement import draw_parts
from tests.strategies.placement import committed
from tests.unwrap import unwrap


def drawn(seed: int) -> Placement:
    """Draw a tiny problem with parts of GPUs."""
    return draw_parts(Random(seed))


def test_model_and_search_find_the_optimum() -> None:
    """On tiny problems the model, the search and brute force agree, and the ceiling is no higher."""
    for seed in range(cases(50)):
        problem = drawn(seed)
        best = brute_force(problem)
        optimum = None if best is None else best[0]
        found = [milp(problem)] if problem.minimize == "racks" else [milp(problem), search(problem)]

        assert {result.objective for result in found} == {optimum}, problem
        assert {result.status for result in found} <= {Status.OPTIMAL, Status.INFEASIBLE}
        if problem.minimize == "unallocated":
            assert optimum is not None
            assert ceiling(problem) <= optimum, problem


@pytest.mark.skipif(not find_spec("ortools"), reason="CP-SAT is not installed")
def test_the_model_on_a_second_solver() -> None:
    """CP-SAT proves the same optima as the search."""
    for seed in range(100, 100 + cases(20)):
        problem = drawn(seed)
        if problem.minimize != "racks":
            assert milp(problem, backend=CpSat()).objective == search(problem).objective, problem


def test_parts_fill_gpus_by_hand() -> None:
    """600 + 400 and 500 + 500 fill two GPUs; without the part of 400 one of them cannot be filled."""
    lines = [
        Workers(job="a", demand=Resources(), gpu_part=600),
        Workers(job="b", count=2, demand=Resources(), gpu_part=500),
    ]
    server = Server(name="s", capacity=Resources(gpu=2))
    both = Workers(job="c", demand=Resources(), gpu_part=400)

    full = Placement(minimize="unallocated", servers=[server], workers=[*lines, both])
    short = Placement(minimize="unallocated", servers=[server], workers=lines)
    assert [search(full).objective, milp(full).objective, ceiling(full)] == [0, 0, 0]
    assert [search(short).objective, milp(short).objective, ceiling(short)] == [400, 400, 400]


def test_a_ceiling_out_of_time_compares_totals() -> None:
    """If the time limit ends the linear program, the bound is the free GPUs minus those requested."""
    servers = [
        Server(name=f"s{i}", capacity=Resources(gpu=8, cpu=100 + i, memory=500 + 7 * i)) for i in range(90)
    ]
    lines = [
        Workers(job=f"j{i}", count=9, demand=Resources(gpu=1, cpu=30 + i % 37, memory=1 + i % 83))
        for i in range(79)
    ]
    problem = Placement(minimize="unallocated", servers=servers, workers=lines)

    assert ceiling(problem, Budget(time_limit=1e-9)) == (90 * 8 - 79 * 9) * 1000
    assert search(problem, time_limit=1e-9).bound == (90 * 8 - 79 * 9) * 1000


def test_the_ceiling_counts_what_binds() -> None:
    """Where CPUs bind, the GPUs that they leave idle are counted, and types split the servers."""
    server = Server(name="s", count=2, capacity=Resources(gpu=4, cpu=8), gpu_type="T4")
    line = Workers(job="a", count=9, demand=Resources(gpu=1, cpu=4))
    other = line.model_copy(update={"gpu_types": ("V100",)})

    def least(*lines: Workers) -> int:
        return ceiling(Placement(minimize="unallocated", servers=[server], workers=lines))

    assert least(line) == 4_000
    assert least(other) == 8_000
    assert least() == 8_000


def test_a_worker_is_worth_what_its_best_servers_pay() -> None:
    """Three workers go where CPUs are free, and two of nine others to the one server that they accept."""
    servers = [
        Server(name="a", capacity=Resources(gpu=8, cpu=100), gpu_type="A"),
        Server(name="b", capacity=Resources(gpu=4, cpu=2), gpu_type="B"),
    ]
    lines = [
        Workers(job="x", count=3, demand=Resources(gpu=1, cpu=2)),
        Workers(job="y", count=9, demand=Resources(gpu=1, cpu=1), gpu_types=("B",)),
    ]
    problem = Placement(minimize="unallocated", servers=servers, workers=lines)
    assert [ceiling(problem), milp(problem).objective, search(problem).objective] == [7_000] * 3


def test_the_first_dive_is_not_the_optimum() -> None:
    """Two parts of 400 on one GPU leave room for none of 300; one on each leaves room for all four."""
    lines = [
        Workers(job="a", count=2, demand=Resources(), gpu_part=400),
        Workers(job="b", count=4, demand=Resources(), gpu_part=300),
    ]
    servers = [Server(name="s", capacity=Resources(gpu=2))]
    problem = Placement(minimize="unallocated", servers=servers, workers=lines)
    assert [search(problem).objective, milp(problem).objective] == [0, 0]
    assert search(problem.model_copy(update={"minimize": "servers"})).objective == 1


def test_the_ceiling_holds_at_any_scale() -> None:
    """Amounts a billion times larger, which round prices badly, leave the bound valid."""
    for seed in range(cases(30)):
        problem = drawn(seed)
        if problem.minimize != "unallocated":
            continue
        factor = 10**8
        servers = [
            each.model_copy(
                update={"capacity": Resources(gpu=each.capacity.gpu, cpu=each.capacity.cpu * factor)}
            )
            for each in problem.servers
        ]
        lines = [
            each.model_copy(update={"demand": Resources(gpu=each.demand.gpu, cpu=each.demand.cpu * factor)})
            for each in problem.workers
        ]
        scaled = problem.model_copy(update={"servers": tuple(servers), "workers": tuple(lines)})
        assert abs(Fraction(ceiling(scaled)) - ceiling(problem)) <= 1
        assert ceiling(scaled) <= unwrap(search(scaled).objective)


@pytest.mark.parametrize("method", [buckets, column_generation, patterns, racks])
def test_methods_that_know_amounts_only_refuse(method: object) -> None:
    """Methods that cannot see single GPUs say so."""
    problem = committed("small/gpu-parts")
    if method is racks:
        problem = problem.model_copy(
            update={
                "minimize": "racks",
                "servers": tuple(server.model_copy(update={"rack": "r"}) for server in problem.servers),
            }
        )
    with pytest.raises(Unsupported, match="parts of GPUs"):
        method(problem)  # type: ignore[operator]


def test_exact_bounds_what_it_cannot_search() -> None:
    """With too many workers for the model and the search, the start stays and the ceiling is its bound."""
    problem = Placement(
        minimize="unallocated",
        servers=[Server(name="s", count=200, capacity=Resources(gpu=8, cpu=2))],
        workers=[Workers(job="a", count=900, demand=Resources(cpu=1), gpu_part=700)],
    )
    result = gsopt.solve(problem)
    assert (result.objective, result.bound) == (1_600_000 - 400 * 700, 1_600_000 - 400 * 700)
    assert exact(problem).solution is None


@pytest.mark.parametrize("in_use", [False, True])
def test_the_bound_on_servers_is_that_of_the_scarcest_resource(*, in_use: bool) -> None:
    """750 GPUs need 94 servers of 8, and 8 in use that are full count beside these."""
    servers = [Server(name="s", capacity=Resources(gpu=8, cpu=64), count=200)]
    full = Resources(gpu=8)
    servers += [Server(name="full", capacity=Resources(gpu=8, cpu=64), used=full, count=8)] if in_use else []
    workers = [Workers(job="a", count=250, demand=Resources(gpu=3, cpu=4))]
    result = search(Placement(minimize="servers", servers=servers, workers=workers))
    assert (result.solution, result.bound) == (None, 102 if in_use else 94)


def test_whole_jobs_and_other_objectives_are_refused_by_the_search() -> None:
    """The search knows servers and unallocated GPUs, and no jobs that choose between two pools."""
    pools = [
        Server(name="t", capacity=Resources(gpu=1)),
        Server(name="i", pool="inference", capacity=Resources(gpu=1)),
    ]
    line = Workers(job="a", demand=Resources(), gpu_part=1)
    with pytest.raises(Unsupported, match="two"):
        search(Placement(servers=pools, workers=[line], split_jobs=False))
    with pytest.raises(Unsupported, match="not preferences"):
        search(Placement(servers=pools, workers=[], minimize="preferences"))


def test_the_search_keeps_its_deadline() -> None:
    """A search without time returns the start and a valid bound."""
    problem = committed("small/full-cluster")
    start = PlacementSolution(placed=[])
    result = search(problem, time_limit=0.0, start=start)
    assert unwrap(result.bound) <= unwrap(search(problem).objective) <= unwrap(result.objective)
