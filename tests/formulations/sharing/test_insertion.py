"""Insertion: what each start at least delays, by hand and against the optimum from nodes of a search."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from formulations.sharing.insertion import cover, insertion, insertion_bound
from formulations.sharing.jobs import Jobs, arrays_of
from formulations.sharing.lower import lower, run_out, wait_for_room
from formulations.sharing.search import nothing_found, search
from formulations.sharing.stack import RUNNING, Stack, new_stack
from formulations.sharing.table import new_table
from gsopt.core.numbers.compiled import twin
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from instances.sharing import interfering_jobs
from tests.effort import cases
from tests.formulations.sharing.searching import alone_from, floats_of, search_all


def bounds(jobs: Jobs, stack: Stack) -> tuple[float, float]:
    """Return the bound by delays of the node at hand, and the larger of it and that by areas."""
    depth, count = stack.depth[0], len(jobs.demand)
    ends, begins, extra = np.zeros(count), np.zeros(count), np.zeros(count)
    run_out(jobs, stack, depth, ends)
    wait_for_room(jobs, stack, depth, ends, begins)
    delays = insertion_bound(jobs, stack, depth, ends, begins, extra, np.inf)
    return delays, lower(jobs, stack, depth, np.inf)


@pytest.mark.parametrize(("slowdown", "least"), [(1.0, 0.0), (2.0, 2.0), (6.0, 4.0)])
def test_two_jobs_by_hand(slowdown: float, least: float) -> None:
    """Beside 4 s of a job, 1 s of another costs each of the two its slowdown, or a wait for the end."""
    given = [Job(name=str(p), release_date=0, duration=p, gpus=1) for p in (1, 4)]
    jobs, units = arrays_of(Sharing(gpus=1, jobs=given, default_interference=slowdown))
    stack = new_stack(jobs)
    stack.state[0, 1], stack.own[0, 1], stack.free[0] = RUNNING, 1, 0
    ends, lone, crowd = np.array([np.inf, Fraction(1)]), np.array([0, 0], dtype=object), np.ones(2, dtype=int)

    assert twin(insertion)(jobs, stack, 0, ends, lone, 0, 0, crowd) * units.unit == least


@pytest.mark.parametrize(("need", "least"), [(0, 0), (1, 1), (3, 3), (4, 4), (5, 7), (6, 10), (7, np.inf)])
def test_further_gpus_are_the_cheapest(need: int, least: float) -> None:
    """GPUs come from the cheapest jobs first, one by one, and from none that delays more than the worst."""
    room, own = np.array([1, 2, 2, 2, 5]), np.array([2.0, 2.0, 1.0, 2.0, 2.5])
    others = np.array([0.0, 2.0, 2.0, 6.0, 0.0])  # a GPU costs 1, 1 and 3

    assert twin(cover)(need, room, 0, own, others) == least


def test_no_bound_is_above_what_follows() -> None:
    """From nodes on the way of a search, neither bound is above the least sum of ends that follows."""
    looked_at = better = 0
    for seed in range(cases(40)):
        random = Random(seed)
        drawn = interfering_jobs(jobs=random.randint(3, 5), gpus=random.choice((2, 4, 8)), seed=seed)
        jobs = floats_of(drawn)
        stack, found = new_stack(jobs), nothing_found(jobs)
        for _ in range(10):
            delays, both = bounds(jobs, stack)
            optimum = search_all(jobs, alone_from(jobs, stack), search).value[0]
            assert delays <= both <= optimum * (1 + SPAN_ERROR)
            looked_at, better = looked_at + 1, better + (delays == both)
            search(jobs, stack, new_table(jobs, 1), found, random.randint(1, 20))
            found.value[0] = np.inf
            if stack.depth[0] < 0:
                break

    assert looked_at >= 3 * cases(40)
    assert better >= looked_at // 4
