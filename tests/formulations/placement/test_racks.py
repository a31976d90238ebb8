"""Racks: the fewest that are touched, proven by counting or by the assignment model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.placement import column_generation, exact, milp, patterns, racks
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.placement import Placement, Resources, Server, Workers
from gsopt.scenario.cluster import Cluster
from gsopt.testing import check_formulation, check_heuristic
from heuristics.placement import best_fit_decreasing
from tests.effort import cases
from tests.strategies.placement import committed, placements, tiny


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
        assert before.objective is not None
        assert before.objective <= after.objective


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
    placed = exact(fitting).solution
    assert placed is not None
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
        with pytest.raises(Unsupported, match="racks and milp minimize racks"):
            method(problem)
    with pytest.raises(Unsupported, match="racks: it minimizes racks, not servers"):
        racks(committed("small/six-items"))
