"""Best fit, against a plain search through all servers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances.reclaiming.best_fit import BestFit
from tests.effort import cases

Jobs = list[tuple[list[int], int]]

#: Jobs by their workers, and after each a number that picks a job to release, or none.
HISTORIES: st.SearchStrategy[Jobs] = st.lists(
    st.tuples(st.lists(st.integers(1, 8), min_size=1, max_size=6), st.integers(0, 9)), max_size=30
)


def plain_best_fit(free: list[int], workers: list[int]) -> dict[int, int] | None:
    """Place workers one by one on the fullest server that holds them."""
    free = list(free)
    placement: dict[int, int] = {}
    for gpus in workers:
        fitting = [server for server, left in enumerate(free) if left >= gpus]
        if not fitting:
            return None
        server = min(fitting, key=lambda server: (free[server], server))
        free[server] -= gpus
        placement[server] = placement.get(server, 0) + gpus
    return placement


@settings(deadline=None, max_examples=cases(200))
@given(st.integers(1, 6), HISTORIES)
def test_placements_are_those_of_a_plain_search(servers: int, history: Jobs) -> None:
    """Through arrivals and departures every placement is the best fit, and free GPUs are kept exactly."""
    cluster = BestFit(servers)
    running: list[dict[int, int]] = []
    for workers, chosen in history:
        expected = plain_best_fit(cluster.free, workers)
        placement = cluster.place(workers)
        assert placement == expected
        if placement is not None:
            running.append(placement)
        if chosen < len(running):
            cluster.release(running.pop(chosen))
        used = [sum(placement.get(server, 0) for placement in running) for server in range(servers)]
        assert cluster.free == [8 - gpus for gpus in used]
        assert cluster.free_gpus == sum(cluster.free)


def test_a_job_that_does_not_fit_leaves_no_trace() -> None:
    """When the last worker does not fit, the first ones are taken back."""
    cluster = BestFit(2)

    assert cluster.place([8, 4, 8]) is None
    assert cluster.free == [8, 8]
    assert cluster.place([8, 8]) == {0: 8, 1: 8}


@pytest.mark.parametrize(
    ("workers", "placement"),
    [
        ([3], {2: 3}),
        ([4], {1: 4}),
        ([2, 2], {2: 2, 1: 2}),
        ([5], {0: 5}),
        ([8], {0: 8}),
        ([3, 3], {2: 3, 1: 3}),
    ],
)
def test_the_fullest_server_that_fits_is_taken(workers: list[int], placement: dict[int, int]) -> None:
    """With 8, 4 and 3 GPUs free, a worker goes where it leaves the fewest."""
    cluster = BestFit(3)
    cluster.place([5, 4])
    cluster.release({0: 5, 1: 4})
    for server, gpus in [(1, 4), (2, 5)]:
        cluster.release({server: -gpus})

    assert cluster.place(workers) == placement
