"""The bucket relaxation: every schedule is in it, and no schedule is better than its optimum."""

from math import inf
from random import Random

import pytest

from formulations.scheduling import event_orders
from formulations.scheduling.bucket import BucketModel, Grid, Spans
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import Plan
from gsopt.backends import Highs
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.result import Status
from tests.strategies.scheduling import packing, tiny, wandering


def _everywhere(instance: Instance) -> tuple[Spans, ...]:
    return (((0.0, inf),),) * len(instance)


def _model(instance: Instance, upper: float, random: Random, *, coarse: bool = False) -> BucketModel:
    end = instance.arrivals[-1] + upper / len(instance)
    times = [random.uniform(0, end) for _ in range(random.randint(1, 12))]
    shortest = 0.2 if coarse else 5e-4
    return BucketModel(instance, Grid.of(instance, times, _everywhere(instance), upper, shortest=shortest))


@pytest.mark.parametrize("coarse", [False, True])
def test_every_schedule_is_a_point_of_the_relaxation(coarse: bool) -> None:
    """A schedule satisfies every row on any grid that reaches its end, at no more than its value.

    Rows that say which of two like jobs finishes first hold for some best schedule only, so the jobs differ.
    """
    for seed in range(150):
        problem = tiny(seed, jobs=(2, 3, 4, 5))
        instance = Instance.of(problem)
        random = Random(seed)
        steps, completions = wandering(instance, random)
        plan = Plan(tuple(steps), tuple(completions))
        model = _model(instance, plan.total * random.choice((1.0, 1.3)), random, coarse=coarse)
        if any(True for _ in model._ordered_pairs()):  # noqa: SLF001 - see above
            continue
        point = model.point(plan)
        assert point is not None, problem.name
        form = model.form()
        assert form.violation(point) <= 1e-6, problem.name
        assert model.seconds(form.objective(point)) <= plan.total * (1 + 1e-9)
        assert model.completions(point) == pytest.approx(completions)


def test_the_optimum_is_never_cut_off() -> None:
    """On eighty tiny instances and random grids, relaxed or not, the relaxation is not above the optimum."""
    tight = 0
    for seed in range(80):
        problem = tiny(seed, fair=seed % 4 == 3)
        oracle = event_orders(problem)
        if oracle.objective is None:
            continue
        instance = Instance.of(problem)
        total = float(oracle.objective) * len(instance) + sum(instance.release)
        model = _model(instance, total, Random(seed), coarse=seed % 2 == 1)
        for relaxed in (True, False):
            outcome = Highs().solve(model.form(relaxed=relaxed))
            assert outcome.status is Status.OPTIMAL, problem.name
            assert outcome.objective is not None
            assert model.seconds(outcome.objective) <= total * (1 + 1e-6), problem.name
            tight += not relaxed and model.seconds(outcome.objective) >= total * (1 - 1e-6)
    assert tight >= 10


def test_narrowing_keeps_the_optimal_completions() -> None:
    """Spans cut by reduced costs still hold the completion times of an optimal schedule."""
    narrowed = 0
    for seed in range(60):
        problem = tiny(seed)
        oracle = event_orders(problem)
        instance = Instance.of(problem)
        assert oracle.objective is not None
        total = float(oracle.objective) * len(instance) + sum(instance.release)
        model = _model(instance, total, Random(seed))
        form = model.form(relaxed=True)
        spans = model.narrowed(form, Highs().solve(form))
        again = BucketModel(instance, Grid.of(instance, model.grid.times, spans, total))
        outcome = Highs().solve(again.form())
        assert outcome.status is Status.OPTIMAL, problem.name
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
    grid = Grid.of(instance, [], _everywhere(instance), 100.0)
    names = instance.names

    pairs = {(names[a], names[b]) for a, b in BucketModel(instance, grid)._ordered_pairs()}  # noqa: SLF001
    assert pairs == {("short", "fast"), ("fast", "long"), ("short", "late")}


def test_identical_jobs_are_put_in_order() -> None:
    """Six identical jobs form one chain, which does not change the optimum."""
    jobs = [ElasticJob(name=str(i), release=0, work=2, rates={1: 1.0, 2: 1.6}) for i in range(3)]
    problem = Scheduling(gpus=2, jobs=jobs)
    oracle = event_orders(problem)
    instance = Instance.of(problem)
    assert oracle.objective is not None
    model = _model(instance, float(oracle.objective) * 3, Random(0))

    assert list(model._ordered_pairs()) == [(0, 1), (1, 2)]  # noqa: SLF001
    assert Highs().solve(model.form()).status is Status.OPTIMAL


def test_groups_know_that_area_is_not_enough() -> None:
    """On two GPUs a job that needs both and one that needs either take 3 s, in one bucket or in more."""
    instance = Instance.of(packing())
    model = BucketModel(instance, Grid.of(instance, [1.0, 3.0], _everywhere(instance), 4.0))

    outcome = Highs().solve(model.form())
    assert outcome.objective is not None
    assert model.seconds(outcome.objective) == pytest.approx(4.0)


def test_size_is_the_number_of_columns() -> None:
    """The size, which is known without building, is the number of columns built."""
    for seed in range(20):
        instance = Instance.of(tiny(seed))
        model = _model(instance, 60.0, Random(seed))
        assert model.size == len(model.columns) == model.form().cost.size


def test_a_grid_keeps_release_dates_and_drops_what_is_close() -> None:
    """Times next to another one are dropped, release dates only on a coarse grid."""
    jobs = [ElasticJob(name=str(date), release=date, work=10, rates={1: 1.0}) for date in (0, 1e-6, 5)]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))
    spans = _everywhere(instance)

    fine = Grid.of(instance, [5 + 1e-6, 7.0], spans, 60.0)
    assert fine.times[:-1] == (0, 1e-6, 5, 7)
    assert Grid.of(instance, [7.0], spans, 60.0, shortest=0.2).times[:-1] == (0,)
