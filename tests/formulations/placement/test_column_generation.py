"""Column generation: its values, its bound, and time limits."""

import pytest
from hypothesis import given, settings

from formulations.placement import column_generation
from gsopt.core.result import Status, StoppedBy
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.placement import Placement, Resources, Server, Workers
from gsopt.testing import brute_force, check_formulation
from instances.placement import elastic, vectors
from tests.strategies.placement import placements


def test_the_small_suite() -> None:
    """On every committed small instance but those of racks the optimum of enumeration is proven."""
    problems = [load(name) for name in names("placement/small/") if "racks" not in name]
    assert check_formulation(column_generation, problems) == len(problems)


@given(placements())
@settings(deadline=None, max_examples=40)
def test_the_bound_holds_whenever_it_stops(problem: Placement) -> None:
    """Without any time the bound is at most the optimum, and what is found is at least the optimum."""
    best = brute_force(problem)
    result = column_generation(problem, time_limit=0.0)
    if best is not None:
        assert result.bound is not None
        assert result.bound <= best[0]
        assert result.objective is None or result.objective >= best[0]


@pytest.mark.parametrize("types", [20, 50])
def test_dozens_of_types(types: int) -> None:
    """With 20 and with 50 types the value is within two servers of the bound."""
    result = column_generation(vectors(types=types, workers=1500, skew=0.5, seed=types))

    assert result.objective is not None
    assert result.bound is not None
    assert result.objective - result.bound <= 2
    assert "patterns generated" in result.message


def test_partly_used_servers_of_hundreds_of_kinds() -> None:
    """With every server partly used in its own way the optimum is proven too."""
    problem = vectors(types=10, workers=300, training=60, inference=60, occupied=1.0, seed=3)
    result = column_generation(problem)

    assert result.status is Status.OPTIMAL


def test_preferences_with_jobs_that_are_not_split() -> None:
    """With 420 jobs that stay together the optimum is proven."""
    assert column_generation(elastic(seed=3)).status is Status.OPTIMAL


def test_fine_amounts_are_priced_by_programs() -> None:
    """Thousandths of GPUs and cores, and MiB, are too fine for a table; the gap is closed all the same."""
    node = Server(name="n", count=40, capacity=Resources(gpu=4_000, cpu=64_001, memory=262_143))
    demands = [(460, 6_001, 12_289), (1_000, 11_300, 49_151), (2_000, 31_999, 24_577)]
    pods = [
        Workers(job=f"j{index}", count=20, demand=Resources(gpu=gpu, cpu=cpu, memory=memory))
        for index, (gpu, cpu, memory) in enumerate(demands)
    ]
    problem = Placement(servers=[node], workers=pods)
    result = column_generation(problem)

    assert result.status is Status.OPTIMAL
    assert result.objective == 18


def test_the_seed_decides() -> None:
    """The same seed gives the same placement."""
    problem = vectors(types=30, workers=400, seed=1)

    assert column_generation(problem, seed=5).solution == column_generation(problem, seed=5).solution


def test_a_time_limit_is_named() -> None:
    """A run without time says that the limit stopped it, and a finished one that it finished."""
    problem = vectors(types=30, workers=400, seed=1)

    assert column_generation(problem, time_limit=0.0).stopped_by is StoppedBy.TIME_LIMIT
    assert column_generation(problem).stopped_by is StoppedBy.FINISHED
