"""Best-fit decreasing: as printed, where it is optimal, and the smallest instance where it is not."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.placement import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from gsopt.problems.placement import Placement, Resources, Server, Workers
from heuristics.placement import best_fit_decreasing
from tests.effort import cases
from tests.heuristics.results import solved
from tests.strategies.placement import committed, gpu_line


def fewest(sizes: tuple[int, ...], gpus: int = 8) -> int:
    """Find the fewest servers by trying every packing, the largest sizes first."""

    def pack(index: int, free: tuple[int, ...]) -> int:
        if index == len(sizes):
            return len(free)
        options = {room for room in free if room >= sizes[index]}
        best = pack(index + 1, (*free, gpus - sizes[index]))
        for room in options:
            rest = list(free)
            rest.remove(room)
            best = min(best, pack(index + 1, (*rest, room - sizes[index])))
        return best

    return pack(0, ())


def multisets(most: int) -> Iterator[tuple[int, ...]]:
    """Yield every choice of up to so many sizes from 1 to 8, the largest first."""
    for number in range(1, most + 1):
        yield from combinations_with_replacement(range(8, 0, -1), number)


def test_the_smallest_failure() -> None:
    """{4, 3, 3, 2, 2, 2} on servers of 8 GPUs takes 3 servers, and 2 suffice."""
    problem = committed("small/six-items")

    assert best_fit_decreasing(problem).objective == 3
    assert exact(problem).objective == fewest((4, 3, 3, 2, 2, 2)) == 2


def test_it_is_the_only_failure_up_to_six_workers() -> None:
    """Of all 3,002 choices of up to six sizes from 1 to 8 it is the only one that takes too many servers."""
    chosen = list(multisets(6))
    failures = [sizes for sizes in chosen if best_fit_decreasing(gpu_line(*sizes)).objective != fewest(sizes)]

    assert len(chosen) == 3_002
    assert failures == [(4, 3, 3, 2, 2, 2)]


@given(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=60))
@settings(deadline=None, max_examples=cases(50, least=17))
def test_powers_of_two_are_packed_optimally(sizes: list[int]) -> None:
    """Powers of two on servers of 8 GPUs take the sum over 8, rounded up."""
    assert best_fit_decreasing(gpu_line(*sizes)).objective == ceil(sum(sizes) / 8)


def placed(problem: Placement) -> dict[int, Counter[str]]:
    """Return where the workers of every line stand."""
    solution = solved(best_fit_decreasing(problem))
    where: dict[int, Counter[str]] = {}
    for server, line, number in solution.placed:
        where.setdefault(line, Counter())[server] += number
    return where


def test_the_tightest_server_in_use_is_taken() -> None:
    """A worker goes to the server in use with the fewest free GPUs that suffice, not to a tighter empty one."""
    problem = Placement(
        servers=(
            Server(name="empty", capacity=Resources(gpu=2)),
            Server(name="loose", capacity=Resources(gpu=8), used=Resources(gpu=1)),
            Server(name="tight", capacity=Resources(gpu=8), used=Resources(gpu=5)),
            Server(name="full", capacity=Resources(gpu=8), used=Resources(gpu=7)),
        ),
        workers=(Workers(job="a", demand=Resources(gpu=2)),),
    )

    assert placed(problem) == {0: {"tight": 1}}


def test_the_smallest_empty_server_is_opened() -> None:
    """If no server in use has room the empty one with the fewest GPUs is opened, the first of several."""
    servers = (
        Server(name="large", capacity=Resources(gpu=8)),
        Server(name="small", count=2, capacity=Resources(gpu=4)),
        Server(name="tiny", capacity=Resources(gpu=1)),
    )
    problem = Placement(servers=servers, workers=(Workers(job="a", demand=Resources(gpu=3)),))

    assert placed(problem) == {0: {"small[0]": 1}}


def test_a_tight_cpu_sends_workers_on() -> None:
    """A server with GPUs but no CPU left has no room."""
    problem = Placement(
        servers=(Server(name="s", count=2, capacity=Resources(gpu=8, cpu=10)),),
        workers=(Workers(job="a", count=3, demand=Resources(gpu=1, cpu=5)),),
    )

    assert placed(problem) == {0: {"s[0]": 2, "s[1]": 1}}


def test_every_kind_goes_where_it_should() -> None:
    """Inelastic workers go to training servers, base and flexible ones to inference servers of their own."""
    assert placed(committed("small/preferences")) == {0: {"t": 2}, 1: {"i[0]": 2}, 2: {"i[1]": 2}}


def test_the_other_pool_comes_before_a_shared_server() -> None:
    """Flexible workers without an inference server of their own go to training servers before they share."""
    problem = committed("small/preferences-group-spills")
    more = Placement(
        **{**dict(problem), "servers": (*problem.servers, Server(name="u", capacity=Resources(gpu=8)))}
    )

    assert placed(more) == {0: {"t": 2}, 1: {"i": 2}, 2: {"u": 2}}
    assert placed(problem) == {0: {"t": 2}, 1: {"i": 2}, 2: {"i": 2}}


def test_preferences_count_only_where_they_are_minimized() -> None:
    """Where servers are minimized elastic workers fill up training servers."""
    problem = Placement(**{**dict(committed("small/preferences")), "minimize": "servers"})

    assert placed(problem) == {0: {"t": 2}, 1: {"i[0]": 2}, 2: {"i[0]": 2}}


def test_whole_jobs_take_the_other_pool_together() -> None:
    """A job that does not fit into the pool it prefers goes to the other, all of it, and leaves no trace."""
    need = Resources(gpu=4)
    problem = Placement(
        split_jobs=False,
        servers=(
            Server(name="t", capacity=Resources(gpu=8)),
            Server(name="i", pool="inference", count=2, capacity=Resources(gpu=8)),
        ),
        workers=(Workers(job="a", count=3, demand=need), Workers(job="b", count=2, demand=need)),
    )

    assert placed(problem) == {0: {"i[0]": 2, "i[1]": 1}, 1: {"t": 2}}


def test_no_order_is_best_everywhere() -> None:
    """By GPUs 26 workers of a crowded cluster stay behind; by sum or maximum of shares it is other numbers."""
    problem = committed("production/crowded-06-1500")
    by_gpus = best_fit_decreasing(problem)

    assert (by_gpus.status, by_gpus.message) == (Status.UNKNOWN, "26 of 1,500 workers remain unplaced")
    assert exact(problem).objective == 862
    wide = committed("production/vectors-08-2000")
    assert best_fit_decreasing(wide).objective != best_fit_decreasing(wide, order="sum").objective


def test_an_unknown_order_is_refused() -> None:
    """An order that does not exist is refused in one line."""
    with pytest.raises(InvalidInput, match="order: 'cpu': must be one of gpu, sum, max"):
        best_fit_decreasing(gpu_line(1), order="cpu")  # type: ignore[arg-type]


def test_which_empty_server_is_opened_is_an_option() -> None:
    """Small workers on a small and a large server: the tightest takes both, the largest the large one alone."""
    small, large = Server(name="s", capacity=Resources(gpu=1)), Server(name="l", capacity=Resources(gpu=8))
    problem = Placement(servers=[small, large], workers=[Workers(job="a", count=2, demand=Resources(gpu=1))])
    assert best_fit_decreasing(problem).objective == 2
    assert best_fit_decreasing(problem, opens="largest").objective == 1
    with pytest.raises(InvalidInput, match="opens: 'any': must be one of tightest, largest"):
        best_fit_decreasing(problem, opens="any")  # type: ignore[arg-type]
