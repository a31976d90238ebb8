"""List schedules and the search over orders of priority."""

from itertools import count, islice, permutations, product

import pytest

from formulations.scheduling import event_orders, local_search, smallest_fairness
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import LocalSearch, Priorities, good_plans, list_schedule
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.timetable import replay
from gsopt.core.budget import Budget
from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import figure_4, tiny


def test_figure_4_as_a_list_schedule() -> None:
    """Served in the order of fair completion, the jobs of Figure 4 complete at 3, 8 and 5.5."""
    instance = Instance.of(figure_4())
    modes = tuple(tuple(reversed(modes)) for modes in instance.modes)

    plan = list_schedule(instance, Priorities((0, 2, 1), modes))
    assert plan.completions == pytest.approx((3, 8, 5.5))


def test_every_list_schedule_is_a_schedule() -> None:
    """Any order of priority and any choice of modes makes a schedule with the completion times it says."""
    for seed in range(cases(20)):
        problem = tiny(seed, jobs=(3,))
        instance = Instance.of(problem)
        choices = [
            [tuple(reversed(modes[: most + 1])) for most in range(len(modes))] for modes in instance.modes
        ]
        for order in permutations(range(3)):
            for modes in product(*choices):
                plan = list_schedule(instance, Priorities(order, modes))
                solution = replay(instance, plan.steps).solution
                assert problem.violations(solution) == []
                assert problem.objective(solution) == pytest.approx(instance.mean_jct(plan.total), rel=1e-9)


def test_the_search_comes_close_to_the_optimum() -> None:
    """On sixty tiny instances the search is never below the optimum, and on most of them it finds it."""
    gaps = []
    for seed in range(cases(60)):
        problem = tiny(seed)
        plan, best = _best(Instance.of(problem)), event_orders(problem).objective
        assert plan is not None
        assert best is not None
        gaps.append(Instance.of(problem).mean_jct(plan.total) / float(best) - 1)
    assert min(gaps) >= -1e-7
    assert sum(gap < 1e-6 for gap in gaps) >= cases(40)
    assert max(gaps) < 0.1


def test_deadlines_are_kept_where_they_can_be() -> None:
    """With fair deadlines some plans keep them, and the judge agrees."""
    found = 0
    for seed in range(cases(40)):
        problem = tiny(seed, fair=True)
        instance = Instance.of(problem)
        plan = _best(instance)
        if plan is not None:
            found += 1
            assert problem.violations(replay(instance, plan.steps).solution) == []
    assert found


def test_deadlines_are_worth_their_price() -> None:
    """With a constant of fairness next to the smallest one, which most orders break, a plan is found."""
    for seed in (1, 14, 16):
        problem = elastic_jobs(jobs=6, gpus=4, load=1.5, seed=seed)
        fair = problem.model_copy(update={"fairness": 1.001 * smallest_fairness(problem)})
        assert _best(Instance.of(fair)) is not None


def test_without_time_there_still_is_a_schedule() -> None:
    """A budget that has passed leaves the first list schedule."""
    assert len(list(good_plans(Instance.of(figure_4()), Budget(time_limit=0.0)))) == 1


def test_a_known_plan_is_a_start() -> None:
    """From the order of completion of an optimal plan the first list schedules include an optimal one."""
    instance = Instance.of(figure_4())
    known = OrderPlan((), (3.0, 8.0, 5.5))
    plans = list(islice(LocalSearch(instance).begin(Budget(), known=[known]), 4))

    assert plans[-1].completions == pytest.approx((3, 8, 5.5))


def test_the_order_of_a_known_plan_is_tried() -> None:
    """An order in which no other start serves the jobs, the longest first, is tried where a plan has it."""
    jobs = [ElasticJob(name=str(work), release=0, work=work, rates={1: 1.0}) for work in (2, 1, 4)]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))
    starts = list(islice(LocalSearch(instance).begin(Budget(), known=[OrderPlan((), (6.0, 7.0, 4.0))]), 16))

    assert [plan.completions for plan in starts] == [(3, 1, 7), (3, 1, 7), (3, 1, 7), (6, 7, 4)] * 4


def test_the_order_of_deadlines_is_tried() -> None:
    """Where jobs have deadlines the one due first is served first in one of the starts."""
    jobs = [
        ElasticJob(name="a", release=0, work=4, rates={2: 1.0}),
        ElasticJob(name="b", release=0, work=7, rates={1: 1.0}),
        ElasticJob(name="c", release=1, work=4, rates={1: 1.0}),
        ElasticJob(name="d", release=2, work=7, rates={1: 1.0}),
    ]
    instance = Instance.of(Scheduling(gpus=2, jobs=jobs, fairness=9))
    order = tuple(sorted(range(4), key=instance.deadline.__getitem__))
    plan = list_schedule(instance, Priorities(order, instance.modes))
    starts = list(islice(LocalSearch(instance).begin(Budget()), 4))

    assert [each.completions == plan.completions for each in starts] == [False, False, False, True]


def test_alike_jobs_stay_where_they_are() -> None:
    """A move that makes nothing better is not made: jobs of one kind are served by their number."""
    jobs = [ElasticJob(name=str(number), release=0, work=1, rates={1: 1.0}) for number in range(5)]
    plans = list(good_plans(Instance.of(Scheduling(gpus=1, jobs=jobs)), Budget()))

    assert {plan.completions for plan in plans} == {(1, 2, 3, 4, 5)}


def test_an_order_of_events_is_made_the_best_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descents that end in the same order of events cost one linear program together."""
    orders: list[tuple[int, ...]] = []

    def record(_: Instance, order: tuple[int, ...], **__: object) -> None:
        orders.append(order)

    monkeypatch.setattr(local_search, "best_nearby_plan", record)
    search = LocalSearch(Instance.of(figure_4()))
    for plans in (search.begin(Budget()), *(search.go_on(Budget()) for _ in range(5))):
        assert list(plans)
    assert len(orders) == len(set(orders)) >= 1


def test_steps_end_with_completions_and_arrivals() -> None:
    """A completion and an arrival at the same time end one step; however little is left of a job is done."""
    jobs = [
        ElasticJob(name="a", release=0, work=1, rates={1: 1.0}),
        ElasticJob(name="b", release=1, work=1, rates={1: 1.0}),
        ElasticJob(name="c", release=1.99999, work=1, rates={1: 1.0}),
    ]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))
    plan = list_schedule(instance, Priorities((0, 2, 1), instance.modes))

    assert [step.duration for step in plan.steps] == pytest.approx([1, 0.99999, 1, 0.00001])
    assert plan.completions == pytest.approx((1, 3, 2.99999), abs=1e-9)


def test_the_search_goes_on_from_the_best() -> None:
    """Taken up again, a search finds a better plan of twelve jobs than from its starts."""
    instance = Instance.of(elastic_jobs(jobs=12, gpus=8, load=1.5, seed=11))
    search = LocalSearch(instance)
    first = min(plan.total for plan in search.begin(Budget()))
    further = [plan.total for _ in range(5) for plan in search.go_on(Budget())]

    assert min(further) < first * (1 - 1e-6)


def test_the_search_ends_where_the_time_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is up in the middle of a descent, its schedule is the last one after the twelve starts."""
    asked = count()
    monkeypatch.setattr(Budget, "passed", property(lambda _: next(asked) >= 20))

    assert len(list(good_plans(Instance.of(figure_4()), Budget()))) == 12 + 1


def test_a_search_that_has_not_begun_does_not_go_on() -> None:
    """Without a first search there is nothing to go on from."""
    assert list(LocalSearch(Instance.of(figure_4())).go_on(Budget())) == []


def test_a_busy_cluster_is_not_wasted() -> None:
    """Of 200 jobs the first list schedule, on efficient counts only, is twice as good as on all counts."""
    instance = Instance.of(elastic_jobs(jobs=200, gpus=16, load=1.5, seed=1))
    totals = [plan.total for plan in islice(LocalSearch(instance).begin(Budget()), 10)]

    assert 2 * instance.mean_jct(totals[0]) < instance.mean_jct(totals[9])


def _best(instance: Instance) -> OrderPlan | None:
    plans = [plan for plan in good_plans(instance, Budget()) if instance.keeps_deadlines(plan.completions)]
    return min(plans, key=lambda plan: plan.total, default=None)
