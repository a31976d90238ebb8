"""Master: the relaxation over growing patterns is that of the standard form."""

import numpy as np
import pytest

from formulations.placement.linear import solve_relaxation
from formulations.placement.master import Master
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing, Patterns
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placement
from instances.placement import elastic, vectors
from tests.strategies.placement import committed


@pytest.mark.parametrize(
    "problem",
    [vectors(types=5, workers=300), elastic(jobs=60), vectors(types=5, workers=300, minimize="fragmentation")],
    ids=["servers", "preferences", "fragmentation"],
)
def test_patterns_may_be_added_in_parts(problem: Placement) -> None:
    """The optimum is that of the standard form over all patterns, in whatever parts they were added."""
    packing = Packing.of(problem)
    every = maximal_patterns(packing, limit=10_000, budget=Budget())
    assert every is not None
    master = Master(packing)
    first = np.arange(len(every)) % 2 == 0
    master.add(every.only(first))
    master.solve(Budget(), counting_cost=False)
    master.add(every.only(~first))
    found, whole = master.solve(Budget()), solve_relaxation(packing.form(every), Budget())

    assert found is not None
    assert whole is not None
    assert found.objective == pytest.approx(whole.objective)
    assert found.values.size == packing.moves + len(every)


def test_who_finds_no_place_is_counted() -> None:
    """Of three workers on two servers one finds no place, and without all there is no optimum."""
    packing = Packing.of(committed("small/too-many-workers"))
    master = Master(packing)
    master.add(Patterns.of([(0, 0, [1])], 1))
    missing = master.solve(Budget(), counting_cost=False)

    assert missing is not None
    assert missing.objective == pytest.approx(1.0)
    assert master.solve(Budget()) is None


def test_other_workers_may_be_asked_for() -> None:
    """With fewer workers fewer servers are needed."""
    packing = Packing.of(vectors(types=2, workers=60))
    master = Master(packing)
    every = maximal_patterns(packing, limit=10_000, budget=Budget())
    assert every is not None
    master.add(every)
    before = master.solve(Budget())
    master.demand(np.array([1, 0]), packing.limits)
    after = master.solve(Budget())

    assert before is not None
    assert after is not None
    assert after.objective <= 1.0 < before.objective
