"""The heuristics of placement beside best-fit decreasing, and their loop."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings

from gsopt.core.method import NoSolution
from gsopt.core.problem import Problem
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import heuristics, load, names
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers
from gsopt.testing import brute_force
from heuristics.placement import best_fit_decreasing, best_of_three, first_fit, worst_fit
from heuristics.placement.filling import fill
from heuristics.placement.scores import first, roomiest, roomiest_in_use, tightest
from heuristics.placement.sizes import gpus, largest_first, largest_share, total_share
from tests.effort import cases
from tests.heuristics.results import solved
from tests.strategies.allocation import Impatient
from tests.strategies.placement import committed, gpu_line, placements


@pytest.mark.parametrize(
    ("score", "order"),
    [
        (tightest, [2, 0, 3, 1]),
        (first, [0, 1, 2, 3]),
        (roomiest, [1, 3, 0, 2]),
        (roomiest_in_use, [3, 0, 2, 1]),
    ],
    ids=["tightest", "first", "roomiest", "roomiest in use"],
)
def test_the_order_of_servers(score: object, order: list[int]) -> None:
    """Servers with 3, 8, 0 and 8 free GPUs, of which the second is empty, come in this order."""
    assert callable(score)
    scores = score(np.array([3, 8, 0, 8]), np.array([False, True, False, False]), np.arange(4))

    assert np.argsort(scores, kind="stable").tolist() == order


PROBLEM = Placement(
    servers=(
        Server(name="a", capacity=Resources(gpu=8, cpu=20)),
        Server(name="b", capacity=Resources(gpu=4, cpu=40)),
    ),
    workers=(
        Workers(job="wide", demand=Resources(gpu=1, cpu=20)),
        Workers(job="deep", demand=Resources(gpu=4)),
        Workers(job="even", demand=Resources(gpu=2, cpu=10)),
    ),
)


def test_shares_are_those_of_the_largest_server_in_each_resource() -> None:
    """Shares are of 8 GPUs and 40 cores; memory, of which no server has any, counts nothing."""
    assert gpus(PROBLEM) == [1, 4, 2]
    assert total_share(PROBLEM) == [0.625, 0.5, 0.5]
    assert largest_share(PROBLEM) == [0.5, 0.5, 0.25]


def test_parts_of_a_gpu_count_as_fractions() -> None:
    """Half a GPU is a sixteenth of the largest server, beside a quarter of its cores."""
    server = Server(name="a", capacity=Resources(gpu=8, cpu=20))
    part = Workers(job="part", demand=Resources(cpu=5), gpu_part=500)
    problem = Placement(servers=(server,), workers=(part,))
    assert gpus(problem) == [0.5]
    assert total_share(problem) == [0.3125]
    assert largest_share(problem) == [0.25]


def test_orders_differ_and_ties_stand_as_they_are() -> None:
    """By GPUs the deep worker comes first, by shares the wide one; equal sizes keep their order."""
    assert largest_first(gpus(PROBLEM)) == [1, 2, 0]
    assert largest_first(total_share(PROBLEM)) == [0, 1, 2]
    assert largest_first(largest_share(PROBLEM)) == [0, 1, 2]


SCORES: dict[str, tuple[Callable[..., int], bool]] = {
    "tightest": (tightest, False),
    "first": (first, False),
    "roomiest": (roomiest, True),
    "roomiest in use": (roomiest_in_use, True),
}


def written_out(problem: Placement, score: Callable[..., int]) -> dict[tuple[str, int], int] | None:
    """Place worker by worker, looking at every server; jobs may be split."""
    names, hosts = list(problem.hosts), list(problem.hosts.values())
    free = [list(host.free()) for host in hosts]
    kinds = [{"stays"} if host.in_use else set() for host in hosts]
    placed: dict[tuple[str, int], int] = {}
    for line, workers in enumerate(problem.workers):
        for _ in range(workers.count):
            need = workers.demand.vector()
            room = [s for s in range(len(hosts)) if all(f >= n for f, n in zip(free[s], need, strict=True))]
            if not room:
                return None
            chosen = min(
                room,
                key=lambda s: (
                    dislike(problem, workers.kind, hosts[s], kinds[s]),
                    score(free[s][0], not kinds[s], s),
                    s,
                ),
            )
            free[chosen] = [f - n for f, n in zip(free[chosen], need, strict=True)]
            kinds[chosen].add("flexible" if workers.kind == "flexible" else "stays")
            placed[names[chosen], line] = placed.get((names[chosen], line), 0) + 1
    return placed


def dislike(problem: Placement, kind: str, host: Server, kinds: set[str]) -> int:
    """Rank a server: 0 for the preferred pool and company, 1 for the other pool, 2 for base beside flexible."""
    if problem.minimize != "preferences":
        return 0
    if host.pool == "training":
        return int(kind != "inelastic")
    meets = "stays" in kinds if kind == "flexible" else kinds == {"flexible"}
    return 2 if meets else int(kind == "inelastic")


@pytest.mark.parametrize("name", SCORES)
@given(problem=placements())
@settings(deadline=None, max_examples=cases(60))
def test_it_equals_the_loop_written_out(name: str, problem: Placement) -> None:
    """Every score gives the placement of a loop that looks at every server for every worker."""
    score, one_by_one = SCORES[name]
    split = Placement(**{**dict(problem), "split_jobs": True})
    expected = written_out(split, score)
    found = fill(split, range(len(split.workers)), score, one_by_one=one_by_one)
    if isinstance(found, NoSolution):
        assert expected is None
        return
    placed: dict[tuple[str, int], int] = {}
    for server, line, number in found.placed:
        placed[server, line] = placed.get((server, line), 0) + number

    assert placed == expected


@given(problem=placements())
@settings(deadline=None, max_examples=cases(60))
def test_whole_jobs_stay_together(problem: Placement) -> None:
    """Where jobs are not split every job stands in one pool, or stays behind as a whole."""
    whole = Placement(**{**dict(problem), "split_jobs": False})
    found = fill(whole, range(len(whole.workers)), tightest)
    if isinstance(found, PlacementSolution):
        assert whole.violations(found) == []


def test_lines_that_are_alike_share_servers() -> None:
    """Lines of the same demand one after the other fill the same server, as one line would."""
    problem = committed("small/powers-of-two")
    one_by_one = tuple(
        line.model_copy(update={"job": f"{line.job}-{k}", "count": 1})
        for line in problem.workers
        for k in range(line.count)
    )
    apart = Placement(**{**dict(problem), "workers": one_by_one})
    together = fill(problem, range(len(problem.workers)), tightest)
    singly = fill(apart, range(len(apart.workers)), tightest)

    assert isinstance(together, PlacementSolution)
    assert isinstance(singly, PlacementSolution)
    assert problem.objective(together) == apart.objective(singly)


def servers_of(problem: Placement, **options: Any) -> list[str]:
    """Return the server of each worker, of which every line has one."""
    solution = solved(first_fit(problem, **options))
    return [server for server, _, _ in sorted(solution.placed, key=lambda entry: entry.workers)]


def test_the_first_server_with_room_is_taken() -> None:
    """Workers of 5, 4, 3 and 4 GPUs in this order go to the first, second, first and second server."""
    assert servers_of(gpu_line(5, 4, 3, 4)) == ["s[0]", "s[1]", "s[0]", "s[1]"]


def test_servers_in_use_have_no_precedence() -> None:
    """The first server is taken even if it is empty and a later one in use."""
    servers = (
        Server(name="empty", capacity=Resources(gpu=8)),
        Server(name="used", capacity=Resources(gpu=8), used=Resources(gpu=1)),
    )
    problem = Placement(servers=servers, workers=(Workers(job="a", demand=Resources(gpu=1)),))

    assert servers_of(problem) == ["empty"]


def test_decreasing_order_is_an_option() -> None:
    """Workers of 2, 2, 6 and 6 GPUs take three servers as they come, two with the largest first."""
    problem = gpu_line(2, 2, 6, 6)

    assert first_fit(problem).objective == 3
    assert servers_of(problem, decreasing=True) == ["s[0]", "s[1]", "s[0]", "s[1]"]


SERVERS = (
    Server(name="empty", capacity=Resources(gpu=8)),
    Server(name="half", capacity=Resources(gpu=8), used=Resources(gpu=4)),
    Server(name="most", capacity=Resources(gpu=8), used=Resources(gpu=6)),
)


def where(count: int, gpus: int, **options: Any) -> list[tuple[str, int]]:
    """Return where the workers of one line stand."""
    problem = Placement(servers=SERVERS, workers=(Workers(job="a", count=count, demand=Resources(gpu=gpus)),))
    solution = solved(worst_fit(problem, **options))
    return [(entry.server, entry.number) for entry in solution.placed]


def test_the_most_free_gpus_are_taken() -> None:
    """An empty server is taken like any other, and chosen anew for every worker, also of one line."""
    assert where(1, 2) == [("empty", 1)]
    assert where(4, 2) == [("empty", 1), ("empty", 1), ("empty", 1), ("half", 1)]


def test_empty_servers_may_come_last() -> None:
    """Without spreading an empty server is opened only if none in use has room."""
    assert where(4, 2, spread=False) == [("half", 1), ("half", 1), ("most", 1), ("empty", 1)]


def test_spreading_uses_every_server() -> None:
    """As many workers as servers stand alone."""
    assert worst_fit(gpu_line(1, 1, 1, 1)).objective == 4
    assert worst_fit(gpu_line(1, 1, 1, 1), spread=False).objective == 1


ORDERS: tuple[Literal["gpu", "sum", "max"], ...] = ("gpu", "sum", "max")


@given(placements())
@settings(deadline=None, max_examples=cases(50, least=17))
def test_it_is_the_best_of_the_orders(problem: Placement) -> None:
    """The value is the lowest of the three orders; there is none only if no order places everybody."""
    values = [best_fit_decreasing(problem, order=order).objective for order in ORDERS]
    assert best_of_three(problem).objective == min((v for v in values if v is not None), default=None)


@pytest.mark.parametrize(("looks", "is_found"), [(0, False), (4, True), (6, True), (100, True)])
def test_orders_that_are_finished_in_time_count(looks: int, is_found: bool) -> None:
    """If time runs out in a later order, what an earlier one found is returned."""
    servers = [Server(name="s", capacity=Resources(gpu=8), count=100, gpu_type="t4")]
    workers = [Workers(job="a", demand=Resources(gpu=2), count=300, gpu_types=["t4"])]
    problem = Placement(minimize="servers", servers=servers, workers=workers)
    result = best_of_three(problem, budget=Impatient(looks=[looks]))
    assert result.objective == (75 if is_found else None)


@pytest.mark.parametrize("name", ["vectors-08-2000", "vectors-20-1500", "fragmentation-12-2000"])
def test_large_instances(name: str) -> None:
    """On instances of production size it is the best of the orders too."""
    problem = committed(f"production/{name}")
    values = [best_fit_decreasing(problem, order=order).objective for order in ORDERS]
    assert best_of_three(problem).objective == min(v for v in values if v is not None)


VARIANTS: tuple[tuple[Any, dict[str, Any]], ...] = (
    *((method, {}) for method in heuristics("placement").values()),
    (best_fit_decreasing, {"order": "sum"}),
    (best_fit_decreasing, {"order": "max"}),
    (first_fit, {"decreasing": True}),
    (worst_fit, {"spread": False}),
)
IDS = [method.__name__ + "".join(f"-{value}" for value in options.values()) for method, options in VARIANTS]


def test_the_packages_methods() -> None:
    """The decision offers these heuristics, each by the name of its function."""
    found = heuristics("placement")
    assert list(found) == [
        "first_fit",
        "best_fit_decreasing",
        "best_of_three",
        "worst_fit",
        "gpu_packing",
        "best_fit",
        "dot_product",
        "random_fit",
        "gpu_clustering",
        "fgd",
    ]
    assert all(name == method.__name__ for name, method in found.items())


@pytest.fixture(scope="module")
def small_suite() -> dict[str, tuple[Problem[Any], Any]]:
    """Return every committed small instance with what enumeration finds, once for all methods."""
    problems = {name: load(name) for name in names("placement/small/")}
    return {name: (problem, brute_force(problem)) for name, problem in problems.items()}


@pytest.mark.parametrize(("method", "options"), VARIANTS, ids=IDS)
def test_the_small_suite(
    small_suite: dict[str, tuple[Problem[Any], Any]], method: Any, options: dict[str, Any]
) -> None:
    """On every committed small instance a solution is feasible, and none is better than the optimum."""
    for name, (problem, best) in small_suite.items():
        found = method(problem, **options)
        assert found.objective is None or (best is not None and best[0] <= found.objective), name


@given(placements())
@settings(deadline=None, max_examples=cases(60))
def test_random_instances(problem: Placement) -> None:
    """Every heuristic places all workers by the rules, or says how many stay behind and proves nothing."""
    best = brute_force(problem)
    for method, options in VARIANTS:
        found = method(problem, **options)
        if found.objective is not None:
            assert best is not None
            assert best[0] <= found.objective
        elif problem.misfit:
            assert (found.status, found.message) == (Status.INFEASIBLE, problem.misfit)
        else:
            workers = sum(line.count for line in problem.workers)
            assert found.status is Status.UNKNOWN
            assert found.message.endswith(f" of {workers} workers remain unplaced")


@pytest.mark.parametrize(("method", "options"), VARIANTS, ids=IDS)
def test_what_cannot_be_placed_is_said(method: Any, options: dict[str, Any]) -> None:
    """The first worker that fits on no server is named, others are counted; without workers all is well."""
    results = [
        method(load(f"placement/small/{name}"), **options)
        for name in ("too-large-a-worker", "too-many-workers", "no-workers")
    ]

    assert [result.status for result in results[:2]] == [Status.INFEASIBLE, Status.UNKNOWN]
    assert results[0].message == "workers[1] of job j2 (8 GPU, 0 CPU, 0 memory) fits on no server"
    assert results[1].message == "1 of 3 workers remain unplaced"
    assert (results[2].objective, results[2].solution.placed) == (1, ())
