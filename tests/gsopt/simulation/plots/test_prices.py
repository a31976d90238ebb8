"""Prices over time."""

from typing import Any

import pytest

from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.simulation.plots import prices
from tests.gsopt.simulation.scenarios import bundle


def _drawn(bound: PriceBound) -> tuple[list[float], list[float]]:
    times, heights = list[Any](prices(bound).lines[0].get_data())
    return times.tolist(), heights.tolist()


def test_a_price_is_what_a_further_gpu_second_saves() -> None:
    """The curve has the prices of the cells, on the clock of the workload."""
    jobs = [Job(name=str(i), release_date=100, duration=3 + i, gpus=1) for i in range(12)]
    bound = price_bound(Scenario.of(bundle(jobs), 2), evaluations=60)
    times, heights = _drawn(bound)

    assert (times[0], times[-1]) == (100, 100 + bound.times[-1])
    assert heights[:-1] == pytest.approx(bound.prices)
    assert max(heights) > 1  # more than one job waits at first


def test_nothing_is_worth_anything_where_nobody_waits() -> None:
    """With a GPU for each job the curve lies on the axis."""
    jobs = [Job(name=str(i), release_date=0, duration=3, gpus=1) for i in range(2)]
    assert max(_drawn(price_bound(Scenario.of(bundle(jobs), 2), evaluations=20))[1]) == 0
