"""Beginning: a solution and a bound, whatever the time."""

from formulations.placement.beginning import begin
from formulations.placement.packing import Packing
from gsopt.core.budget import Budget
from heuristics.placement import best_of_three
from instances.placement import vectors
from tests.strategies.placement import committed


def test_the_better_of_start_and_own_is_kept() -> None:
    """A start that is better than one's own placement is kept, and a worse one is not."""
    problem = vectors(types=20, workers=300)
    packing = Packing.of(problem)
    _, own = begin(packing, Budget())
    start = best_of_three(problem).solution
    _, both = begin(packing, Budget(start=start))

    assert own.objective is not None
    assert start is not None
    assert both.objective is not None
    assert both.objective == min(own.objective, problem.objective(start))
    assert own.bound <= both.objective


def test_without_time_there_are_both() -> None:
    """Also without any time there is a solution and a bound above 0."""
    _, settled = begin(Packing.of(vectors(types=50, workers=1500)), Budget(time_limit=0.0))

    assert settled.objective is not None
    assert settled.bound > 0


def test_too_little_is_infeasible() -> None:
    """Where a resource does not suffice nothing is begun."""
    _, settled = begin(Packing.of(committed("small/too-many-workers")), Budget())

    assert settled.infeasible or settled.objective is None
