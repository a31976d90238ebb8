"""Buckets of time, windows of completion, and fairness."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.common.probing import probe
from formulations.scheduling import event_orders, price_of_fairness, smallest_fairness
from formulations.scheduling.bucket import BucketModel, Grid, Reals
from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.groups import groups, taken
from formulations.scheduling.instance import Instance, SpeedMode
from formulations.scheduling.mixture import Item
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.schedule.fairness import gps_finish_times
from gsopt.solvers.backends import Highs
from tests.effort import cases
from tests.strategies.scheduling import figure_4, packing, rigid, tiny, wandering
from tests.unwrap import unwrap


def _model(
    instance: Instance,
    limit: float,
    random: Random,
    *,
    coarse: bool = False,
    orders: frozenset[tuple[int, int]] = frozenset(),
) -> BucketModel:
    times = [random.uniform(0, limit / len(instance)) for _ in range(random.randint(1, 12))]
    windows = Windows.of(instance, limit, orders)
    grid = Grid.of(instance, windows, times, shortest=0.2 if coarse else 5e-4)
    return BucketModel(instance, grid, windows, limit)


def _point(model: BucketModel, plan: OrderPlan) -> Reals:
    """Return the column values of a schedule."""
    values = np.zeros(model.size)
    times, completed = model.grid.times, list[int]()
    for job, (time, window) in enumerate(zip(plan.completions, model.buckets, strict=True)):
        bucket = min(max(bisect_left(times, time - 1e-9 * times[-1]) - 1, window[0]), window[-1])
        completed.append(bucket)
        values[model.columns[job,]] = time / model.unit
        values[model.columns[job, bucket]] = 1.0
    for job, gpus, bucket, seconds in _pieces(plan, times):
        counts = [mode.gpus for mode in model.instance.modes[job]]
        if gpus in counts and bucket <= completed[job]:
            k = counts.index(gpus)
            values[model.columns[job, k, bucket]] += seconds / model.unit
            values[model.columns[job, completed[job], k, bucket]] += seconds / model.unit
    return values


def _pieces(plan: OrderPlan, times: Sequence[float]) -> Iterator[tuple[int, int, int, float]]:
    """Split a plan's steps at the times of a grid, and yield the job, GPUs, bucket and seconds of each part."""
    now, bucket = times[0], 0
    for step in plan.steps:
        left = step.duration
        while left > 0 and bucket < len(times) - 1:
            part = min(left, times[bucket + 1] - now)
            for job, gpus in step.gpus.items():
                yield job, gpus, bucket, part
            left -= part
            now += part
            if times[bucket + 1] - now <= 1e-9 * times[-1]:
                bucket += 1
                now = times[bucket]


@pytest.mark.parametrize("coarse", [False, True])
def test_every_schedule_is_a_point_of_the_relaxation(coarse: bool) -> None:
    """A schedule satisfies every row on any grid that reaches its end, at its value."""
    for seed in range(cases(80)):
        problem = tiny(seed, jobs=(2, 3, 4, 5))
        instance = Instance.of(problem)
        random = Random(seed)
        steps, completions = wandering(instance, random)
        plan = OrderPlan(tuple(steps), tuple(completions))
        model = _model(instance, plan.total * random.choice((1.0, 1.3)), random, coarse=coarse)
        point = _point(model, plan)
        form = model.form()
        assert form.violation(point) <= 1e-9, problem.name
        assert (point <= model.largest + 1e-9).all(), problem.name
        assert form.objective(point) * model.unit == pytest.approx(plan.total, rel=1e-9)
        assert model.completions(point) == pytest.approx(completions)


def test_the_optimum_is_never_cut_off() -> None:
    """On eighty tiny instances and random grids, relaxed or not, the relaxation is not above the optimum."""
    tight = 0
    for seed in range(cases(80)):
        problem = tiny(seed, fair=seed % 4 == 3)
        oracle = event_orders(problem)
        if oracle.objective is None:
            continue
        instance = Instance.of(problem)
        total = instance.total(float(oracle.objective))
        orders = exchange_orders(instance)
        model = _model(instance, total, Random(seed), coarse=seed % 2 == 1, orders=orders)
        for form in (model.form(), model.form().relaxation):
            outcome = Highs().solve(form)
            assert outcome.status is Status.OPTIMAL, problem.name
            assert outcome.bound is not None
            assert outcome.bound * model.unit <= total * (1 + 1e-6), problem.name
            tight += outcome.bound * model.unit >= total * (1 - 1e-6)
    assert tight >= cases(20)


def test_whatever_is_ruled_out_there_is_a_solution() -> None:
    """With a job that can complete nowhere the program is feasible, and its optimum is far above the limit."""
    instance = Instance.of(packing())
    model = _model(instance, 4.0, Random(0))
    form = model.form()
    upper = form.column_upper.copy()
    upper[[model.columns[0, bucket] for bucket in model.buckets[0]]] = 0.0

    outcome = Highs().solve(form.with_bounds(form.column_lower, upper))
    assert unwrap(outcome.bound) * model.unit > 2 * model.limit


def test_narrowing_keeps_the_optimal_completions() -> None:
    """Windows narrowed by probing still hold the completion times of an optimal schedule, in their order."""
    narrowed = 0
    for seed in range(cases(60)):
        problem = tiny(seed)
        oracle = event_orders(problem)
        instance = Instance.of(problem)
        total = instance.total(float(unwrap(oracle.objective))) * (1 + 1e-6)
        model = _model(instance, total, Random(seed), orders=exchange_orders(instance))
        finding = unwrap(
            probe(
                model.form(),
                Budget(),
                choices=model.choices,
                largest=model.largest,
                cutoff=model.cutoff,
                pairs=model.windows.undecided,
            )
        )
        assert finding.bound * model.unit <= total, problem.name
        windows = model.windows.narrowed(model.spans(finding.kept), finding.orders)
        again = BucketModel(instance, Grid.of(instance, windows, model.grid.times), windows, total)
        outcome = Highs().solve(again.form())
        assert outcome.status is Status.OPTIMAL, problem.name
        assert unwrap(outcome.objective) * again.unit <= total * (1 + 1e-6), problem.name
        narrowed += again.size < model.size
    assert narrowed >= 3


def test_like_jobs_complete_in_the_order_of_their_work() -> None:
    """Of jobs with proportional rates the shorter one released no later is first; others are left open."""
    rates = {1: 1.0, 2: 1.5}
    jobs = [
        ElasticJob(name="long", release=0, work=4, rates=rates),
        ElasticJob(name="short", release=0, work=1, rates=rates),
        ElasticJob(name="fast", release=0, work=16, rates={1: 8.0, 2: 12.0}),
        ElasticJob(name="late", release=1, work=1, rates=rates),
        ElasticJob(name="other", release=0, work=1, rates={1: 1.0, 2: 1.6}),
    ]
    instance = Instance.of(Scheduling(gpus=2, jobs=jobs))
    names = instance.names

    pairs = {(names[a], names[b]) for a, b in Windows.of(instance, 100.0, exchange_orders(instance)).needed}
    assert pairs == {("short", "fast"), ("fast", "long"), ("short", "late")}


def test_identical_jobs_are_put_in_order() -> None:
    """Three identical jobs form one chain, which does not change the optimum."""
    jobs = [ElasticJob(name=str(i), release=0, work=2, rates={1: 1.0, 2: 1.6}) for i in range(3)]
    problem = Scheduling(gpus=2, jobs=jobs)
    instance = Instance.of(problem)
    total = instance.total(float(event_orders(problem).objective or 0))
    model = _model(instance, total, Random(0), orders=exchange_orders(instance))

    assert model.windows.needed == ((0, 1), (1, 2))
    outcome = Highs().solve(model.form())
    assert unwrap(outcome.bound) * model.unit <= total * (1 + 1e-6)


def test_groups_know_that_area_is_not_enough() -> None:
    """On two GPUs a job that needs both and one that needs either take 3 s, in one bucket or in more."""
    instance = Instance.of(packing())
    windows = Windows.of(instance, 4.0)
    model = BucketModel(instance, Grid.of(instance, windows, [1.0, 3.0]), windows, 4.0)
    outcome = Highs().solve(model.form())
    assert unwrap(outcome.objective) * model.unit == pytest.approx(4.0)


def test_a_bucket_that_no_mixture_fills_is_cut_off() -> None:
    """Of three jobs on two of three GPUs only one runs at a time, which the cut tells and area does not."""
    jobs = [ElasticJob(name=name, release=0, work=1, rates={2: 1.0}) for name in "abc"]
    instance = Instance.of(Scheduling(gpus=3, jobs=jobs))
    windows = Windows.of(instance, 9.0)
    model = BucketModel(instance, Grid.of(instance, windows, ()), windows, 9.0)
    values = np.zeros(model.size)
    values[[model.columns[job, 0, 0] for job in range(3)]] = 0.4 * model.lengths[0]

    assert model.overfull(values) == [{(0, 0): 1.0, (1, 0): 1.0, (2, 0): 1.0}]


def test_size_is_the_number_of_columns() -> None:
    """The size, which is known without building, is the number of columns built."""
    for seed in range(cases(20)):
        instance = Instance.of(tiny(seed))
        model = _model(instance, 60.0, Random(seed))
        assert model.size == len(model.columns) + len(instance) == model.form().cost.size


def test_a_job_completes_in_the_buckets_of_its_window() -> None:
    """A time between two buckets is in the later one, but for the end of a window."""
    instance = Instance.of(rigid((0, 1)))
    grid = Grid((0.0, 1.0, 2.0, 3.0, 4.0))
    windows = {(0.5, 1.5): [0, 1], (1.0, 2.0): [1], (2.0, 2.0): [1], (1.5, 4.0): [1, 2, 3]}

    for span, buckets in windows.items():
        model = BucketModel(instance, grid, Windows((span,)), 4.0)
        assert list(model.buckets[0]) == buckets
        assert model.spans([(0, len(buckets))]) == [(buckets[0], buckets[-1] + 1)]


def test_a_grid_keeps_release_dates_and_drops_what_is_close() -> None:
    """Times next to another one are dropped, release dates only on a coarse grid."""
    instance = Instance.of(rigid((0, 10), (1e-6, 10), (5, 10)))
    windows = Windows(((0.0, 60.0),) * 3)
    assert Grid.of(instance, windows, [5 + 1e-6, 7.0, inf]).times == (0, 1e-6, 5, 7, 60)
    assert Grid.of(instance, windows, [7.0], shortest=0.2).times == (0, 60)


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
    return Instance.of(rigid((5, 2), (6, 2), (9, 2), gpus=2, fairness=fairness))


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


def test_the_smallest_fairness_is_feasible_and_less_is_not() -> None:
    """Just above it there is a schedule, by enumeration of all orders; just below there is none."""
    positive = 0
    for seed in range(cases(40)):
        problem = tiny(seed, jobs=(2, 3, 4))
        least = smallest_fairness(problem)
        above = problem.model_copy(update={"fairness": least + 1e-5})
        assert event_orders(above).status is Status.OPTIMAL, problem.name
        if least > 1e-3:
            positive += 1
            below = problem.model_copy(update={"fairness": least - 1e-3})
            assert event_orders(below).status is Status.INFEASIBLE, problem.name
    assert positive >= cases(20)


def test_a_job_alone_is_late_by_what_it_cannot_share() -> None:
    """A job of one GPU in a cluster of four takes 2 s instead of the fluid's 0.5."""
    assert smallest_fairness(rigid((3, 2), gpus=4)) == pytest.approx(1.5)


def test_nobody_need_be_late_in_figure_4() -> None:
    """In Figure 4 every job can complete as early as under generalized processor sharing."""
    assert smallest_fairness(figure_4()) == pytest.approx(0, abs=1e-7)


def test_late_arrivals_count() -> None:
    """On one GPU the fluid delays the first job and a schedule need not, whenever the second arrives."""
    for release in (0.5, 1.0, 1.5):
        problem = rigid((0.0, 2), (release, 2))
        assert gps_finish_times(problem.workload, 1)[0] > 2
        assert smallest_fairness(problem) == pytest.approx(0, abs=1e-7)


def test_too_little_time_is_said() -> None:
    """Without time there is no answer but a clear error."""
    with pytest.raises(TimeoutError, match="0"):
        smallest_fairness(figure_4(), time_limit=0.0)


def test_a_problem_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the tables of the knapsack would be too large, that is said even without a time limit."""
    monkeypatch.setattr("formulations.scheduling.order._MOST_CHOICES", 1)
    with pytest.raises(Unsupported, match="too large"):
        smallest_fairness(figure_4())


def test_fairness_has_a_price_and_no_reward() -> None:
    """With fairness the optimum is never better, with more slack never worse; sometimes it costs something."""
    costly = 0
    for seed in range(8):
        problem = tiny(seed, jobs=(3, 4))
        tight, loose = (price_of_fairness(problem, slack=slack).relative for slack in (0.001, 1.0))
        assert tight is not None
        assert loose is not None
        assert tight >= loose - 1e-6 >= -2e-6
        costly += tight > 1e-3
    assert costly >= 2


def test_the_problem_may_bring_its_fairness() -> None:
    """In Figure 4 nobody need be late, and the constant given is the one that counts."""
    problem = Scheduling(gpus=6, jobs=figure_4().jobs, fairness=0.25)
    price = price_of_fairness(problem)
    assert price.fairness == 0.25
    assert price.relative == pytest.approx(0, abs=1e-6)


def test_fairness_that_cannot_be_kept_has_no_price() -> None:
    """A constant below the smallest possible one is refused with that one."""
    problem = rigid((0, 2), gpus=4, fairness=0.5)
    assert smallest_fairness(problem) == pytest.approx(1.5)
    with pytest.raises(Unsupported, match=r"smallest fairness possible is 1\.5 s"):
        price_of_fairness(problem)


def _instance(gpus: int, *menus: tuple[int, ...]) -> Instance:
    """Return jobs that may run on these counts of GPUs."""
    jobs = [
        ElasticJob(name=str(number), release=0, work=1, rates={count: float(count) for count in menu})
        for number, menu in enumerate(menus)
    ]
    return Instance.of(Scheduling(gpus=gpus, jobs=jobs))


def _every(instance: Instance) -> list[Item]:
    return [(job, mode) for job, modes in enumerate(instance.modes) for mode in range(len(modes))]


def _sizes(instance: Instance) -> list[int]:
    return [size for size, _ in groups(instance, _every(instance))]


def _configurations(instance: Instance) -> Iterator[dict[int, int]]:
    """Enumerate which jobs can run at the same time, on how many GPUs."""
    for counts in product(*([0, *(mode.gpus for mode in modes)] for modes in instance.modes)):
        if sum(counts) <= instance.gpus:
            yield {job: count for job, count in enumerate(counts) if count}


def test_no_configuration_takes_up_more_groups_than_there_are() -> None:
    """On tiny instances every configuration satisfies every row of groups, and most rows are met by some."""
    rows = tight = 0
    for seed in range(60):
        instance = Instance.of(tiny(seed, jobs=(3,), gpus=(2, 3, 4, 6, 8, 9, 12)))
        for size, job in groups(instance, _every(instance)):
            divides = instance.gpus % size == 0
            most = max(
                sum(taken(count, size, whole=j == job and divides) for j, count in configuration.items())
                for configuration in _configurations(instance)
            )
            assert most <= instance.gpus // size
            rows += 1
            tight += most == instance.gpus // size
    assert 0.7 * rows < tight


@pytest.mark.parametrize(
    ("gpus", "largest", "sizes"),
    [
        (1, 1, []),
        (8, 8, [2, 4, 8]),
        (8, 7, [2, 4]),
        (6, 6, [2, 3, 4, 6]),
        (7, 7, [2, 4, 7]),
        (12, 12, [2, 3, 4, 6, 8, 12]),
        (9, 3, [2, 3]),
    ],
)
def test_sizes_are_powers_of_two_and_divisors(gpus: int, largest: int, sizes: list[int]) -> None:
    """Groups have the size of a power of two or of a part of the GPUs, up to what some job takes."""
    assert _sizes(_instance(gpus, (largest,))) == sizes


def test_a_job_that_fills_no_group_has_a_row_of_its_own() -> None:
    """Where the size divides the GPUs, each job that takes up a group in part has a row, by its number."""
    instance = _instance(6, (6,), (5,), (2,), (1, 3))

    assert groups(instance, _every(instance)) == [
        (2, 1),
        (2, 3),
        (3, 1),
        (3, 2),
        (3, 3),
        (4, 0),
        (6, 1),
        (6, 2),
        (6, 3),
    ]


def test_only_those_that_may_run_count() -> None:
    """Sizes and jobs come from the items given, not from all modes of the instance."""
    instance = _instance(8, (1, 8), (1, 2), (4,))
    assert groups(instance, [(0, 0), (1, 1)]) == [(2, 0)]
    assert groups(instance, [(2, 0), (1, 1)]) == [(2, 2), (4, 1)]
    assert groups(instance, [(0, 0), (1, 0)]) == []


def test_groups_taken_up_whole_and_in_part() -> None:
    """Of groups of four, 4 GPUs take up one either way, 3 none or one, and 5 one or two."""
    assert [taken(gpus, 4, whole=False) for gpus in (3, 4, 5, 8)] == [0, 1, 1, 2]
    assert [taken(gpus, 4, whole=True) for gpus in (3, 4, 5, 8)] == [1, 1, 2, 2]


def test_jobs_are_numbered_by_release_date() -> None:
    """Jobs are sorted by release date, and keep their order where it is the same."""
    instance = Instance.of(rigid((3, 1), (0, 1), (0, 1)))
    assert instance.names == ("b", "c", "a")
    assert instance.arrivals == (0.0, 3.0)


def test_modes_that_help_nobody_are_left_out() -> None:
    """A mode that is no faster than one on fewer GPUs, or does not fit the cluster, is left out."""
    job = ElasticJob(name="a", release=0, work=6, rates={1: 1.0, 2: 1.0, 3: 0.5, 4: 3.0, 8: 9.0})
    instance = Instance.of(Scheduling(gpus=4, jobs=[job]))
    assert instance.modes == ((SpeedMode(1, 1.0), SpeedMode(4, 3.0)),)
    assert (instance.height(0), instance.area(0), instance.least_gpus) == (2.0, 6.0, 1)


def test_deadlines_are_the_fair_completion_and_the_fairness() -> None:
    """Without fairness nothing is due; with it every job is due that long after its fluid fair share."""
    assert Instance.of(rigid((0, 1), (0, 3))).deadline == (inf, inf)
    assert Instance.of(rigid((0, 1), (0, 3), fairness=0.5)).deadline == pytest.approx((2.5, 4.5))


@pytest.mark.parametrize("seed", range(20))
def test_no_deadline_is_rounded_down(seed: int) -> None:
    """Deadlines in floats are at least those in fractions, and hardly later."""
    problem = tiny(seed, jobs=(3, 4), fair=True)
    for due, exact in zip(Instance.of(problem).deadline, unwrap(problem.deadlines), strict=True):
        assert exact <= Fraction(due) <= exact * (1 + Fraction(1, 10**14))


def test_the_mean_job_completion_time_is_from_the_release() -> None:
    """Completions at 4 and 8 of jobs released at 0 and 2 make a mean of 5."""
    instance = Instance.of(rigid((0, 1), (2, 1), gpus=2))
    assert instance.mean_jct([4, 8]) == instance.mean_jct(12) == 5
