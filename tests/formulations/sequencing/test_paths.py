"""Shortest augmenting paths in whole numbers."""

from itertools import permutations
from random import Random

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from formulations.common.best import Best
from formulations.sequencing import paths
from formulations.sequencing.case import Case
from formulations.sequencing.paths import assign, follow
from gsopt.core.budget import Budget
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.sequencing import Sequences, Sequencing
from instances.sequencing import unit_jobs
from tests.effort import cases
from tests.exactness import sequencing as oracle
from tests.strategies.sequencing import alike, tiny


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2), (3, 3), (3, 5), (4, 4), (1, 5)])
def test_the_cheapest_columns_are_found(rows: int, columns: int) -> None:
    """Of all assignments none is cheaper, in small numbers and in numbers of forty digits."""
    for seed in range(cases(16)):
        random = Random(f"{rows} {columns} {seed}")
        for unit, kind in ((1, np.int64), (10**40 + 1, object)):
            costs = np.array(
                [[random.randint(0, 6) * unit for _ in range(columns)] for _ in range(rows)], dtype=kind
            )
            found = assign(costs, Budget())
            assert found is not None
            assert len(set(found)) == rows
            totals = (
                sum(costs[row, column] for row, column in enumerate(p))
                for p in permutations(range(columns), rows)
            )
            assert sum(costs[row, column] for row, column in enumerate(found)) == min(totals)


def test_finds_the_optimum_of_hard_numbers() -> None:
    """With numbers hard on floats the value is that of the oracle, and proven."""
    for seed in range(cases(40)):
        problem = tiny(seed)
        result = paths(problem)
        assert result.status is Status.OPTIMAL, seed
        assert result.objective == oracle.optimum(problem), seed


def test_positions_are_added_where_they_run_out() -> None:
    """From orders on all machines those are found in which a machine that is far faster runs all jobs."""
    problem = alike(*range(1, 9), machines=3)
    slow = [each.model_copy(update={"gpu_type": "k80"}) for each in problem.machines[1:]]
    jobs = [each.model_copy(update={"seconds": {**each.seconds, "k80": 1000.0}}) for each in problem.jobs]
    harder = problem.model_copy(update={"machines": (problem.machines[0], *slow), "jobs": tuple(jobs)})
    spread = Sequences(order={"m0": ["a", "b", "c"], "m1": ["d", "e", "f"], "m2": ["g", "h"]})
    best: Best[Sequencing, Sequences] = Best(harder, Budget(start=spread), "follow")
    assert follow(Case(harder), best).objective == paths(alike(*range(1, 9))).objective


def test_many_columns_are_as_cheap_as_scipy_finds_them() -> None:
    """Assignments of a dozen rows cost what another program finds."""
    for seed in range(cases(40)):
        costs = np.random.default_rng(seed).integers(0, 60, size=(12, 14))
        found = assign(costs, Budget())
        assert found is not None
        assert costs[range(12), found].sum() == costs[linear_sum_assignment(costs)].sum(), seed


def test_out_of_time_there_are_the_shortest_first() -> None:
    """Without any time what was known comes back."""
    result = paths(unit_jobs(jobs=40, seed=2), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert assign(np.array([[1]]), Budget(time_limit=0.0)) is None
