"""The pattern model."""

import pytest

from formulations.placement import milp, patterns
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import load, names
from gsopt.testing import check_formulation
from instances.placement import elastic, vectors


def test_the_small_suite() -> None:
    """On every committed small instance but those of racks the optimum of enumeration is proven."""
    problems = [load(name) for name in names("placement/small/") if "racks" not in name]
    assert check_formulation(patterns, problems) == len(problems)


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
    with pytest.raises(Unsupported, match="more than 5; column_generation makes do without"):
        patterns(vectors(types=8, workers=100), most=5)
