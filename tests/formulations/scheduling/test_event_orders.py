"""Every order of events."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from random import Random
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling import event_orders
from formulations.scheduling.instance import Instance
from formulations.scheduling.timetable import replay
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.schedule.bounds import lower_bound, mean_jct
from tests.effort import cases
from tests.strategies.scheduling import figure_4, packing, tiny, wandering

#: The module; its name in the package is the method's.
MODULE = import_module("formulations.scheduling.event_orders")


def test_area_is_not_enough_to_fit() -> None:
    """A job on both GPUs and one on either take 3 s, though their area fits in 2 s."""
    result = event_orders(packing())

    assert (result.status, result.objective) == (Status.OPTIMAL, (1 + 3) / 2)


def test_figure_4() -> None:
    """Completions at 3, 5.5 and 8 s, those of elastic fair queuing, are optimal in the paper's Figure 4."""
    result = event_orders(figure_4())

    assert result.objective == pytest.approx((3 + 8 + 5.5 - 2) / 3)


@pytest.mark.parametrize(("releases", "orders"), [((0, 0, 0), 6), ((0, 0, 1), 12), ((0, 1, 2), 15)])
def test_every_order_is_tried(releases: tuple[float, ...], orders: int) -> None:
    """There are n! orders of jobs released together, and (2 n - 1)!! of jobs released one by one."""
    jobs = [ElasticJob(name=str(i), release=time, work=5, rates={1: 1.0}) for i, time in enumerate(releases)]

    assert event_orders(Scheduling(gpus=2, jobs=jobs)).message == f"{orders} orders of events"


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
    jobs = [ElasticJob(name=name, release=0, work=2, rates={1: 1.0}) for name in "abc"]
    result = event_orders(Scheduling(gpus=3, jobs=jobs))

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
