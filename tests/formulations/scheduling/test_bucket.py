"""The bucket relaxation: every schedule is in it, and no schedule is better than its optimum."""

from math import inf
from random import Random

import numpy as np
import pytest

from formulations.common.probing import probe
from formulations.scheduling import event_orders
from formulations.scheduling.bucket import BucketModel, Grid
from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.core.result import Status
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.solvers.backends import Highs
from tests.effort import cases
from tests.strategies.scheduling import packing, tiny, wandering


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
        point = model.point(plan)
        assert point is not None, problem.name
        form = model.form(limited=True)
        assert form.violation(point) <= 1e-9, problem.name
        assert (point <= model.largest + 1e-9).all(), problem.name
        assert form.objective(point) * model.unit == pytest.approx(plan.total, rel=1e-9)
        assert model.completions(point) == pytest.approx(completions)


def test_a_schedule_outside_its_windows_is_no_point() -> None:
    """A job that completes later than its window lets has no column."""
    instance = Instance.of(packing())
    model = _model(instance, 4.0, Random(0))

    assert model.point(OrderPlan((), (1.0, 2.9))) is not None
    assert model.point(OrderPlan((), (3.5, 2.0))) is None


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
    assert outcome.bound is not None
    assert outcome.bound * model.unit > 2 * model.limit


def test_narrowing_keeps_the_optimal_completions() -> None:
    """Windows narrowed by probing still hold the completion times of an optimal schedule, in their order."""
    narrowed = 0
    for seed in range(cases(60)):
        problem = tiny(seed)
        oracle = event_orders(problem)
        instance = Instance.of(problem)
        assert oracle.objective is not None
        total = instance.total(float(oracle.objective)) * (1 + 1e-6)
        model = _model(instance, total, Random(seed), orders=exchange_orders(instance))
        finding = probe(
            model.form(),
            Budget(),
            choices=model.choices,
            largest=model.largest,
            cutoff=model.cutoff,
            pairs=model.windows.undecided,
        )
        assert finding is not None, problem.name
        assert finding.bound * model.unit <= total, problem.name
        windows = model.windows.narrowed(model.spans(finding.kept), finding.orders)
        again = BucketModel(instance, Grid.of(instance, windows, model.grid.times), windows, total)
        outcome = Highs().solve(again.form(limited=True))
        assert outcome.status is Status.OPTIMAL, problem.name
        assert outcome.objective is not None
        assert outcome.objective * again.unit <= total * (1 + 1e-6), problem.name
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
    assert outcome.bound is not None
    assert outcome.bound * model.unit <= total * (1 + 1e-6)


def test_groups_know_that_area_is_not_enough() -> None:
    """On two GPUs a job that needs both and one that needs either take 3 s, in one bucket or in more."""
    instance = Instance.of(packing())
    windows = Windows.of(instance, 4.0)
    model = BucketModel(instance, Grid.of(instance, windows, [1.0, 3.0]), windows, 4.0)

    outcome = Highs().solve(model.form())
    assert outcome.objective is not None
    assert outcome.objective * model.unit == pytest.approx(4.0)


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
    job = ElasticJob(name="a", release=0, work=1, rates={1: 1.0})
    instance = Instance.of(Scheduling(gpus=1, jobs=[job]))
    grid = Grid((0.0, 1.0, 2.0, 3.0, 4.0))
    windows = {(0.5, 1.5): [0, 1], (1.0, 2.0): [1], (2.0, 2.0): [1], (1.5, 4.0): [1, 2, 3]}

    for span, buckets in windows.items():
        model = BucketModel(instance, grid, Windows((span,)), 4.0)
        assert list(model.buckets[0]) == buckets
        assert model.spans([(0, len(buckets))]) == [(buckets[0], buckets[-1] + 1)]


def test_a_grid_keeps_release_dates_and_drops_what_is_close() -> None:
    """Times next to another one are dropped, release dates only on a coarse grid."""
    jobs = [ElasticJob(name=str(date), release=date, work=10, rates={1: 1.0}) for date in (0, 1e-6, 5)]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))
    windows = Windows(((0.0, 60.0),) * 3)

    assert Grid.of(instance, windows, [5 + 1e-6, 7.0, inf]).times == (0, 1e-6, 5, 7, 60)
    assert Grid.of(instance, windows, [7.0], shortest=0.2).times == (0, 60)
