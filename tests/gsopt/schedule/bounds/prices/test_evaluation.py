"""Both ways to evaluate prices give what the definition says, and no more once rounding is subtracted."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from gsopt.core.numbers.compiled import plain
from gsopt.core.numbers.grid import decimal
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices.ascent import prove
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.evaluation import evaluate
from tests.gsopt.schedule.bounds.prices.naive import cheapest

#: Seconds, and prices, in which cases are drawn.
MAGNITUDES = [(1.0, 1.0), (1e-6, 1e3), (1e6, 1e-9), (1e6, 1e6)]


def _draw(random: Random, seconds: float, *, elastic: bool) -> Scenario:
    jobs = []
    for number in range(random.randint(1, 6)):
        gpus = random.randint(1, 4)
        menu = [
            (count, random.choice([count**0.5, count / gpus, 1.5])) for count in range(1, 9) if count != gpus
        ]
        menu = [(gpus, 1.0), *random.sample(menu, random.randint(0, 4))]
        jobs.append(
            Job(
                name=str(number),
                release_date=seconds * random.choice([0.0, 1.0, random.uniform(0, 9)]),
                duration=seconds * random.choice([1.0, 3.0, random.uniform(0.1, 9)]),
                gpus=gpus,
                menu=menu if elastic else (),
            )
        )
    return Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(8))


def _draw_prices(random: Random, seconds: float, size: float) -> tuple[Array, Array]:
    edges = sorted({0.0, *(seconds * random.choice([1.0, 2.0, random.uniform(0, 30)]) for _ in range(7))})
    prices = [size * random.choice([0.0, 1.0, random.uniform(0, 2)]) for _ in edges[1:]]
    return np.array(edges), np.array([prices])


def _exactly(demand: Demand, jobs: Sequence[Job], edges: Array, prices: Array) -> list[Fraction]:
    origin = decimal(jobs[0].release_date)
    return [
        cheapest(
            job,
            Fraction(decimal(job.release_date) - origin),
            Fraction(weight),
            [Fraction(edge) * demand.unit for edge in edges.tolist()],
            [Fraction(price) for price in prices[0].tolist()],
        )
        / demand.unit
        for job, weight in zip(jobs, demand.weight.tolist(), strict=True)
    ]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize(("seconds", "size"), MAGNITUDES)
def test_jobs_cost_what_the_definition_says(
    monkeypatch: pytest.MonkeyPatch, seconds: float, size: float, *, elastic: bool, compiled: bool
) -> None:
    """Every job's value is the least cost over all cells, and the proven bound is not above the exact one."""
    from gsopt.schedule.bounds.prices import kernel

    monkeypatch.setattr(kernel, "evaluate_jobs", plain(kernel.evaluate_jobs))
    random = Random(f"{seconds} {size} {elastic}")
    for _ in range(12):
        scenario = _draw(random, seconds, elastic=elastic)
        jobs = scenario.workload.jobs
        demand = Demand.of(scenario, [random.choice([1.0, random.uniform(0.1, 3)]) for _ in jobs])
        edges, prices = _draw_prices(random, seconds / float(demand.unit), size)
        found = evaluate(demand, edges, prices, compiled=compiled)
        exact = _exactly(demand, jobs, edges, prices)
        near = 1e-9 * found.values + 1e-12 * found.sizes
        assert np.all(np.abs(found.values - [float(value) for value in exact]) <= near)
        rents = prices * 8 * np.diff(edges)
        rent = sum(
            (8 * Fraction(p) * Fraction(d) for p, d in zip(prices[0], np.diff(edges), strict=True)), Fraction(0)
        )
        proven = prove(found.values, found.sizes, rents, len(edges) * demand.most_steps)
        assert proven <= sum(exact) - rent
        assert proven >= float(sum(exact) - rent) - 1e-9 * float(sum(exact) + rent) - 1e-9 * sum(found.sizes)


@pytest.mark.parametrize("elastic", [True, False])
def test_usage_is_the_slope_of_the_cost(*, elastic: bool) -> None:
    """A little higher price of a cell raises what the jobs pay by what they hold there."""
    random = Random(7)
    for _ in range(10):
        demand = Demand.of(_draw(random, 1.0, elastic=elastic))
        edges = np.array([0.0, 1.7, 4.1, 9.3, 14.9, 40.0]) / float(demand.unit)
        prices = np.array([[random.uniform(0, 1) for _ in edges[1:]]])
        found = evaluate(demand, edges, prices, compiled=False)
        for cell in range(len(edges) - 1):
            higher = prices.copy()
            higher[0, cell] += 1e-7
            rise = evaluate(demand, edges, higher, compiled=False).values.sum() - found.values.sum()
            assert rise == pytest.approx(1e-7 * found.usage[0, cell], abs=1e-12 / float(demand.unit))


@pytest.mark.parametrize("elastic", [True, False])
def test_the_compiled_kernel_and_numpy_agree(*, elastic: bool) -> None:
    """Values, usage and slopes are the same but for rounding, where prices leave no choice."""
    random = Random(11)
    for _ in range(40):
        demand = Demand.of(_draw(random, 1.0, elastic=elastic))
        edges = np.unique([0.0, *(random.uniform(0, 30) for _ in range(9))]) / float(demand.unit)
        prices = np.array([[random.uniform(0, 1) for _ in edges[1:]]])
        first, second = (evaluate(demand, edges, prices, compiled=compiled) for compiled in (True, False))
        assert first.values == pytest.approx(second.values, rel=1e-12)
        assert first.usage == pytest.approx(second.usage, rel=1e-7, abs=1e-7 / float(demand.unit))
        assert first.slopes == pytest.approx(second.slopes, rel=1e-7)


def test_a_cost_by_hand() -> None:
    """Two seconds on two GPUs from 1 s on; a GPU-second costs 5 until 4 s, and then 1/4.

    Running at once costs 2 for the completion and 20 for the GPUs, waiting until 4 s costs 5 and 1.
    """
    job = Job(name="a", release_date=1, duration=2, gpus=2)
    early = Job(name="b", release_date=0, duration=1e-9, gpus=1)
    demand = Demand.of(Scenario(workload=Workload(jobs=[early, job]), cluster=Cluster.plain(2)))
    second = 1 / float(demand.unit)
    for compiled in (True, False):
        found = evaluate(demand, np.array([0.0, 4.0, 9.0]) * second, np.array([[5.0, 0.25]]), compiled=compiled)
        assert found.values[1] / second == pytest.approx(6.0)
        assert found.usage[0] / second == pytest.approx([1e-9, 4.0, 0.0])
        assert found.slopes[1] == pytest.approx(1.5)
