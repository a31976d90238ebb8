"""Orders of events: the best plan of each, and searches over them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import count, islice, permutations, product
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling import event_orders, local_search, smallest_fairness
from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import LocalSearch, Priorities, good_plans, list_schedule
from formulations.scheduling.order import (
    OrderPlan,
    best_nearby_plan,
    best_plan,
    event_order,
    least_delay,
    refuted,
)
from formulations.scheduling.timetable import TimetableStep, replay, steps_of, steps_of_pieces
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from gsopt.schedule.bounds import lower_bound, mean_jct
from gsopt.schedule.judge import judge
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import figure_4, packing, rigid, tiny, wandering
from tests.unwrap import unwrap

order_module = import_module("formulations.scheduling.order")


def test_events_are_ordered_by_time() -> None:
    """Arrivals after the first stand as -1, before completions at the same time and after none of their own."""
    instance = Instance.of(rigid((0, 1), (2, 1), (2, 1), (5, 1)))
    assert event_order(instance, [2.0, 9.0, 6.0, 1.0]) == (-1, 0, -1, 3, 2, 1)


@pytest.mark.parametrize("fair", [False, True])
def test_the_best_order_has_the_optimum(fair: bool) -> None:
    """Over all orders of completions and arrivals, the best plan is the optimum of the enumerated program."""
    checked = 0
    for seed in range(cases(24)):
        problem = tiny(seed, jobs=(2, 3), fair=fair)
        instance = Instance.of(problem)
        plans = [best_plan(instance, order) for order in _orders(instance)]
        best = min((plan.total for plan in plans if plan is not None), default=None)
        oracle = event_orders(problem)
        assert (best is None) == (oracle.objective is None), problem.name
        if best is not None:
            assert instance.mean_jct(best) == pytest.approx(oracle.objective, rel=1e-7), problem.name
            checked += 1
    assert checked >= cases(10)


def _orders(instance: Instance) -> list[tuple[int, ...]]:
    later = len(instance.arrivals) - 1
    events = [*range(len(instance)), *[-1] * later]
    orders = set(permutations(events))
    return [order for order in orders if _possible(instance, order)]


def _possible(instance: Instance, order: tuple[int, ...]) -> bool:
    epoch = 0
    for event in order:
        if event < 0:
            epoch += 1
        elif instance.release[event] > instance.arrivals[epoch]:
            return False
    return True


def test_a_plan_is_no_worse_than_any_schedule_of_its_order() -> None:
    """Whatever a schedule does, the best plan for its order of events is no worse, and can be judged."""
    for seed in range(cases(30)):
        problem = tiny(seed, jobs=(3, 4, 6))
        instance = Instance.of(problem)
        steps, completions = wandering(instance, Random(seed))
        known = OrderPlan(tuple(steps), tuple(completions))
        plan = unwrap(
            best_plan(instance, event_order(instance, completions), known=[known] if seed % 2 else [])
        )
        assert plan.total <= known.total * (1 + 1e-9)
        judged = problem.objective(replay(instance, plan.steps).solution)
        assert judged <= instance.mean_jct(plan.total) * (1 + 1e-7)
        assert problem.violations(replay(instance, plan.steps).solution) == []


def test_coinciding_events_are_exchanged() -> None:
    """From a poor order the exchanges lead to a plan no worse, often a better one, never past the optimum."""
    better = 0
    for seed in range(cases(40)):
        problem = tiny(seed, jobs=(3, 4))
        instance = Instance.of(problem)
        _, completions = wandering(instance, Random(seed))
        order = event_order(instance, completions)
        plain, nearby = best_plan(instance, order), best_nearby_plan(instance, order)
        oracle = unwrap(event_orders(problem).objective)
        assert plain is not None
        assert nearby is not None
        assert float(oracle) * (1 - 1e-7) <= instance.mean_jct(nearby.total) <= instance.mean_jct(plain.total)
        better += nearby.total < plain.total * (1 - 1e-6)
    assert better >= cases(10)


def test_configurations_are_whole() -> None:
    """A job on both GPUs and one on either cannot overlap, though their area would fit."""
    instance = Instance.of(packing())
    plan = unwrap(best_plan(instance, [0, 1]))
    assert plan.completions == (1.0, 3.0)


def test_without_time_there_is_no_plan() -> None:
    """A budget that has passed leaves nothing."""
    assert best_plan(Instance.of(packing()), [0, 1], budget=Budget(time_limit=0.0)) is None


def test_no_dual_values_refute_what_there_is() -> None:
    """Deadlines that a schedule keeps are refuted by no dual values; tighter ones by those of the program."""
    refuted_ones = 0
    for seed in range(30):
        random, instance = Random(seed), Instance.of(tiny(seed, jobs=(2, 3)))
        jobs = range(len(instance))
        plan = unwrap(best_plan(instance, event_order(instance, wandering(instance, random)[1])))
        kept = replace(instance, deadline=tuple(time * (1 + 1e-12) for time in plan.completions))
        program = order_module._Program(  # noqa: SLF001 - its dual values are to be wrong
            kept, event_order(kept, kept.deadline), Budget(), delayed=True
        )
        program.solve(())
        assert not program.refutes(), seed
        solved = program.duals
        for scale in (1e-9, 1e-3, 0.1, 1.0, 10.0):
            for sign in (-1.0, 1.0):
                program.duals = solved + scale * np.array([random.gauss(0, 1) for _ in solved])
                program.duals *= [1.0 + sign * 0.5 * (row < len(kept)) for row in range(len(solved))]
                assert not program.refutes(), (seed, scale)
        spans = [(instance.earliest(job), plan.completions[job]) for job in jobs]
        refuted_ones += refuted(
            replace(instance, deadline=tuple(low + 0.3 * (high - low) for low, high in spans))
        )
    assert refuted_ones >= 10


def test_the_least_delay_is_that_of_the_lateness_rule() -> None:
    """On one GPU without later releases the least delay is the largest lateness by earliest due date."""
    random = Random(1)
    for _ in range(20):
        works = [random.randint(1, 9) for _ in range(4)]
        due = [float(random.randint(1, 12)) for _ in works]
        instance = replace(Instance.of(rigid(*((0, work) for work in works))), deadline=tuple(due))
        clock, late = 0.0, 0.0
        for job in sorted(range(4), key=due.__getitem__):
            clock += works[job]
            late = max(late, clock - due[job])
        found = unwrap(least_delay(instance, event_order(instance, due)))
        assert found[0] == pytest.approx(late, abs=1e-7)


#: The module; its name in the package is the method's.
MODULE = import_module("formulations.scheduling.event_orders")


@pytest.mark.parametrize(("releases", "orders"), [((0, 0, 0), 6), ((0, 0, 1), 12), ((0, 1, 2), 15)])
def test_every_order_is_tried(releases: tuple[float, ...], orders: int) -> None:
    """There are n! orders of jobs released together, and (2 n - 1)!! of jobs released one by one."""
    problem = rigid(*((time, 5) for time in releases), gpus=2)
    assert event_orders(problem).message == f"{orders} orders of events"


@settings(deadline=None, max_examples=cases(60))
@given(st.integers(0, 10**6))
def test_no_schedule_is_better_and_no_bound_is_higher(seed: int) -> None:
    """The optimum is no worse than schedules at random, and no better than the bounds for whole traces."""
    problem = tiny(seed)
    instance = Instance.of(problem)
    result = event_orders(problem)
    assert result.objective is not None
    for attempt in range(20):
        _, completions = wandering(instance, Random(attempt))
        assert result.objective <= instance.mean_jct(completions) * (1 + 1e-9)
    bound = mean_jct(lower_bound(problem.workload, problem.gpus), problem.workload)
    assert bound <= result.objective * (1 + 1e-9)


def test_the_bound_is_the_least_of_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no order has a plan, what is proven is what the cheapest one costs at least."""
    bounds = iter([9.0, 7.0, 8.0, 12.0, 7.5, 11.0])
    monkeypatch.setattr(MODULE, "_solve", lambda *_: ([], next(bounds)))
    result = event_orders(rigid(*[(0, 2)] * 3, gpus=3))
    assert result.bound == pytest.approx(7 / 3)


def test_no_dual_values_prove_more_than_an_order_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the solver says of its prices, the bound of an order is at most what its best plan costs."""
    checked, solve = 0, scipy.optimize.linprog
    for seed in range(12):
        instance, random = Instance.of(tiny(seed, jobs=(2, 3), fair=seed % 2 == 0)), np.random.default_rng(seed)
        ways = list(MODULE._configurations(instance))  # noqa: SLF001 - to be asked of one order at a time
        for order in MODULE._orders(instance):  # noqa: SLF001 - likewise
            monkeypatch.setattr(scipy.optimize, "linprog", solve)
            steps, _ = MODULE._solve(instance, ways, order)  # noqa: SLF001 - likewise
            monkeypatch.setattr(scipy.optimize, "linprog", partial(_lying, solve, random))
            _, bound = MODULE._solve(instance, ways, order)  # noqa: SLF001 - likewise
            if steps:
                assert bound <= sum(replay(instance, steps).completions) * (1 + 1e-12), seed
                checked += 1
    assert checked > 20


def _lying(solve: Callable[..., Any], random: np.random.Generator, *given: Any, **options: Any) -> Any:
    """Solve, and change the prices of all rows."""
    found = solve(*given, **options)
    for rows in (found.eqlin, found.ineqlin):
        rows.marginals = rows.marginals + random.normal(scale=0.3, size=rows.marginals.size)
    return found


def test_deadlines_that_no_schedule_keeps() -> None:
    """Two jobs that cannot run at the same time are not both complete when their fair shares are."""
    job = ElasticJob(name="a", release=0, work=2, rates={2: 1.0})
    jobs = [job, job.model_copy(update={"name": "b"})]
    statuses = [event_orders(Scheduling(gpus=3, jobs=jobs, fairness=each)).status for each in (1, 2)]
    assert statuses == [Status.INFEASIBLE, Status.OPTIMAL]


def test_what_is_too_much_to_enumerate_is_refused() -> None:
    """Six jobs are refused, and so are five with thousands of configurations."""
    job = ElasticJob(name="a", release=0, work=2, rates={count: float(count) for count in (1, 2, 3, 4, 5)})
    jobs = [job.model_copy(update={"name": name}) for name in "abcdef"]

    with pytest.raises(Unsupported, match="event_orders: 6 jobs: at most 5"):
        event_orders(Scheduling(gpus=2, jobs=jobs))
    with pytest.raises(Unsupported, match=r"event_orders: 7,776 configurations: at most 2,000"):
        event_orders(Scheduling(gpus=25, jobs=jobs[:5]))


def _alike(seed: int) -> Scheduling:
    """Draw three jobs, most of them with rates in proportion; for every other seed also fairness."""
    random = Random(seed)
    counts = random.choice(((1, 2), (1, 4), (2, 4), (1, 2, 4)))
    exponent = random.choice((1.0, 0.6))
    jobs = []
    for index in range(3):
        factor, works = random.choice((1, 2, 5)), random.randint(1, 4)
        menu = counts if random.random() < 0.8 else counts[:1]
        jobs.append(
            ElasticJob(
                name=f"j{index}",
                release=random.choice((0, 0, 1)),
                work=factor * works,
                rates={count: factor * round(count**exponent, 3) for count in menu},
            )
        )
    fairness = random.choice((0.5, 1.0, 2.0)) if seed % 2 else None
    return Scheduling(name=f"alike-{seed}", gpus=4, jobs=jobs, fairness=fairness)


def _totals(instance: Instance) -> Iterator[tuple[tuple[int, ...], float]]:
    """Return the best sum of completion times of every order of completions among all arrivals."""
    arrivals = [-1] * (len(instance.arrivals) - 1)
    for order in sorted(set(permutations([*arrivals, *range(len(instance))]))):
        plan = best_plan(instance, order)
        if plan is not None:
            yield order, plan.total


def test_some_best_schedule_has_all_the_orders() -> None:
    """Of the orders of events, those in which all pairs complete as given reach the optimum of all of them."""
    found = fair = 0
    for seed in range(cases(30)):
        problem = _alike(seed)
        instance = Instance.of(problem)
        pairs = exchange_orders(instance)
        every = dict(_totals(instance)) if pairs else {}
        if not every:
            continue
        kept = [
            total for order, total in every.items() if all(order.index(a) < order.index(b) for a, b in pairs)
        ]
        assert min(kept) == pytest.approx(min(every.values()), rel=1e-7), problem.name
        found += len(pairs)
        fair += problem.fairness is not None
    assert found >= cases(20)
    assert fair >= cases(6)


def _job(name: str, *, release: float = 0, work: float = 2, **rates: float) -> ElasticJob:
    menu = {int(count.removeprefix("on_")): rate for count, rate in rates.items()} or {1: 1.0, 2: 1.5}
    return ElasticJob(name=name, release=release, work=work, rates=menu)


BASE = _job("base")

PAIRS = [
    ("a copy", _job("other"), True, False),
    ("less work", _job("other", work=1.9), False, True),
    ("more work", _job("other", work=2.1), True, False),
    ("later", _job("other", release=0.5), True, False),
    ("later but shorter", _job("other", release=0.5, work=1), False, False),
    ("thrice as fast, as long", _job("other", work=6, on_1=3.0, on_2=4.5), True, False),
    ("thrice as fast, shorter", _job("other", work=5.9, on_1=3.0, on_2=4.5), False, True),
    ("thrice as fast, longer", _job("other", work=6.1, on_1=3.0, on_2=4.5), True, False),
    ("no such speed-up", _job("other", work=1, on_1=1.0, on_2=1.4), False, False),
    ("no such speed-up, longer", _job("other", work=3, on_1=1.0, on_2=1.4), False, False),
    ("more speed-up", _job("other", work=1, on_1=1.0, on_2=1.6), False, False),
    ("more speed-up, longer", _job("other", work=3, on_1=1.0, on_2=1.6), False, False),
    ("one count more", _job("other", work=1, on_1=1.0, on_2=1.5, on_3=1.6), False, False),
    ("one count less", _job("other", work=1, on_1=1.0), False, False),
    ("nearly that speed-up", _job("other", on_1=1.0, on_2=1.5000000001), False, False),
    ("another count", _job("other", work=1, on_1=1.0, on_3=1.5), False, False),
]


@pytest.mark.parametrize(("other", "first", "second"), [each[1:] for each in PAIRS], ids=[p[0] for p in PAIRS])
def test_one_precedes_the_other(other: ElasticJob, first: bool, second: bool) -> None:
    """With rates in proportion, the one released no later and with no more work is first, else neither."""
    instance = Instance.of(Scheduling(gpus=3, jobs=[BASE, other]))
    expected = {(0, 1): first, (1, 0): second}
    assert exchange_orders(instance) == {pair for pair, holds in expected.items() if holds}


def test_decimals_are_taken_as_they_are_written() -> None:
    """Rates of 0.1 and 0.7, and 0.3 and 2.1, are in proportion, though their doubles are not."""
    one, other = _job("one", work=0.1, on_1=0.1, on_2=0.7), _job("other", work=0.3, on_1=0.3, on_2=2.1)
    assert 0.1 * 2.1 != 0.7 * 0.3
    assert exchange_orders(Instance.of(Scheduling(gpus=2, jobs=[one, other]))) == {(0, 1)}


def test_a_later_deadline_keeps_a_job_from_being_first() -> None:
    """The shorter job that has to wait longer for its fair share, and so has more time, is not put first."""
    jobs = [
        ElasticJob(name="long", release=0, work=4, rates={1: 1.0}),
        ElasticJob(name="short", release=0, work=3, rates={1: 1.0}, gpus=1),
    ]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs, fairness=1))
    assert instance.deadline[1] < instance.deadline[0]
    assert exchange_orders(instance) == {(1, 0)}

    swapped = replace(instance, deadline=(instance.deadline[1], instance.deadline[0]))
    assert exchange_orders(swapped) == frozenset()


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
        plan, best = unwrap(_best(Instance.of(problem))), unwrap(event_orders(problem).objective)
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
    instance = Instance.of(rigid((0, 2), (0, 1), (0, 4)))
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
    plans = list(good_plans(Instance.of(rigid(*[(0, 1)] * 5)), Budget()))
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
    instance = Instance.of(rigid((0, 1), (1, 1), (1.99999, 1)))
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


def _completions(problem: Scheduling, solution: SchedulingSolution) -> tuple[float, ...]:
    verdict = judge(solution.schedule, problem.scenario)
    assert not verdict.violations
    return verdict.completion_times


@settings(deadline=None, max_examples=cases(200))
@given(st.integers(0, 10**6))
def test_noise_moves_completions_by_no_more_than_itself(seed: int) -> None:
    """A plan whose durations are off by 1e-9 is replayed legally, with completions within 1e-7 of its own."""
    random = Random(seed)
    problem = tiny(seed)
    instance = Instance.of(problem)
    steps, planned = wandering(instance, random)
    noisy = [
        noise
        for duration, gpus in steps
        for noise in (
            TimetableStep(max(duration + random.uniform(-1e-9, 1e-9), 0.0), gpus),
            TimetableStep(random.choice((0.0, 1e-13)), {}),
        )
    ]

    for given_steps, error in ((steps, 1e-9), (noisy, 1e-7)):
        timetable = replay(instance, given_steps)
        judged = [time - instance.origin for time in _completions(problem, timetable.solution)]
        assert timetable.completions == pytest.approx(planned, abs=error)
        assert judged == pytest.approx(planned, abs=error)


def _two() -> Scheduling:
    rates = {1: 1.0, 2: 2.0}
    jobs = (
        ElasticJob(name="a", release=0, work=4, rates=rates),
        ElasticJob(name="b", release=2, work=1, rates=rates),
    )
    return Scheduling(gpus=2, jobs=jobs)


def test_pieces_alike_are_one_run() -> None:
    """Steps on the same GPUs one after the other are one run, also where noise lies between them."""
    steps = [
        TimetableStep(1, {0: 1}),
        TimetableStep(1e-12, {0: 2}),
        TimetableStep(1, {0: 1}),
        TimetableStep(1, {0: 1, 1: 1}),
        TimetableStep(0.5, {0: 2}),
    ]

    runs = replay(Instance.of(_two()), steps).solution.runs

    assert [(run.job, run.start, run.end, run.gpus) for run in runs] == [
        ("a", 0, 3, 1),
        ("a", 3, 3.5, 2),
        ("b", 2, 3, 1),
    ]


def test_a_step_waits_for_the_release_of_its_jobs() -> None:
    """A step that rounding puts before a release date begins there."""
    steps = [TimetableStep(2 - 1e-10, {}), TimetableStep(1, {1: 1}), TimetableStep(2, {0: 2})]
    assert _completions(_two(), replay(Instance.of(_two()), steps).solution) == (5, 3)


def test_a_job_stops_when_it_is_done() -> None:
    """Of a step longer than a job needs, the job takes no more than it needs."""
    steps = [TimetableStep(7, {0: 1}), TimetableStep(1, {1: 1})]
    assert _completions(_two(), replay(Instance.of(_two()), steps).solution) == (4, 8)


def test_a_job_without_a_step_does_not_complete() -> None:
    """What the plan leaves out is left to the judge to report."""
    timetable = replay(Instance.of(_two()), [TimetableStep(2, {0: 2})])
    assert timetable.completions == (2, inf)
    assert {run.job for run in timetable.solution.runs} == {"a"}


def test_the_problem_has_a_clock_of_its_own() -> None:
    """Of jobs released at 1.7e9 s the timetable counts from there, and the solution from 1970."""
    timetable = replay(Instance.of(rigid((1.7e9, 3))), [TimetableStep(3, {0: 1})])
    assert timetable.completions == (3,)
    assert [(run.start, run.end) for run in timetable.solution.runs] == [(1.7e9, 1.7e9 + 3)]


def test_pieces_shorter_than_a_tick_are_left_to_the_clock() -> None:
    """At 1.7e9 s a job of 1e-9 s takes the one tick that the clock can tell, and the judge accepts it."""
    problem = rigid((1.7e9, 1e-9), (1.7e9, 1.0))
    solution = replay(Instance.of(problem), [TimetableStep(1e-9, {0: 1}), TimetableStep(1.0, {1: 1})]).solution
    assert problem.violations(solution) == []
    assert len(solution.runs) == 2
    assert problem.objective(solution) == pytest.approx(0.5, abs=1e-6)


@settings(deadline=None, max_examples=cases(100))
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.7e9]))
def test_a_schedule_and_its_steps_are_the_same(seed: int, later: float) -> None:
    """Steps taken from a solution are replayed as it was, at any date, up to the ticks of its clock."""
    problem = tiny(seed)
    jobs = [job.model_copy(update={"release": job.release + later}) for job in problem.jobs]
    instance = Instance.of(problem.model_copy(update={"jobs": tuple(jobs)}))
    steps, planned = wandering(instance, Random(seed))
    solution = replay(instance, steps).solution

    assert replay(instance, steps_of(instance, solution)).completions == pytest.approx(planned, abs=1e-5)


def test_gpus_that_are_of_no_use_are_given_back() -> None:
    """A run on more GPUs that are no faster is taken to be on fewer."""
    job = ElasticJob(name="a", release=0, work=2, rates={1: 1.0, 2: 1.0})
    run = Run(job="a", start=0, end=2, gpus=2)
    instance = Instance.of(Scheduling(gpus=2, jobs=[job]))
    assert steps_of(instance, SchedulingSolution(runs=[run])) == [TimetableStep(2, {0: 1})]


def test_pieces_and_steps_are_the_same_plan() -> None:
    """The steps of a timetable, replayed, give its completions again."""
    for seed in range(50):
        instance = Instance.of(tiny(seed))
        timetable = replay(instance, wandering(instance, Random(seed))[0])
        again = replay(instance, steps_of_pieces(timetable))
        assert again.completions == pytest.approx(timetable.completions, rel=1e-9)
