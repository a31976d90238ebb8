"""The Lagrangian relaxation and its kernels: what jobs choose at given prices, and the bound."""

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from scipy.optimize import linprog

from formulations.scheduling.instance import Instance
from formulations.scheduling.lagrangian import _in_order, _Point
from formulations.scheduling.lagrangian import _reach as _found_reach
from formulations.scheduling.lagrangian_kernel import (
    Integers,
    Jobs,
    Prices,
    PriceSearch,
    Reach,
    Reals,
    climb,
    complete,
)
from formulations.scheduling.windows import Windows
from gsopt.core.numbers.compiled import twin
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.effort import cases


def _draw(random: Random) -> tuple[Jobs, Reach, Reals]:
    """Draw jobs, their windows and a grid, which contains few of the release dates and windows."""
    gpus, unit = random.choice([2, 3, 4, 6, 8]), 10.0 ** random.randint(-6, 6)
    jobs = []
    for number in range(random.randint(1, 4)):
        counts = sorted(random.sample(range(1, gpus + 1), random.randint(1, min(gpus, 3))))
        speeds = sorted(random.uniform(0.5, 4) for _ in counts)
        work, release = unit * random.choice([0.01, 1, 5]), unit * random.choice([0, 0, random.uniform(0, 4)])
        rates = dict(zip(counts, speeds, strict=True))
        jobs.append(ElasticJob(name=f"j{number}", release=release, work=work, rates=rates))
    instance = Instance.of(Scheduling(gpus=gpus, jobs=jobs))
    earliest = [instance.earliest(job) for job in range(len(jobs))]
    low = np.array([time + unit * random.choice([0, random.uniform(0, 3)]) for time in earliest])
    high = low + unit * np.array([random.choice([0, random.uniform(0, 9)]) for _ in jobs])
    inner = [random.uniform(0, high.max()) for _ in range(random.randint(0, 6))]
    times = np.array(sorted({0.0, *inner, *instance.release, float(high.max())}))
    return Jobs.of(instance), _reach(jobs=Jobs.of(instance), times=times, low=low, high=high), times


def _reach(jobs: Jobs, times: Reals, low: Reals, high: Reals) -> Reach:
    """Find all buckets in which a job may run and complete, one by one."""
    buckets = range(len(times) - 1)
    begin = [max([b for b in buckets if times[b] <= date], default=0) for date in jobs.release]
    last = [max(*(b for b in buckets if times[b] < end), begin[j]) for j, end in enumerate(high)]
    first = [
        min(max([begin[j], *(b for b in buckets if times[b] <= start)]), last[j]) for j, start in enumerate(low)
    ]
    numbers: list[Integers] = [np.array(each, dtype=np.int64) for each in (begin, first, last)]
    return Reach(low, high, *numbers)


def _naive(jobs: Jobs, reach: Reach, times: Reals, price: Reals, job: int, bucket: int) -> float:
    """Return the cost of completing a job in a bucket, by a linear program over seconds and the completion."""
    modes, begin = int(jobs.modes[job]), int(reach.begin[job])
    cells = [(mode, place) for mode in range(modes) for place in range(begin, bucket + 1)]
    unit = times[-1]
    starts = {place: max(times[place], jobs.release[job]) for _, place in cells}
    ends = {place: times[place + 1] for place in starts} | {bucket: min(times[bucket + 1], reach.high[job])}
    cost = [*(price[job, mode, place] for mode, place in cells), 1.0]
    inside = {place: [float(place == other) for _, other in cells] for place in starts}
    lengths = [([*row, 0.0], ends[place] - starts[place]) for place, row in inside.items()]
    finish = [*inside[bucket], -1.0], -starts[bucket]
    rows, limits = zip(*lengths, finish, strict=True)
    found = linprog(
        cost,
        A_ub=np.array(rows),
        b_ub=np.array(limits) / unit,
        A_eq=[[*(jobs.rate[job, mode] * unit for mode, _ in cells), 0.0]],
        b_eq=[1.0],
        bounds=[*[(0, None)] * len(cells), (max(reach.low[job], starts[bucket]) / unit, None)],
        method="highs",
    )
    return np.inf if found.fun is None else float(found.fun) * unit


def _prices(random: Random, jobs: Jobs, buckets: int) -> Prices:
    area = np.array([random.choice([0, random.uniform(0, 2)]) for _ in range(buckets)])
    shape = len(jobs.limits), buckets
    draws = [random.choice([0, 0, random.uniform(0, 2)]) for _ in range(shape[0] * shape[1])]
    return Prices(area, np.array(draws).reshape(shape))


def _per_mode(jobs: Jobs, prices: Prices) -> Reals:
    """Return the price of a second in each mode and bucket, shape (jobs, modes, buckets)."""
    price: Reals = np.einsum("jk,b->jkb", jobs.area, prices.area)
    price += np.einsum("ljk,lb->jkb", jobs.taken, prices.limits)
    return price


@pytest.mark.parametrize("seed", range(cases(300)))
def test_jobs_pay_as_little_as_a_linear_program(seed: int) -> None:
    """A job pays the optimum of a linear program in each bucket; the cheapest run costs that much."""
    random = Random(seed)
    jobs, reach, times = _draw(random)
    count, buckets = len(jobs.release), len(times) - 1
    price = _per_mode(jobs, _prices(random, jobs, buckets))
    cost, bucket = np.empty((count, buckets)), np.zeros(count, dtype=np.int64)
    seconds = np.zeros(price.shape)
    complete(jobs, reach, times, price, cost, bucket, seconds)

    for job in range(count):
        for place in range(buckets):
            inside = reach.first[job] <= place <= reach.last[job]
            expected = _naive(jobs, reach, times, price, job, place) if inside else np.inf
            assert cost[job, place] == pytest.approx(expected, rel=1e-6)
        if cost[job].min() < np.inf:
            own, end = seconds[job], int(bucket[job])
            start = max(times[end], jobs.release[job])
            finish = max(start + own[:, end].sum(), reach.low[job])
            assert (own * jobs.rate[job][:, None]).sum() == pytest.approx(1.0, rel=1e-6)
            assert finish + (own * price[job]).sum() == pytest.approx(cost[job].min(), rel=1e-6)
            assert own.min() >= -1e-9 * times[-1]


@pytest.mark.parametrize("seed", range(cases(100)))
def test_the_bound_is_that_of_its_prices(seed: int) -> None:
    """The bound is what all jobs pay at the returned prices, minus the price of the GPUs, and never falls."""
    random = Random(seed)
    jobs, reach, times = _draw(random)
    prices = _prices(random, jobs, len(times) - 1)
    first = _bound(jobs, reach, times, prices)
    search, steps = PriceSearch.of(jobs, prices), np.geomspace(0.2, 0.005, 30)
    goal, bound = 10 * times[-1] * len(jobs.release), -np.inf
    for part in np.array_split(steps, random.choice([1, 4])):
        bound = climb(jobs, reach, times, search, goal, bound, part)

    if first == np.inf:
        assert bound == np.inf
        return
    assert bound == pytest.approx(_bound(jobs, reach, times, search.best), rel=1e-6, abs=1e-9 * times[-1])
    best = search.best
    rent = float((jobs.gpus * best.area + jobs.limits @ best.limits) @ np.diff(times))
    assert bound == pytest.approx(search.cost.min(axis=1).sum() - rent, rel=1e-9, abs=1e-9 * times[-1])
    assert bound >= first - 1e-6 * abs(first) - 1e-9 * times[-1]
    assert search.chosen.sum(axis=1) == pytest.approx(1.0)
    assert np.einsum("jk,jkb->j", jobs.rate, search.spent) == pytest.approx(1.0, rel=1e-6)


def _bound(jobs: Jobs, reach: Reach, times: Reals, prices: Prices) -> float:
    """Return the bound at given prices, by linear programs."""
    price, lengths = _per_mode(jobs, prices), np.diff(times)
    paid = 0.0
    for job in range(len(jobs.release)):
        window = range(reach.first[job], reach.last[job] + 1)
        paid += min(_naive(jobs, reach, times, price, job, place) for place in window)
    return paid - float((jobs.gpus * prices.area + jobs.limits @ prices.limits) @ lengths)


def test_without_a_compiler_all_is_the_same() -> None:
    """Plain Python raises the bound to the same value as the kernel."""
    for seed in range(20):
        jobs, reach, times = _draw(Random(seed))
        found = []
        for function in climb, twin(climb):
            search = PriceSearch.of(jobs, _prices(Random(seed), jobs, len(times) - 1))
            bound = function(jobs, reach, times, search, 10 * times[-1], -np.inf, np.full(5, 0.1))
            found.append((bound, search.best))
        (one, first), (other, second) = found
        assert one == pytest.approx(other, rel=1e-12)
        if one < np.inf:
            assert first.area == pytest.approx(second.area, rel=1e-9)
            assert first.limits == pytest.approx(second.limits, rel=1e-9)


@pytest.mark.parametrize("seed", range(cases(50)))
def test_a_search_can_be_continued(seed: int) -> None:
    """Steps in two calls lead to the same prices as in one."""
    jobs, reach, times = _draw(Random(seed))
    prices, steps = _prices(Random(seed), jobs, len(times) - 1), np.full(20, 0.1)
    whole, parts = PriceSearch.of(jobs, prices), PriceSearch.of(jobs, prices)
    goal = 10 * times[-1] * len(jobs.release)
    one = climb(jobs, reach, times, whole, goal, -np.inf, steps)
    half = climb(jobs, reach, times, parts, goal, -np.inf, steps[:7])
    assert one == climb(jobs, reach, times, parts, goal, half, steps[7:])
    assert np.array_equal(whole.best.area, parts.best.area)
    assert np.array_equal(whole.tried.limits, parts.tried.limits)


def test_prices_that_are_too_high_fall() -> None:
    """From prices that are far too high, the bound rises; once it reaches the goal, prices stay the same."""
    jobs, reach, times = _draw(Random(3))
    buckets = len(times) - 1
    prices = Prices(np.full(buckets, 5.0), np.zeros((len(jobs.limits), buckets)))
    before = _bound(jobs, reach, times, prices)
    search = PriceSearch.of(jobs, prices)
    same = climb(jobs, reach, times, search, before - abs(before) / 2, -np.inf, np.full(9, 0.5))
    assert same == pytest.approx(before, rel=1e-6)
    assert (search.best.area == 5).all()

    higher = climb(jobs, reach, times, search, 2 * float(reach.high.sum()), -np.inf, np.full(200, 0.1))
    assert higher > before
    assert (search.best.area < 5).any()


def _alone(work: float) -> Jobs:
    """Return one job that does a unit of work per second on one GPU, which is the only one."""
    job = ElasticJob(name="a", release=0, work=work, rates={1: 1.0})
    return Jobs.of(Instance.of(Scheduling(gpus=1, jobs=[job])))


def test_rounding_never_raises_the_bound() -> None:
    """At any prices, the bound is at most its value in exact numbers."""
    random = Random(0)
    for _ in range(50):
        work, price = random.uniform(1, 2), random.uniform(0, 2)
        times = np.array([0.0, work * random.uniform(1.1, 3)])
        reach = _reach(_alone(work), times, np.array([work]), times[1:])
        prices = Prices(np.array([price]), np.zeros((0, 1)))
        bound = climb(
            _alone(work), reach, times, PriceSearch.of(_alone(work), prices), 9.0, -np.inf, np.ones(1)
        )
        exact = Fraction(work) * (1 + Fraction(price)) - Fraction(price) * Fraction(times[1])
        assert Fraction(bound) <= exact
        assert bound == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


def test_a_window_that_is_too_short_is_empty() -> None:
    """A job does not complete in a window that ends a millionth too early; rounding errors do not matter."""
    times = np.array([0.0, 1.0, 2.0])
    for short, completes in (1e-6, False), (1e-15, True):
        end = np.array([2.0 * (1 - short)])
        reach = _reach(_alone(2.0), times, end, end)
        search = PriceSearch.of(_alone(2.0), Prices(np.zeros(2), np.zeros((0, 2))))
        bound = climb(_alone(2.0), reach, times, search, 9.0, -np.inf, np.ones(1))
        assert (bound < np.inf) == completes


def test_buckets_are_found_for_all_windows() -> None:
    """The buckets in which jobs may run and complete are those that a search one by one finds."""
    for seed in range(100):
        jobs, reach, times = _draw(Random(seed))
        windows = Windows(tuple(zip(reach.low.tolist(), reach.high.tolist(), strict=True)))
        found = _found_reach(jobs, times, windows)
        assert all((one == other).all() for one, other in zip(found, reach, strict=True))


def test_prices_stay_where_they_are_on_another_grid() -> None:
    """On a finer grid, each part of a bucket keeps the bucket's prices; limits that are new cost nothing."""
    times, finer = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 4.0])
    prices = Prices(np.array([1.0, 2.0, 3.0]), np.array([[0.0, 4.0, 0.0], [5.0, 0.0, 6.0]]))
    moved = _Point.of(times, prices, ()).on(finer, 3)
    assert moved.area.tolist() == [1, 1, 2, 2, 2, 3]
    assert moved.limits.tolist() == [[0, 0, 4, 4, 4, 0], [5, 5, 0, 0, 0, 6], [0] * 6]


def test_orders_narrow_windows() -> None:
    """Of two jobs in a known order, the second starts no earlier and the first ends no later, transitively."""
    spans = ((3.0, 9.0), (1.0, 8.0), (2.0, 6.0))
    narrowed = _in_order(Windows(spans, frozenset({(0, 1), (1, 2)})))
    assert narrowed.spans == ((3.0, 6.0),) * 3


def test_all_that_fits_keeps_the_limits() -> None:
    """No modes that fit on the GPUs together take up more groups than there are."""
    for seed in range(100):
        jobs, *_ = _draw(Random(seed))
        for modes in product(*(range(-1, count) for count in jobs.modes.tolist())):
            run = [(job, mode) for job, mode in enumerate(modes) if mode >= 0]
            if sum(jobs.area[item] for item in run) <= jobs.gpus:
                assert all(
                    sum(taken[item] for item in run) <= most
                    for taken, most in zip(jobs.taken, jobs.limits, strict=True)
                )


def test_costs_are_those_of_the_best_prices() -> None:
    """If the last steps are too long, bound and costs are still those of the best prices on the way."""
    for seed in range(20):
        jobs, reach, times = _draw(Random(seed))
        prices = Prices(np.zeros(len(times) - 1), np.zeros((len(jobs.limits), len(times) - 1)))
        search, goal = PriceSearch.of(jobs, prices), 10 * float(reach.high.sum())
        bound = climb(jobs, reach, times, search, goal, -np.inf, np.full(9, 2.0))
        if bound < np.inf:
            best = search.best
            rent = float((jobs.gpus * best.area + jobs.limits @ best.limits) @ np.diff(times))
            expected = pytest.approx(bound, rel=1e-9, abs=1e-9 * times[-1])
            assert search.cost.min(axis=1).sum() - rent == expected


def test_modes_of_nearly_the_same_speed_cost_no_more_than_exactly() -> None:
    """Where two modes differ by rounding errors, costs are at most those of exact arithmetic."""
    random = Random(1)
    for _ in range(200):
        rates = {1: 1.0, 2: 1.0 + 10.0 ** random.uniform(-15, -1)}
        jobs = Jobs.of(
            Instance.of(Scheduling(gpus=2, jobs=[ElasticJob(name="a", release=0, work=1, rates=rates)]))
        )
        first, second = (Fraction(rate) for rate in jobs.rate[0].tolist())
        short = 1 / second + (1 / first - 1 / second) * Fraction(random.random())
        times = np.array([0.0, float(short), 9.0])
        price = np.array([[[1.0], [1.0 + random.random()]]]) * np.ones(2)
        reach = _reach(jobs, times, np.array([0.0]), times[1:2])
        cost, bucket, seconds = np.empty((1, 2)), np.zeros(1, dtype=np.int64), np.zeros((1, 2, 2))
        complete(jobs, reach, times, price, cost, bucket, seconds)
        # the bucket is as short as both modes together allow: x seconds in the first, the rest in the second
        length, (cheap, dear) = Fraction(times[1]), (Fraction(each) for each in price[0, :, 0].tolist())
        slow = (second * length - 1) / (second - first)
        if 0 <= slow <= length:
            assert Fraction(cost[0, 0]) <= (cheap + 1) * slow + (dear + 1) * (length - slow)
