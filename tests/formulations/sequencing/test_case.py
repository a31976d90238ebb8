"""Problems as matrices."""

import numpy as np

from formulations.sequencing.case import Case, depth_of
from gsopt.problems.sequencing import Sequences
from heuristics.sequencing import earliest_end
from tests.effort import cases
from tests.exactness import sequencing as oracle
from tests.strategies.sequencing import alike, small, tiny


def test_bound_and_orders_lie_around_the_optimum() -> None:
    """No optimum is below the bound or above the shortest first, with numbers that are hard on floats."""
    for seed in range(cases(40)):
        problem = tiny(seed)
        case, best = Case(problem), oracle.optimum(problem)
        assert case.bound <= best <= problem.objective(case.greedy()), seed


def test_the_greedy_orders_are_those_of_the_heuristic() -> None:
    """What exact methods begin with costs what the heuristic costs, where doubles are exact."""
    for name in ("shortest-first", "free-too-late", "waiting-for-the-fast-gpu", "runs-on-one-type-only"):
        problem = small(name)
        assert problem.objective(Case(problem).greedy()) == earliest_end(problem).objective


def test_costs_are_whole_numbers_of_any_size() -> None:
    """Positions cost multiples of a job's units, no more than a unit above the known total."""
    costs = Case(alike(0.5, 1.25)).costs(2, 3)
    assert costs.dtype == np.int64
    assert costs.tolist() == [[2, 4], [5, 10]]
    assert Case(alike(0.5, 1.25)).costs(2, 1).tolist() == [[2, 4], [5, 5]]
    large = Case(small("magnitudes")).costs(2, 10**10)
    assert large.dtype == object
    assert large.max() == 10**19 + 1 or large.max() <= 2 * 10**18 + 1


def test_columns_are_positions_from_the_end() -> None:
    """The last job of a machine is in its first position, and orders are read back from columns."""
    case = Case(alike(1, 2, 3, machines=2))
    solution = Sequences(order={"m0": ["a", "c"], "m1": ["b"]})
    assert sorted(case.columns(solution)) == [(0, 2), (1, 1), (2, 0)]
    assert depth_of(solution, 3) == 3
    assert depth_of(solution, 2) == 2
    assert depth_of(Sequences(order={}), 0) == 0
