"""The best plan for one order of events, by generated configurations."""

from dataclasses import replace
from importlib import import_module
from itertools import permutations
from random import Random

import numpy as np
import pytest

from formulations.scheduling import event_orders
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import (
    OrderPlan,
    best_nearby_plan,
    best_plan,
    event_order,
    least_delay,
    refuted,
)
from formulations.scheduling.timetable import replay
from gsopt.core.budget import Budget
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.effort import cases
from tests.strategies.scheduling import packing, tiny, wandering

order_module = import_module("formulations.scheduling.order")


def test_events_are_ordered_by_time() -> None:
    """Arrivals after the first stand as -1, before completions at the same time and after none of their own."""
    releases = {"a": 0, "b": 2, "c": 2, "d": 5}
    jobs = [ElasticJob(name=name, release=date, work=1, rates={1: 1.0}) for name, date in releases.items()]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))

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
        plan = best_plan(instance, event_order(instance, completions), known=[known] if seed % 2 else [])
        assert plan is not None
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
        oracle = event_orders(problem).objective
        assert plain is not None
        assert nearby is not None
        assert oracle is not None
        assert float(oracle) * (1 - 1e-7) <= instance.mean_jct(nearby.total) <= instance.mean_jct(plain.total)
        better += nearby.total < plain.total * (1 - 1e-6)
    assert better >= cases(10)


def test_configurations_are_whole() -> None:
    """A job on both GPUs and one on either cannot overlap, though their area would fit."""
    instance = Instance.of(packing())

    plan = best_plan(instance, [0, 1])
    assert plan is not None
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
        plan = best_plan(instance, event_order(instance, wandering(instance, random)[1]))
        assert plan is not None
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
        jobs = [ElasticJob(name=str(i), release=0, work=work, rates={1: 1.0}) for i, work in enumerate(works)]
        due = [float(random.randint(1, 12)) for _ in works]
        instance = replace(Instance.of(Scheduling(gpus=1, jobs=jobs)), deadline=tuple(due))
        clock, late = 0.0, 0.0
        for job in sorted(range(4), key=due.__getitem__):
            clock += works[job]
            late = max(late, clock - due[job])
        found = least_delay(instance, event_order(instance, due))
        assert found is not None
        assert found[0] == pytest.approx(late, abs=1e-7)
