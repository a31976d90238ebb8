"""Orders in doubles."""

from random import Random

import numpy as np
import pytest

from gsopt.core.numbers.assignment import sequence, shorter_first
from tests.effort import cases


def total(seconds: list[list[float]], available: list[float], orders: list[list[int]]) -> float:
    """Add completion times up."""
    found = 0.0
    for machine, jobs in enumerate(orders):
        now = available[machine]
        for job in jobs:
            now += seconds[job][machine]
            found += now
    return found


def test_one_machine_runs_the_shortest_first() -> None:
    """On machines that are alike, jobs of each are in the order of their seconds, one in turn on each."""
    assert sequence(np.array([[3.0], [1.0], [2.0]])) == [[1, 2, 0]]
    orders = sequence(np.array([[float(each)] * 2 for each in (1, 2, 3, 4)]))
    assert sorted(len(jobs) for jobs in orders) == [2, 2]
    assert {jobs[0] for jobs in orders} == {0, 1}


def test_every_job_may_need_one_machine() -> None:
    """Where all jobs run on one of many machines only, its positions are enough."""
    seconds = np.full((9, 4), np.inf)
    seconds[:, 2] = range(9, 0, -1)
    assert sequence(seconds) == [[], [], list(range(8, -1, -1)), []]


def test_a_machine_that_is_far_faster_runs_all_jobs() -> None:
    """More positions are looked at where the first few of a machine are all taken."""
    seconds = np.full((9, 4), 1e6)
    seconds[:, 1] = range(1, 10)
    assert sequence(seconds) == [[], list(range(9)), [], []]


def test_a_job_that_runs_nowhere_is_no_endless_search() -> None:
    """Without any machine for a job there are no orders."""
    with pytest.raises(ValueError, match="infeasible"):
        sequence(np.array([[1.0, 2.0], [np.inf, np.inf]]))


def test_shorter_jobs_begin_earlier_at_no_cost() -> None:
    """Orders in which short jobs begin early have the same total, and as many jobs on each machine."""
    for seed in range(cases(24)):
        random = Random(seed)
        kinds = [random.choice("xy") for _ in range(random.randint(1, 4))]
        by_kind = [{"x": random.randint(1, 9), "y": random.randint(1, 9)} for _ in range(random.randint(1, 9))]
        seconds = [[float(own[kind]) for kind in kinds] for own in by_kind]
        available = [float(random.choice((0, random.randint(1, 20)))) for _ in kinds]
        best = sequence(np.array(seconds), np.array(available))
        settled = shorter_first(best, np.array(seconds), np.array(available), kinds)
        assert total(seconds, available, settled) == total(seconds, available, best)
        assert [len(jobs) for jobs in settled] == [len(jobs) for jobs in best]


def test_few_positions_are_as_good_as_all() -> None:
    """The orders cost no more than with as many positions as jobs, whichever machines are busy for how long."""
    from scipy.optimize import linear_sum_assignment

    for seed in range(cases(24)):
        random = Random(seed)
        jobs, machines = random.randint(1, 12), random.randint(1, 4)
        seconds = [[random.uniform(1, 9) ** 3 for _ in range(machines)] for _ in range(jobs)]
        available = [random.choice((0.0, random.uniform(0, 900))) for _ in range(machines)]
        costs = np.hstack([(k + 1) * np.array(seconds) + available for k in range(jobs)])
        best = costs[linear_sum_assignment(costs)].sum()
        orders = sequence(np.array(seconds), np.array(available))
        assert sorted(job for each in orders for job in each) == list(range(jobs))
        assert total(seconds, available, orders) == pytest.approx(best)
