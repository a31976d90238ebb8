"""The search and its kernels: compiled and plain the same, bounds that hold, states that are told apart."""

import numpy as np
import pytest

from formulations.sharing.areas import area_bound, serve
from formulations.sharing.jobs import arrays_of
from formulations.sharing.lower import lower
from formulations.sharing.search import nothing_found, search
from formulations.sharing.stack import new_stack
from formulations.sharing.table import new_table
from gsopt.compiled import twin
from instances.sharing import interfering_jobs


@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_plain_search_are_the_same(seed: int) -> None:
    """Machine code and plain functions visit the same nodes and find the same schedule."""
    jobs, _ = arrays_of(interfering_jobs(jobs=4, gpus=4, seed=seed))
    ways = []
    for step in (search, twin(search)):
        stack, found = new_stack(jobs), nothing_found(jobs)
        nodes = step(jobs, stack, new_table(1024), found, 100_000)
        ways.append((int(nodes), stack.depth[0], found))

    assert ways[0][:2] == ways[1][:2]
    assert ways[0][1] == -1
    assert all(np.array_equal(one, other) for one, other in zip(ways[0][2], ways[1][2], strict=True))


@pytest.mark.parametrize("places", [1, 2**16])
def test_a_table_that_forgets_changes_no_optimum(places: int) -> None:
    """With a single place for states seen, the search takes longer and finds the same."""
    jobs, _ = arrays_of(interfering_jobs(jobs=5, gpus=4, seed=1))
    best = []
    for table in (new_table(2**16), new_table(places)):
        stack, found = new_stack(jobs), nothing_found(jobs)
        twin(search)(jobs, stack, table, found, 10**7)
        best.append(found.value[0])

    assert best[0] == best[1]


def test_no_bound_on_the_way_to_the_optimum_is_above_it() -> None:
    """From node to node of a search without any bound, the bound never excludes what lies below."""
    for seed in range(6):
        jobs, _ = arrays_of(interfering_jobs(jobs=5, gpus=4, seed=seed))
        stack, found = new_stack(jobs), nothing_found(jobs)
        twin(search)(jobs, stack, new_table(2**16), found, 10**7)
        best = found.value[0]
        root = twin(lower)(jobs, new_stack(jobs), 0, np.inf)
        assert 0.5 * best < root <= best * (1 + 1e-9)


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
