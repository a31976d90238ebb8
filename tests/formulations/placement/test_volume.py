"""Volume: a bound below every placement."""

import numpy as np
from hypothesis import given, settings

from formulations.placement.packing import Packing
from formulations.placement.volume import volume
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placement
from gsopt.testing import brute_force
from instances.placement import vectors
from tests.effort import cases
from tests.strategies.placement import gpu_line, placements


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_it_is_a_bound(problem: Placement) -> None:
    """The volume is never above the optimum, whatever is minimized."""
    best = brute_force(problem)
    if best is not None and not problem.misfit:
        assert volume(Packing.of(problem), Budget()) <= best[0]


def test_whole_gpus_are_counted() -> None:
    """With GPUs only it is their sum over those of a server."""
    assert np.isclose(volume(Packing.of(gpu_line(5, 4, 3, 3)), Budget()), 15 / 8, rtol=1e-4)


def test_without_time_there_is_none() -> None:
    """Without time the bound says nothing."""
    assert volume(Packing.of(vectors(types=20, workers=100)), Budget(time_limit=0.0)) <= 0
