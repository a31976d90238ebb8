"""Trainings: the cost to go is a lower bound, close to the least cost, with the right slopes."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from gsopt.core.numbers.compiled import plain
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.epochs import EpochTimes
from gsopt.schedule.bounds.prices.cost_to_go import cost_to_go, spread_usage
from gsopt.schedule.bounds.prices.demand import Demand, types_of
from gsopt.schedule.bounds.prices.trainings import Parts, Trainings
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle

Array = np.ndarray[Any, Any]

COUNTS = np.array([1, 2, 4])

#: One row of prices for all ways to run.
ALIKE = np.zeros(3, dtype=np.int64)


def _draw_times(random: Random, types: tuple[str, ...] = ()) -> EpochTimes:
    """Draw epochs of which the later ones gain more by further GPUs, which may be of several types."""
    powers = sorted(random.uniform(0, 1) for _ in range(random.randint(1, 3)))
    counts = np.tile(COUNTS, max(len(types), 1))
    seconds = [[random.uniform(2, 9) / count**power for count in counts.tolist()] for power in powers]
    return EpochTimes(counts, np.array(seconds), 0.0, tuple(each for each in types for _ in COUNTS))


def _draw_prices(random: Random, rows: int = 1) -> tuple[Array, Array]:
    """Draw edges of cells, and prices in them, in so many rows."""
    edges = np.cumsum([0.0, *(random.uniform(0.5, 8) for _ in range(random.randint(1, 6)))])
    prices = [[random.choice([0.0, 0.1, random.uniform(0, 2)]) for _ in edges[1:]] for _ in range(rows)]
    return edges, np.array(prices)


def _trainings(times: EpochTimes, releases: list[float]) -> tuple[Demand, Trainings]:
    menu = [(1, 1.0), (2, 1.5), (4, 2.0)]
    first, *others = list(dict.fromkeys(times.types)) or [""]
    jobs = [
        Job(
            name=str(number),
            release_date=date,
            duration=10,
            gpus=1,
            menu=menu,
            gpu_type=first,
            modes=[Mode(name=f"on {gpu_type}", menu=menu, gpu_type=gpu_type) for gpu_type in others],
        )
        for number, date in enumerate(releases)
    ]
    machines = [Machine(name=f"machine {n}", gpus=4, gpu_type=name) for n, name in enumerate([first, *others])]
    scenario = Scenario(workload=bundle(jobs), cluster=Cluster(racks=[Rack(name="r", machines=machines)]))
    types = types_of(scenario, [times])
    demand = Demand.of(scenario, types=types)
    return demand, Trainings(demand, scenario, {job.name: times for job in jobs}, types)


def _row(times: EpochTimes, column: int) -> int:
    """Return the row of prices of a column: the only one, or after that of the cluster that of its type."""
    return 1 + sorted(set(times.types)).index(times.types[column]) if times.types else 0


KINDS: list[tuple[str, ...]] = [(), ("x", "y"), ("x", "y", "z")]


def _least_cost(times: EpochTimes, edges: Array, prices: Array, release: float, step: float) -> float:
    """Return the cost of the best schedule that changes its GPUs at multiples of a step only.

    From the future backwards over positions in the course, with interpolation between them: wrong by little.
    """
    epochs = len(times.seconds)
    grid = np.linspace(0, epochs, 400 * epochs + 1)
    epoch = np.minimum(grid.astype(int), epochs - 1)
    fastest = times.seconds.min(axis=1)
    cost = np.array(
        [fastest[k + 1 :].sum() + (k + 1 - at) * fastest[k] for k, at in zip(epoch, grid, strict=True)]
    )
    ends = np.arange(release, edges[-1], step)
    for begin in ends[::-1]:
        end = min(begin + step, edges[-1])
        best = np.interp(grid, grid, cost) + (end - begin)
        points = np.unique(np.concatenate([[begin, end], edges[(edges > begin) & (edges < end)]]))
        places = np.searchsorted(edges, points[:-1], side="right") - 1
        for column, count in enumerate(times.counts.tolist()):
            price = float(np.diff(points) @ prices[_row(times, column), places])
            reached, took = _advance(grid, times.seconds[:, column], end - begin)
            here = np.interp(reached, grid, cost) + took + price * count * took / (end - begin)
            best = np.minimum(best, here)
        best[-1] = 0.0
        cost = best
    return float(cost[0])


def _advance(grid: Array, seconds: Array, span: float) -> tuple[Array, Array]:
    """Return how far a job gets in a span from anywhere in the course, and how long it runs in it."""
    ends = np.concatenate([[0.0], np.cumsum(seconds)])
    whole = np.arange(len(ends))
    at = np.interp(grid, whole, ends)
    reached = np.minimum(at + span, ends[-1])
    return np.interp(reached, ends, whole), reached - at


@pytest.mark.parametrize("types", KINDS)
@pytest.mark.parametrize("seed", range(cases(100)))
def test_cost_to_go_is_just_below_the_least_cost(seed: int, types: tuple[str, ...]) -> None:
    """It is no more than the best of many schedules costs, and on a fine grid little less."""
    random = Random(seed)
    times, (edges, prices) = _draw_times(random, types), _draw_prices(random, 1 + len(types))
    releases = sorted([0.0, random.uniform(0, edges[-1]), edges[-1] + 5])
    demand, trainings = _trainings(times, releases)
    unit = float(demand.unit)
    coarse, fine = (trainings.evaluate(edges / unit, prices, fine=fine) for fine in (False, True))
    for number, release in enumerate(releases):
        least = _least_cost(times, edges, prices, release, step=0.1)
        found = [float(each.values[number]) * unit for each in (coarse, fine)]
        assert max(found) <= least * (1 + 1e-4)
        assert found[1] == pytest.approx(least, rel=0.05)
    assert fine.error * unit < 1e-9


def _random_schedule_cost(
    random: Random, times: EpochTimes, edges: Array, prices: Array, release: float
) -> float:
    """Return what a schedule costs that holds any GPUs, or none, for any times, and never wastes progress."""
    now, position, cost, epochs = release, 0.0, 0.0, len(times.seconds)
    while position < epochs - 1e-12:
        way = random.choice([None, *range(len(times.counts))])
        end = now + random.choice([random.uniform(0, 4), random.uniform(0, 20)])
        end = min([end, *edges[edges > now][:1].tolist()])
        if way is not None:
            cell = np.searchsorted(edges, now, side="right") - 1
            price = prices[_row(times, way), cell] if now < edges[-1] else 0.0
            seconds = float(times.seconds[int(position + 1e-12), way])
            end = min(end, now + (int(position + 1e-12) + 1 - position) * seconds)
            position += (end - now) / seconds
            cost += (end - now) * price * float(times.counts[way])
        now = end
    return cost + now - release


@pytest.mark.parametrize("types", KINDS)
@pytest.mark.parametrize("seed", range(cases(100)))
def test_no_schedule_costs_less(seed: int, types: tuple[str, ...]) -> None:
    """Whatever a job does at whatever prices costs at least its value, on any grid."""
    random = Random(seed)
    times, (edges, prices) = _draw_times(random, types), _draw_prices(random, 1 + len(types))
    release = random.uniform(0, edges[-1])
    demand, trainings = _trainings(times, [0.0, release])
    unit = float(demand.unit)
    value = max(
        float(trainings.evaluate(edges / unit, prices, fine=fine).values[1]) * unit for fine in (False, True)
    )
    for _ in range(300):
        assert value <= _random_schedule_cost(random, times, edges, prices, release) * (1 + 1e-9)


@pytest.mark.parametrize("types", KINDS)
@pytest.mark.parametrize("seed", range(cases(100)))
def test_usage_is_the_slope_by_the_prices(seed: int, types: tuple[str, ...]) -> None:
    """The usage in a cell is what the values gain by its price, between the slopes on both sides of a kink."""
    random = Random(seed)
    times, (edges, prices) = _draw_times(random, types), _draw_prices(random, 1 + len(types))
    prices = np.maximum(prices, 0.05)  # at 0 only the slope upwards counts, and steps may change
    demand, trainings = _trainings(times, [0.0, random.uniform(0, edges[-1])])
    edges = edges / float(demand.unit)
    found = trainings.evaluate(edges, prices)
    small = 1e-6
    for cell in np.ndindex(prices.shape):
        slopes = []
        for change in (small, -small):
            moved = prices.copy()
            moved[cell] += change
            slopes.append((trainings.evaluate(edges, moved).values - found.values).sum() / change)
        error = 1e-4 * edges[-1]
        assert min(slopes) - error <= found.usage[cell] <= max(slopes) + error


def test_an_epoch_alone_costs_what_its_ways_say() -> None:
    """At one price a training run costs its seconds, each with the price of its GPUs; later they are free."""
    times = EpochTimes(COUNTS, np.array([[4.0, 3.0, 2.5]]), 0.0)
    demand, trainings = _trainings(times, [0.0, 100.0])
    unit = float(demand.unit)
    found = trainings.evaluate(np.array([0.0, 50.0]) / unit, np.array([[1.0]]))
    assert (found.values * unit).tolist() == pytest.approx([8.0, 2.5])  # 4 s and 4 GPU-seconds
    assert found.usage[0, 0] * unit == pytest.approx(4.0)
    assert found.slopes.tolist() == pytest.approx([0.8, 0.25])  # of 10 s


def test_weights_and_kinds_are_those_of_the_demand() -> None:
    """Twice the weight at twice the price costs twice as much, and each kind pays its own prices."""
    times = EpochTimes(COUNTS, np.array([[4.0, 3.0, 2.5], [9.0, 3.0, 2.5]]), 0.0)
    jobs = [Job(name=str(number), release_date=0, duration=10, gpus=1) for number in range(2)]
    jobs = [job.model_copy(update={"menu": ((1, 1.0), (2, 1.5), (4, 2.0))}) for job in jobs]
    scenario = Scenario(workload=bundle(jobs), cluster=Cluster.plain(4))
    demand = replace(Demand.of(scenario, [1.0, 2.0]), kind=np.array([0, 1], dtype=np.int64))
    trainings = Trainings(demand, scenario, {job.name: times for job in jobs})
    edges = np.array([0.0, 7.0, 30.0])
    found = trainings.evaluate(edges, np.array([[0.3, 0.1], [0.6, 0.2]]))
    assert found.values[1] == pytest.approx(2 * found.values[0])
    assert found.usage[1] == pytest.approx(found.usage[0])


def test_kernels_do_the_same_uncompiled() -> None:
    """Compiled or not, cost and usage are the same."""
    random = Random(1)
    times, (edges, prices) = _draw_times(random), _draw_prices(random)
    parts = Parts.of(times.seconds, times.weights, ALIKE, COUNTS.astype(float), 5)
    results = []
    for forwards, backwards in ((cost_to_go, spread_usage), (plain(cost_to_go), plain(spread_usage))):
        rows, cell, usage = np.zeros(200), np.zeros(200, dtype=np.int64), np.zeros(prices.shape)
        cost = np.zeros((200, 6))
        ways = 1.0, parts.first, parts.kinds, parts.gpus, parts.rates
        steps, _ = forwards(edges, prices, *ways, 150, rows, cell, cost)
        share = np.zeros((steps + 1, 6))
        share[steps, 0] = 1.0
        backwards(steps, prices, *ways, rows, cell, cost, share, usage)
        results.append([steps, *cost[: steps + 1].ravel(), *usage[0]])
    assert results[0] == pytest.approx(results[1])


def test_parts_are_no_slower_than_their_epochs() -> None:
    """In a part of several epochs no way is slower than in each of them; with one epoch all are as fast."""
    seconds = np.array([[4.0, 3.0, 2.5], [9.0, 3.0, 2.5]])
    times = EpochTimes(COUNTS, seconds, 0.0)
    one = Parts.of(seconds, times.weights, ALIKE, COUNTS.astype(float), 1)
    two = Parts.of(seconds, times.weights, ALIKE, COUNTS.astype(float), 2)
    assert (len(one), len(two)) == (1, 2)
    whole = dict(zip(one.gpus.tolist(), one.rates.tolist(), strict=True))
    assert all(1 / whole[count] <= total for count, total in zip([1.0, 2.0], seconds.sum(axis=0), strict=False))
    assert two.rates[: two.first[1]].tolist() == pytest.approx([1 / 4, 1 / 3, 1 / 2.5])
