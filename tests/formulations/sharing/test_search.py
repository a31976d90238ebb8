"""The search and its kernels: compiled and plain the same, bounds that hold, states that are told apart."""

import numpy as np
import pytest

from formulations.sharing.areas import area_bound, serve
from formulations.sharing.jobs import arrays_of, in_floats
from formulations.sharing.lower import lower
from formulations.sharing.search import DOUBT, NO, is_better, is_now, nothing_found, search
from formulations.sharing.stack import new_stack
from formulations.sharing.table import new_table
from gsopt.core.numbers.compiled import twin
from instances.sharing import interfering_jobs
from tests.formulations.sharing.searching import floats_of, search_all


@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_plain_search_are_the_same(seed: int) -> None:
    """Machine code and plain functions visit the same nodes and find the same schedule."""
    jobs = floats_of(interfering_jobs(jobs=4, gpus=4, seed=seed))
    ways = []
    for step in (search, twin(search)):
        stack, found, table, nodes = new_stack(jobs), nothing_found(jobs), new_table(jobs, 1024), [0]
        while nodes[-1] < 100_000 and stack.depth[0] >= 0:
            nodes.append(nodes[-1] + int(step(jobs, stack, table, found, 100_000)))
        ways.append((nodes, stack.depth[0], found))

    assert ways[0][:2] == ways[1][:2]
    assert ways[0][1] == -1
    assert all(np.array_equal(one, other) for one, other in zip(ways[0][2], ways[1][2], strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_floats_and_fractions_find_the_same(seed: int) -> None:
    """The search in floats ends with the schedule whose exact value the search in fractions finds."""
    exact, units = arrays_of(interfering_jobs(jobs=4, gpus=4, seed=seed))
    rounded = search_all(in_floats(exact), new_stack(in_floats(exact)), search)
    found = search_all(exact, new_stack(exact), twin(search))

    assert list(rounded.rest) == list(found.rest) == list(units.rests(found.value[0]))
    assert rounded.value[0] == pytest.approx(float(found.value[0]), rel=1e-12)


@pytest.mark.parametrize("places", [1, 2**16])
def test_a_table_that_forgets_changes_no_optimum(places: int) -> None:
    """With a single place for states seen, the search takes longer and finds the same."""
    jobs = floats_of(interfering_jobs(jobs=5, gpus=4, seed=1))
    known, forgetful = (
        search_all(jobs, new_stack(jobs), twin(search), new_table(jobs, size)) for size in (2**16, places)
    )

    assert known.value[0] == forgetful.value[0]


def test_no_bound_at_the_root_is_above_the_optimum() -> None:
    """At the root the bound is no more than the optimum, in floats, and more than half of it."""
    for seed in range(6):
        jobs = floats_of(interfering_jobs(jobs=5, gpus=4, seed=seed))
        best = search_all(jobs, new_stack(jobs), search).value[0]
        root = twin(lower)(jobs, new_stack(jobs), 0, np.inf)
        assert 0.5 * best < root <= best * (1 + 1e-9)


@pytest.mark.parametrize(("near", "better", "now"), [(1.0, NO, True), (0.0, DOUBT, False)])
def test_remainders_count_only_where_they_prove_something(near: float, better: int, now: bool) -> None:
    """Within rounding, the same remainders mean the same number only if rounding is less than what is near."""
    jobs = floats_of(interfering_jobs(jobs=2))._replace(near=np.array([near]))
    stack, found = new_stack(jobs), nothing_found(jobs, 2.0)
    stack.cost[0], stack.slip[0] = 2.0, 1e-15
    found.rest[:] = stack.cost_rest[0]

    assert twin(is_better)(jobs, stack, 0, found) == better
    assert twin(is_now)(jobs, stack, 0, stack.time_rest[0]) == now


def test_areas_by_hand() -> None:
    """A long area that a short one interrupts ends last; alone each job ends no sooner than it can."""
    release, area = np.array([0.0, 1.0]), np.array([4.0, 1.0])

    ends = np.array([1.0, 6.0])
    serve(release, area, 0.0, ends, True)
    assert list(ends) == [2, 6]
    assert serve(release, area, 0.0, ends, False) == (0.5 * 1 + 3.5 * 3) / 4 + 1.5
    assert area_bound(release, area, area[None], np.array([4.0, 1.0]), 0.0) == 2 + 5
    assert area_bound(release, 2 * area, area[None], np.array([4.0, 1.0]), 0.0) == 4.25 + 5
    assert area_bound(release, area, np.array([area / 2, area]), np.array([4.0, 1.0]), 0.0) == 2 + 5
