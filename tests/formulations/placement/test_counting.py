"""Counting: bounds that hold, and those that it must reach."""

import pytest
from hypothesis import given, settings

from formulations.placement.counting import counted
from formulations.placement.packing import Packing
from gsopt.problems.placement import Placement
from gsopt.testing import brute_force
from instances.placement import fine_sizes, vector_packing
from tests.effort import cases
from tests.strategies.placement import gpu_line, placements, tiny_vectors


@given(placements())
@settings(deadline=None, max_examples=cases(60))
def test_no_count_is_above_the_optimum(problem: Placement) -> None:
    """Whatever is minimized the count is at most the optimum, and there is one where there is a placement."""
    best = brute_force(problem)
    if not problem.misfit and best is not None:
        count = counted(Packing.of(problem))
        assert count is not None
        assert count <= best[0]


def test_no_count_is_above_the_optimum_of_vectors() -> None:
    """For one to five resources the count is at most the optimum, and equals it mostly."""
    met = 0
    for seed in range(cases(150)):
        problem = tiny_vectors(seed)
        best = brute_force(problem)
        if best is None or problem.misfit:
            continue
        count = counted(Packing.of(problem))
        assert count is not None
        assert count <= best[0]
        met += count == best[0]
    assert met >= cases(75)


@pytest.mark.parametrize(
    ("sizes", "servers"),
    [((5, 5, 5), 3), ((6, 6, 3, 3, 3), 4), ((4, 4, 4), 2), ((3, 3, 3, 3, 3), 3), ((8, 1), 2), ((5, 4, 4), 2)],
)
def test_sizes_count_beyond_their_sum(sizes: tuple[int, ...], servers: int) -> None:
    """Workers larger than a half, just above a third, and beside larger ones need servers of their own."""
    assert counted(Packing.of(gpu_line(*sizes))) == servers


def test_too_little_of_a_resource_is_infeasible() -> None:
    """Where workers need more than all servers have there is no bound, but a proof."""
    assert counted(Packing.of(gpu_line(4, 4, 4, servers=1))) is None


def test_every_resource_is_counted() -> None:
    """With ten resources the count is at least the sum of each."""
    problem = vector_packing(family=4, workers=60, resources=10)
    count = counted(Packing.of(problem))

    assert count is not None
    assert count >= max(-(-sum(demand[r] for demand in problem.demands) // 1000) for r in range(10))
    assert counted(Packing.of(fine_sizes())) is not None
