"""A second version of the bound by prices for adaptive jobs, from its definition and in fractions.

At any prices of GPU time, each job does its work as cheaply as it can. Every epoch counts by a weight, so that
the cheapest ways through the epochs cost alike. What all jobs pay, minus what all GPUs earn, is at most the sum
of completion times of any schedule, whatever the prices and the weights.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from gsopt.scenario.scenario import Scenario
from tests.gsopt.schedule.bounds.tiny import exact, machines_of, ways_of
from tests.gsopt.schedule.naive_training import Training


class Plain:
    """A job without epochs: the least time of its first progress, weighted work, and speeds by GPUs."""

    def __init__(self, begin: Fraction, work: Fraction, speeds: dict[int, Fraction]) -> None:
        self.begin, self.work, self.speeds = begin, work, speeds

    def cost(self, times: Sequence[Fraction], prices: Sequence[Fraction]) -> Fraction:
        """Return the least of completion time and payment; after the last time, GPUs cost nothing."""
        cells = [*pairwise(times), (times[-1], None)]
        costs = [
            cost
            for last, (low, high) in enumerate(cells)
            if high is None or high > self.begin
            if (cost := self._completing_in(last, cells, [*prices, Fraction(0)])) is not None
        ]
        return min(costs)

    def _completing_in(self, last: int, cells: Sequence[Any], prices: Sequence[Fraction]) -> Fraction | None:
        """Return the least cost of completing in a cell, in which a second of running delays by a second."""
        items: list[tuple[Fraction, Fraction, Fraction | None]] = []  # cost of a unit of work, speed, seconds
        for place, ((low, high), price) in enumerate(zip(cells[: last + 1], prices, strict=False)):
            length = None if high is None else high - max(low, self.begin)
            if length is None or length > 0:
                own = Fraction(place == last)
                points = [(speed, gpus * price + own) for gpus, speed in self.speeds.items()]
                items += [(slope, speed, length) for slope, speed in _hull(points)]
        left = self.work
        cost: Fraction = max(cells[last][0], self.begin)
        for slope, speed, length in sorted(items, key=lambda item: item[0]):
            done = left if length is None else min(left, speed * length)
            cost, left = cost + slope * done, left - done
            if not left:
                return cost
        return None


def _hull(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return slope and width of each step of the lower convex hull through the origin."""
    steps, at = [], (Fraction(0), Fraction(0))
    while ahead := [point for point in points if point[0] > at[0]]:
        slope, speed = min(((cost - at[1]) / (speed - at[0]), -speed) for speed, cost in ahead)
        then = (-speed, at[1] + slope * (-speed - at[0]))
        steps.append((slope, then[0] - at[0]))
        at = then
    return steps


def plain_jobs(
    scenario: Scenario, place: int, round_length: float | None, own_gpus: Sequence[Fraction]
) -> list[Plain]:
    """Return relaxations of a job, each with epochs weighed as if its own time cost that much of GPUs'.

    Times count from the clock's origin.
    """
    job = scenario.workload.jobs[place]
    application = scenario.applications[job.model]
    training = Training(application, scenario.agents, job.batch_size or 1)
    ways = ways_of(job, application, scenario.agents, machines_of(scenario))
    begin = exact(job.release_date) - Fraction(scenario.clock.origin)
    if round_length is not None:
        begin = -(-begin // exact(round_length)) * exact(round_length)
    begin += exact(scenario.overhead(job).start)
    epochs = range(application.epochs)
    rates = {
        gpus: [max(way.rates[e] for way in ways if way.gpus == gpus) for e in epochs]
        for gpus in sorted({way.gpus for way in ways})
    }
    works = [training.goal(e + 1) - training.goal(e) for e in epochs]
    if scenario.agents.whole_seconds:  # the last seconds of an epoch may be half a second, or a third, too few
        most = [max(rate[e] for rate in rates.values()) for e in epochs]
        works = [max(w * Fraction(2, 3), w - m / 2) for w, m in zip(works, most, strict=True)]
    found = []
    for own in own_gpus:
        weights = [min((gpus + own) / rate[e] for gpus, rate in rates.items()) for e in epochs]
        speeds = {gpus: max(c * r for c, r in zip(weights, rate, strict=True)) for gpus, rate in rates.items()}
        found.append(
            Plain(begin, sum((c * w for c, w in zip(weights, works, strict=True)), Fraction(0)), speeds)
        )
    return found


def dual_value(
    jobs: Sequence[Sequence[Plain]], gpus: int, times: Sequence[Fraction], prices: Sequence[Fraction]
) -> Fraction:
    """Return the bound on the sum of completion times at some prices, with the best relaxation of each job."""
    earned = sum(
        price * gpus * (high - low) for (low, high), price in zip(pairwise(times), prices, strict=True)
    )
    return sum((max(each.cost(times, prices) for each in own) for own in jobs), Fraction(0)) - earned
