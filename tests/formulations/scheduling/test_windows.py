"""Windows of completion and orders of jobs."""

from collections.abc import Iterator
from itertools import combinations, permutations
from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling.instance import Instance
from formulations.scheduling.windows import Windows
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.effort import cases
from tests.strategies.scheduling import tiny, wandering

SEEDS = st.integers(0, 10**6)


def _drawn(seed: int, *, jobs: int = 5) -> Windows:
    """Draw windows around some whole completion times, and orders in which these are."""
    random = Random(seed)
    times = [random.randint(0, 6) for _ in range(jobs)]
    spans = tuple((float(time - random.randint(0, 2)), float(time + random.randint(0, 2))) for time in times)
    rank = sorted(range(jobs), key=lambda job: (times[job], random.random()))
    pairs = [pair for pair in combinations(rank, 2) if random.random() < 0.3]
    return Windows(spans, frozenset(pairs))


def _admitted(windows: Windows) -> Iterator[tuple[int, ...]]:
    """Enumerate the orders of all jobs that break no order and put no job before one that must be complete."""
    spans = windows.spans
    for order in permutations(range(len(spans))):
        pairs = list(combinations(order, 2))
        if all((b, a) not in windows.orders and not spans[b][1] < spans[a][0] for a, b in pairs):
            yield order


@settings(deadline=None, max_examples=cases(60))
@given(SEEDS)
def test_places_are_those_of_all_orders(seed: int) -> None:
    """First and last position of each job are those that it has in the orders that windows and pairs admit."""
    windows = _drawn(seed)
    orders = list(_admitted(windows))
    assert orders

    for job in range(len(windows.spans)):
        places = [order.index(job) for order in orders]
        assert windows.places(job) == (min(places), max(places))


@settings(deadline=None, max_examples=cases(60))
@given(SEEDS)
def test_undecided_pairs_come_both_ways(seed: int) -> None:
    """A pair is undecided where some admitted orders have the one first, and some the other."""
    windows = _drawn(seed)
    both = {
        pair: {order.index(pair[0]) < order.index(pair[1]) for order in _admitted(windows)}
        for pair in combinations(range(len(windows.spans)), 2)
    }

    assert list(windows.undecided) == [pair for pair, ways in both.items() if len(ways) == 2]


@settings(deadline=None, max_examples=cases(60))
@given(SEEDS)
def test_needed_orders_say_it_all_and_none_says_what_others_do(seed: int) -> None:
    """With the needed orders alone the same jobs are before others; without any one of them that changes."""
    windows = _drawn(seed)
    needed = windows.needed

    assert set(needed) <= windows.orders
    assert (Windows(windows.spans, frozenset(needed)).before == windows.before).all()
    for pair in needed:
        fewer = Windows(windows.spans, frozenset(needed) - {pair})
        assert (fewer.before != windows.before).any()
    assert list(needed) == sorted(needed)


def test_windows_that_touch_decide_nothing() -> None:
    """Of jobs of which one can complete when the other can at the earliest, either may be first."""
    assert Windows(((0.0, 2.0), (2.0, 3.0))).undecided == ((0, 1),)
    assert Windows(((0.0, 1.9), (2.0, 3.0))).undecided == ()


def test_orders_reach_through_windows() -> None:
    """What is before a job is before all that its window, or an order, puts after that job."""
    windows = Windows(((0.0, 9.0), (0.0, 2.0), (3.0, 9.0), (0.0, 9.0)), frozenset({(0, 1), (2, 3)}))

    assert [windows.places(job) for job in range(4)] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert windows.needed == ((0, 1), (2, 3))


@settings(deadline=None, max_examples=cases(60))
@given(SEEDS)
def test_no_schedule_of_the_total_is_outside(seed: int) -> None:
    """In any schedule no worse than the total each job completes within its window, at one of its places."""
    instance = Instance.of(tiny(seed, jobs=(2, 3, 4, 5)))
    _, completions = wandering(instance, Random(seed))
    windows = Windows.of(instance, sum(completions))
    order = sorted(range(len(instance)), key=completions.__getitem__)

    for job, (low, high) in enumerate(windows.spans):
        assert low <= completions[job] * (1 + 1e-12)
        assert completions[job] <= high * (1 + 1e-12)
        first, last = windows.places(job)
        assert first <= order.index(job) <= last


def _three(*, fairness: float | None = None) -> Instance:
    jobs = [
        ElasticJob(name=name, release=date, work=2, rates={1: 1.0})
        for name, date in zip("abc", (5, 6, 9), strict=True)
    ]
    return Instance.of(Scheduling(gpus=2, jobs=jobs, fairness=fairness))


def test_a_total_leaves_what_the_others_do_not_need() -> None:
    """Jobs that alone complete at 2, 3 and 6 s may each be a second late if the total is 12 s."""
    assert Windows.of(_three(), 12.0).spans == ((2.0, 3.0), (3.0, 4.0), (6.0, 7.0))
    assert Windows.of(_three(), 11.0).spans == ((2.0, 2.0), (3.0, 3.0), (6.0, 6.0))


def test_a_total_too_small_leaves_what_is_earliest() -> None:
    """A total that rounding puts below the least possible leaves windows of a point, none upside down."""
    assert Windows.of(_three(), 10.9).spans == ((2.0, 2.0), (3.0, 3.0), (6.0, 6.0))


def test_without_a_total_deadlines_bound_the_windows() -> None:
    """Deadlines are the ends of windows that the total leaves longer, and infinity where there are none."""
    fair = _three(fairness=1.25)

    assert [high for _, high in Windows.of(fair, inf).spans] == pytest.approx([2.25, 3.25, 6.25])
    assert [high for _, high in Windows.of(_three(), inf).spans] == [inf] * 3
    assert Windows.of(fair, 11.125).spans == ((2.0, 2.125), (3.0, 3.125), (6.0, 6.125))


def test_a_deadline_before_the_earliest_completion_leaves_a_point() -> None:
    """Jobs that cannot keep their deadlines have windows of their earliest completion, none upside down."""
    assert Windows.of(_three(fairness=0.5), inf).spans == ((2.0, 2.0), (3.0, 3.0), (6.0, 6.0))


def test_windows_keep_the_orders_they_are_given() -> None:
    """Orders known from elsewhere are in the windows of a total."""
    assert Windows.of(_three(), 12.0, frozenset({(0, 2)})).orders == {(0, 2)}


def test_narrowing_is_what_both_leave() -> None:
    """Narrowed windows are the overlap and have the orders of both, but none becomes empty."""
    windows = Windows(((0.0, 4.0), (1.0, 5.0), (2.0, 6.0), (0.0, 3.0)), frozenset({(0, 2)}))
    narrowed = windows.narrowed([(1.0, 3.0), (0.0, 7.0), (6.5, 8.0), (3.0, 9.0)], [(1, 2)])

    assert narrowed.spans == ((1.0, 3.0), (1.0, 5.0), (2.0, 6.0), (3.0, 3.0))
    assert narrowed.orders == {(0, 2), (1, 2)}
    assert windows.narrowed(windows.spans) == windows


def test_as_many_windows_as_jobs_are_needed() -> None:
    """Windows of another number of jobs cannot be added."""
    with pytest.raises(ValueError, match="shorter"):
        Windows(((0.0, 1.0), (0.0, 1.0))).narrowed([(0.0, 1.0)])
