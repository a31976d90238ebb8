"""Dive: solutions of the goal, or none."""

import numpy as np

from formulations.placement.dive import Diver
from formulations.placement.generation import Generation
from formulations.placement.packing import Packing, Patterns
from formulations.placement.pricers import pricer
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placement
from gsopt.testing import brute_force
from instances.placement import vector_packing, vectors
from tests.effort import cases
from tests.strategies.placement import tiny_vectors


def diver(problem: Placement) -> tuple[Packing, Diver]:
    """Return what dives from the patterns of the relaxation."""
    packing = Packing.of(problem)
    pricing = pricer(packing, packing.zones[0])
    assert pricing is not None
    relaxed = Generation(packing, (pricing,), Budget()).run(Patterns.of((), len(packing.demands)))
    return packing, Diver(packing, relaxed.patterns, np.random.default_rng(0))


def test_what_is_found_meets_the_goal() -> None:
    """On tiny instances a dive finds placements of at most the goal, and none below the optimum."""
    found = 0
    for seed in range(cases(60)):
        problem = tiny_vectors(seed)
        best = brute_force(problem)
        if best is None or problem.misfit:
            continue
        optimum = int(best[0])
        packing, dives = diver(problem)
        assert dives.dive(optimum - 1, Budget()) is None
        filled = dives.dive(optimum, Budget())
        if filled is not None:
            found += 1
            assert packing.value(filled) == optimum
            assert problem.violations(packing.solution(filled.values, filled.patterns)) == []
    assert found >= cases(30)


def test_the_triplets_are_found() -> None:
    """Sixty workers of which three fill a server to the brim are put on twenty servers within ten dives."""
    packing, dives = diver(vector_packing(family=10, workers=60))
    found = next(filter(None, (dives.dive(20, Budget()) for _ in range(10))), None)

    assert found is not None
    assert packing.value(found) == 20


def test_without_time_the_rest_is_placed_by_best_fit() -> None:
    """A dive that is cut short ends in a placement."""
    problem = vectors(types=6, workers=100)
    packing, dives = diver(problem)
    found = dives.dive(0, Budget(time_limit=0.0))

    assert found is not None
    assert problem.violations(packing.solution(found.values, found.patterns)) == []
