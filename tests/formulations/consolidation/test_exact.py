"""The default method."""

from typing import Any

import pytest

from formulations.consolidation import counts, divisible, exact, laminar, patterns
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.solvers.backends import CpSat
from gsopt.testing import check_formulation
from instances.consolidation import half_busy
from tests.effort import cases
from tests.exactness import consolidation as oracle
from tests.strategies.consolidation import committed, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    assert check_formulation(exact, committed()) == len(committed())


def test_every_model_has_the_same_optimum() -> None:
    """On random instances slots, patterns, groups, naive counts and CP-SAT are brute force to the last digit.

    They take turns; in a thorough run, and in `tests/benchmarks/bench_consolidation.py`, each solves all.
    """
    ways: list[tuple[Any, dict[str, Any]]] = [
        (exact, {}),
        (counts, {}),
        (laminar, {}),
        (patterns, {}),
        (divisible, {}),
        (laminar, {"backend": CpSat()}),
    ]
    together = cases(len(ways)) // len(ways)  # 1 in a thorough run
    for seed in range(cases(500)):
        problem, proven = tiny(seed), []
        for method, options in ways if together else [ways[seed % len(ways)]]:
            try:
                result = method(problem, **options)
            except Unsupported:
                continue
            assert result.status is Status.OPTIMAL, seed
            proven.append(result.objective)
        assert set(proven) <= {oracle.optimum(problem)}, seed


def test_the_model_suits_the_demands() -> None:
    """Powers of two are counted in slots, other demands packed by patterns."""
    assert exact(half_busy(racks=2, jobs=50, seed=1)).message.startswith("divisible")
    assert exact(half_busy(racks=2, jobs=50, demands="any", seed=1)).message.startswith("patterns")


def test_machines_of_islands_are_left_whole() -> None:
    """Where machines consist of islands and shall be left whole, groups are decided one by one."""
    machines = [
        Machine(name=f"m{m}", gpus=4, islands=[Island(name=f"i{m}{side}", gpus=2) for side in "ab"])
        for m in (0, 1)
    ]
    problem = Consolidation(
        cluster=Cluster(racks=[Rack(name="r", machines=machines)]),
        jobs=[Job(name=name, gpus=gpus, model="vgg11") for name, gpus in (("a", 2), ("b", 2), ("c", 3))],
        maximize="fragmentation",
    )
    result = exact(problem)
    assert result.status is Status.OPTIMAL
    assert result.objective == oracle.optimum(problem)
    assert result.message.startswith("laminar")


def test_nothing_to_decide_needs_no_solver() -> None:
    """Where nothing competes the knapsack's bound is the value."""
    result = exact(half_busy(racks=4, jobs=3, seed=1))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "knapsack", "")


def test_out_of_time_there_is_a_placement_and_a_bound() -> None:
    """Without any time a placement and a bound are returned."""
    result = exact(half_busy(racks=8, jobs=200, seed=1), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.gap is not None
    assert result.gap < 1


def test_the_asked_gap_is_enough() -> None:
    """With a gap that the first placement meets no solver is asked."""
    result = exact(half_busy(racks=8, jobs=200, seed=1), gap=0.9)
    assert (result.stopped_by, result.solver) == (StoppedBy.GAP, "")


def test_callers_hear_better_and_better_placements() -> None:
    """The first placement is told before any solver starts, each further one is better, True ends it."""
    problem = half_busy(racks=4, jobs=80, seed=1)
    heard: list[Result[Any]] = []
    best = exact(problem, on_incumbent=heard.append)
    values = [result.objective for result in heard if result.objective is not None]
    assert values == sorted(values)
    assert values[0] < values[-1] == best.objective
    stopped = exact(problem, on_incumbent=lambda _result: True)
    assert (stopped.stopped_by, stopped.objective) == (StoppedBy.INTERRUPT, values[0])


def test_a_start_is_never_lost() -> None:
    """An optimum that is given comes back, also without time."""
    problem = half_busy(racks=2, jobs=50, seed=2)
    best = exact(problem)
    again = exact(problem, start=best.solution, time_limit=0.0)
    assert again.objective == best.objective


@pytest.mark.parametrize("demands", ["powers_of_two", "any"])
def test_a_thousand_gpus_are_settled_within_a_thousandth(demands: str) -> None:
    """On 16 racks of 64 GPUs with 200 jobs the gap that is asked for is reached."""
    problem = half_busy(racks=16, jobs=200, demands=demands, seed=1)  # type: ignore[arg-type]
    result = exact(problem, gap=1e-3)
    assert result.gap is not None
    assert result.gap <= 1e-3
